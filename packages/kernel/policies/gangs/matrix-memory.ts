/**
 * Counts the memory in use on each processor, under a limit. All jobs in the matrix use memory, even while
 * another row runs.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { MemoryRule } from "../../core/policy.ts";
import { RangeMax } from "../../structures/range-max.ts";

export class MatrixMemory {
  readonly limitKB: number;
  readonly #rule: MemoryRule;
  readonly #jobs: JobsView;
  readonly #inUse: RangeMax;
  /** First processor of each job in the matrix. The machine no longer knows it when the job has ended. */
  readonly #first = new Map<JobIndex, number>();

  constructor(rule: MemoryRule, jobs: JobsView, processors: number) {
    this.limitKB = rule.limitKB;
    this.#rule = rule;
    this.#jobs = jobs;
    this.#inUse = new RangeMax(processors);
  }

  /**
   * The memory that the job counts as using on each of its processors: whole KB, never more than the limit.
   */
  of(job: JobIndex): number {
    const toldKB = this.#jobs.memoryKB?.[job] ?? 0;
    return Math.min(Math.ceil(toldKB > 0 ? toldKB : this.#rule.unknownKB), this.limitKB);
  }

  /** Whether there is memory for the job on the processors from `first` on. */
  has(job: JobIndex, first: number): boolean {
    return this.#inUse.max(first, first + this.#jobs.size[job]) <= this.limitKB - this.of(job);
  }

  /** The job has been placed on the processors from `first` on. */
  add(job: JobIndex, first: number): void {
    this.#first.set(job, first);
    this.#inUse.add(first, first + this.#jobs.size[job], this.of(job));
  }

  /** The job has ended. */
  remove(job: JobIndex): void {
    const first = this.#first.get(job) as number;
    this.#first.delete(job);
    this.#inUse.add(first, first + this.#jobs.size[job], -this.of(job));
  }
}
