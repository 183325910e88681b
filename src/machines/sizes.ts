/** The sizes of jobs that can run on several (core/molding.ts): which are possible, and how much longer the job takes on another one. */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import { timeFactor } from "../core/molding.ts";

export class Sizes {
  /** As the jobs ask for, or as they were given. */
  readonly #size: Int32Array;
  readonly #molding: JobsView["molding"];

  /** @param size is written to */
  constructor(size: Int32Array, molding: JobsView["molding"]) {
    this.#size = size;
    this.#molding = molding;
  }

  /** What is expected instead; undefined for a size on which the job can run. @param isFixed it has run before, or is running */
  refusal(job: JobIndex, size: number, isFixed: boolean): string | undefined {
    const own = this.#size[job];
    if (size === own) return undefined;
    const { minSize, maxSize } = (isFixed ? undefined : this.#molding) ?? {};
    const least = minSize?.[job] ?? own;
    const most = maxSize?.[job] ?? own;
    return Number.isInteger(size) && size >= least && size <= most ? undefined : `${least} to ${most}`;
  }

  /** Gives the job another size; returns how many times as long it takes on that. */
  give(job: JobIndex, size: number): number {
    const factor = timeFactor(this.#molding?.serialShare[job] ?? 1, this.#size[job], size);
    this.#size[job] = size;
    return factor;
  }
}
