/**
 * Decides the claims of papers and of docs/findings.md: sentences that hold or fail by a comparison of
 * numbers.
 */

import type { Interval } from "../metrics/statistics.ts";
import type { ReproducedStatement } from "../results/reproduction.ts";

/** An exact number, or the bounds between which it lies. */
type Quantity = number | { readonly low: number; readonly high: number };

export interface Comparison {
  readonly a: Quantity;
  readonly is: "below" | "above" | "at most" | "at least";
  readonly b: number;
}

export interface Claim {
  readonly statement: string;
  /** All of them must hold. */
  readonly comparisons: readonly Comparison[];
  /** The numbers that decide it, in words. */
  readonly evidence: string;
}

/** `open`: the interval contains the limit, so neither side is shown. */
type Verdict = "holds" | "open" | "fails";

export function verdictOf({ a, is, b }: Comparison): Verdict {
  const { low, high } = typeof a === "number" ? { low: a, high: a } : a;
  if (is === "below" || is === "at most") {
    return high < b || (is === "at most" && high === b) ? "holds" : low > b ? "fails" : "open";
  }
  return low > b || (is === "at least" && low === b) ? "holds" : high < b ? "fails" : "open";
}

export function allHold(comparisons: readonly Comparison[]): boolean {
  return comparisons.every((comparison) => verdictOf(comparison) === "holds");
}

export function judge({ statement, comparisons, evidence }: Claim): ReproducedStatement {
  return { statement, holds: allHold(comparisons), evidence };
}

/** The interval around the mean. */
export function within({ mean, half }: Interval): Quantity {
  return { low: mean - half, high: mean + half };
}
