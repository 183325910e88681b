/**
 * Computes which sizes a moldable job can have (core/molding.ts), and how its run time changes with its size.
 */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import { timeFactor } from "../core/molding.ts";

export class Sizes {
  /** The size that each job asks for, or that it has got. */
  readonly #size: Int32Array;
  readonly #molding: JobsView["molding"];

  /** @param size written to when a job gets another size */
  constructor(size: Int32Array, molding: JobsView["molding"]) {
    this.#size = size;
    this.#molding = molding;
  }

  /**
   * The expected range of sizes if the job cannot run on this one; undefined if it can.
   * @param isFixed whether the job is running or has run before
   */
  refusal(job: JobIndex, size: number, isFixed: boolean): string | undefined {
    const own = this.#size[job];
    if (size === own) return undefined;
    const { minSize, maxSize } = (isFixed ? undefined : this.#molding) ?? {};
    const min = minSize?.[job] ?? own;
    const max = maxSize?.[job] ?? own;
    return Number.isInteger(size) && size >= min && size <= max ? undefined : `${min} to ${max}`;
  }

  /** Gives the job another size. Returns the factor by which its run time changes. */
  give(job: JobIndex, size: number): number {
    const factor = timeFactor(this.#molding?.serialShare[job] ?? 1, this.#size[job], size);
    this.#size[job] = size;
    return factor;
  }
}
