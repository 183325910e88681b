/**
 * Enforces limits of a live machine in addition to its processors. Under time sharing, gangs wait for a row,
 * for memory and for units of countable resources in the admission queue in front of the policy. Under space
 * sharing, memory is counted in processors.
 */
import type { JobIndex, ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import type { GangLimits } from "@tutti/kernel/core/policy.ts";

export class LiveLimits implements GangLimits {
  readonly maxRows: number;
  readonly #amounts: readonly number[];
  readonly #demand: readonly ReadonlyColumn[];
  /** Jobs with a process, in the matrix or stopped outside it. They hold what they need in all rows. */
  readonly #holders = new Set<JobIndex>();
  readonly #used: number[];

  /**
   * @param amounts bytes of memory, and units of each kind
   * @param demand what each job needs of them, one column per amount
   */
  constructor(maxRows: number, amounts: readonly number[], demand: readonly ReadonlyColumn[]) {
    this.maxRows = maxRows;
    this.#amounts = amounts;
    this.#demand = demand;
    this.#used = amounts.map(() => 0);
  }

  fits(job: JobIndex): boolean {
    if (this.#holders.has(job)) return true;
    return this.#amounts.every((amount, k) => {
      const needed = this.#demand[k][job];
      return needed === 0 || this.#used[k] + needed <= amount;
    });
  }

  /** Called when the job gets a process. */
  hold(job: JobIndex): void {
    if (this.#holders.has(job)) return;
    this.#holders.add(job);
    this.#demand.forEach((column, k) => {
      this.#used[k] += column[job];
    });
  }

  release(job: JobIndex): void {
    if (!this.#holders.delete(job)) return;
    this.#demand.forEach((column, k) => {
      this.#used[k] -= column[job];
    });
  }
}

/**
 * Processors of a job under space sharing: at least the same share of the machine's processors as of its
 * memory. So no memory is promised twice, and a policy that counts processors implicitly counts memory.
 */
export function processorsWithMemory(
  needed: number,
  memoryBytes: number,
  machine: { readonly processors: number; readonly memoryBytes: number },
): number {
  const share = Math.ceil((memoryBytes / machine.memoryBytes) * machine.processors);
  return Math.min(machine.processors, Math.max(needed, share));
}
