/**
 * Jobs that can run on several sizes (moldable jobs). How long they take on each tells Amdahl's law (AFIPS 1967): of the time on one
 * processor the serial share stays, the rest is divided among the processors.
 *
 *   time on n ∝ s + (1 − s) / n        s = 0: twice the processors, half the time; s = 1: all the same
 */
/** Columns by job; a job that runs on its size only has it as minSize and maxSize. */
export interface Molding<Integers = Int32Array, Numbers = Float64Array> {
  /** Fewest processors, from 1 to the job's size. */
  readonly minSize: Integers;
  /** Most processors, not below the job's size. */
  readonly maxSize: Integers;
  /** 0 … 1. */
  readonly serialShare: Numbers;
}

/** How many times as long a job takes on `size` processors as on `own`. */
export function timeFactor(serialShare: number, own: number, size: number): number {
  return (serialShare + (1 - serialShare) / size) / (serialShare + (1 - serialShare) / own);
}
