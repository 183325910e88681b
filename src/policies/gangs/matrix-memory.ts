/** Memory of each processor under a limit: all jobs of the matrix keep theirs there, whether it is their turn or not. */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { MemoryRule } from "../../core/policy.ts";
import { RangeMax } from "../../structures/range-max.ts";

export class MatrixMemory {
  readonly limitKB: number;
  readonly #rule: MemoryRule;
  readonly #jobs: JobsView;
  readonly #inUse: RangeMax;
  /** First processor of the jobs that are there; the machine has forgotten a job that has ended. */
  readonly #first = new Map<JobIndex, number>();

  constructor(rule: MemoryRule, jobs: JobsView, processors: number) {
    this.limitKB = rule.limitKB;
    this.#rule = rule;
    this.#jobs = jobs;
    this.#inUse = new RangeMax(processors);
  }

  /** What the job counts as on each of its processors: whole KB, never more than the limit. */
  of(job: JobIndex): number {
    const toldKB = this.#jobs.memoryKB?.[job] ?? 0;
    return Math.min(Math.ceil(toldKB > 0 ? toldKB : this.#rule.unknownKB), this.limitKB);
  }

  /** Whether the job has memory from a processor on. */
  has(job: JobIndex, first: number): boolean {
    return this.#inUse.max(first, first + this.#jobs.size[job]) <= this.limitKB - this.of(job);
  }

  /** The job has been placed from a processor on. */
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
