/**
 * Divides jobs into classes, because a mean over all jobs hides which jobs pay for it. A scheme assigns every
 * job to exactly one class by its size and run time. The labels name the bounds.
 */

export interface ClassScheme {
  readonly title: string;
  /** At most 255. */
  readonly classes: readonly JobClass[];
  /** Index in `classes` of a job's class. */
  classOf(size: number, runS: number): number;
}

export interface JobClass {
  /** Stable name for programs. */
  readonly name: string;
  /** Label for people, with the bounds. */
  readonly label: string;
}

/**
 * Narrow or wide, short or long, with the bounds of Srinivasan, Kettimuthu, Subramani and Sadayappan 2002,
 * "Characterization of backfilling strategies for parallel job scheduling": 8 processors and one hour.
 */
export const NARROW_WIDE_SHORT_LONG: ClassScheme = {
  title: "narrow and wide, short and long jobs",
  classes: [
    { name: "short-narrow", label: "short narrow (≤ 1 h, ≤ 8 processors)" },
    { name: "short-wide", label: "short wide (≤ 1 h, > 8 processors)" },
    { name: "long-narrow", label: "long narrow (> 1 h, ≤ 8 processors)" },
    { name: "long-wide", label: "long wide (> 1 h, > 8 processors)" },
  ],
  classOf: (size, runS) => (runS > 3600 ? 2 : 0) + (size > 8 ? 1 : 0),
};

/**
 * Classes by run time.
 * @param boundsS inclusive and ascending; one more class is above the last bound
 * @throws RangeError for too many bounds, or bounds that do not ascend
 */
export function classesByRunTime(boundsS: readonly number[]): ClassScheme {
  const bounds = [...boundsS, Number.POSITIVE_INFINITY];
  if (bounds.some((maxS, i) => i > 0 && !(maxS > bounds[i - 1]))) {
    throw new RangeError(`Cannot make classes with bounds ${bounds.join(", ")}: expected ascending bounds`);
  }
  if (bounds.length > 255) throw new RangeError(`Cannot make ${bounds.length} classes: expected 1 to 255`);
  return {
    title: "jobs by run time",
    classes: bounds.map((maxS) => ({ name: String(maxS), label: `up to ${maxS} s` })),
    classOf: (_size, runS) => firstNotBelow(bounds, runS),
  };
}

function firstNotBelow(bounds: readonly number[], value: number): number {
  let i = 0;
  while (bounds[i] < value) i++;
  return i;
}
