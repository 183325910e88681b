/**
 * Computes the run time of a job that can run on several numbers of processors (a moldable job). It follows
 * Amdahl's law (AFIPS 1967): the serial share of the time on one processor stays, and the rest is divided
 * among the processors.
 *
 *   time on n ∝ s + (1 − s) / n        s = 0: twice the processors, half the time; s = 1: the same time
 */
/** Columns by job. A job that can run only on its own size has that size as both `minSize` and `maxSize`. */
export interface Molding<Integers = Int32Array, Numbers = Float64Array> {
  /** Minimum number of processors, from 1 to the job's size. */
  readonly minSize: Integers;
  /** Maximum number of processors, not below the job's size. */
  readonly maxSize: Integers;
  /** 0 … 1. */
  readonly serialShare: Numbers;
}

/** Run time on `size` processors, as a multiple of the run time on `own` processors. */
export function timeFactor(serialShare: number, own: number, size: number): number {
  return (serialShare + (1 - serialShare) / size) / (serialShare + (1 - serialShare) / own);
}
