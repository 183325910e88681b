/**
 * Enforces limits of a live machine in addition to its processors. Under time sharing, gangs wait for a row
 * and for memory in the admission queue in front of the policy. Under space sharing, memory is counted in
 * processors.
 */
import type { JobIndex } from "../../core/jobs.ts";
import type { GangLimits } from "../../core/policy.ts";

export class LiveLimits implements GangLimits {
  readonly maxRows: number;
  readonly #memoryBytes: number;
  readonly #memoryOf: (job: JobIndex) => number;
  /** Jobs with a process, in the matrix or stopped outside it. */
  readonly #holders = new Set<JobIndex>();
  #usedBytes = 0;

  constructor(maxRows: number, memoryBytes: number, memoryOf: (job: JobIndex) => number) {
    this.maxRows = maxRows;
    this.#memoryBytes = memoryBytes;
    this.#memoryOf = memoryOf;
  }

  fits(job: JobIndex): boolean {
    const bytes = this.#memoryOf(job);
    return bytes === 0 || this.#holders.has(job) || this.#usedBytes + bytes <= this.#memoryBytes;
  }

  /** Called when the job gets a process. */
  hold(job: JobIndex): void {
    if (this.#holders.has(job)) return;
    this.#holders.add(job);
    this.#usedBytes += this.#memoryOf(job);
  }

  release(job: JobIndex): void {
    if (this.#holders.delete(job)) this.#usedBytes -= this.#memoryOf(job);
  }
}

/**
 * Processors of a job under space sharing: at least the same share of the machine's processors as of its
 * memory. So no memory is promised twice, and a policy that counts processors implicitly counts memory.
 */
export function processorsWithMemory(
  tasks: number,
  memoryBytes: number,
  machine: { readonly processors: number; readonly memoryBytes: number },
): number {
  const share = Math.ceil((memoryBytes / machine.memoryBytes) * machine.processors);
  return Math.min(machine.processors, Math.max(tasks, share));
}
