/**
 * Decides the claims of papers and of docs/findings.md: sentences that hold or fail by a comparison of
 * numbers.
 */

import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import type { ReproducedStatement } from "./results/reproduction.ts";

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

/** `open`: the interval has values on both sides of the limit, so neither is shown. */
type Verdict = "holds" | "open" | "fails";

export function verdictOf({ a, is, b }: Comparison): Verdict {
  const { low, high } = typeof a === "number" ? { low: a, high: a } : a;
  // The limit itself is on the side of `at most` and `at least`, and on the other side of the strict ones.
  if (is === "below") return high < b ? "holds" : low >= b ? "fails" : "open";
  if (is === "at most") return high <= b ? "holds" : low > b ? "fails" : "open";
  if (is === "above") return low > b ? "holds" : high <= b ? "fails" : "open";
  return low >= b ? "holds" : high < b ? "fails" : "open";
}

/** Whether all of them hold; null if none fails, but some are open. */
export function allHold(comparisons: readonly Comparison[]): boolean | null {
  const verdicts = comparisons.map(verdictOf);
  if (verdicts.includes("fails")) return false;
  return verdicts.includes("open") ? null : true;
}

export function judge({ statement, comparisons, evidence }: Claim): ReproducedStatement {
  return { statement, holds: allHold(comparisons), evidence };
}

/** The interval around the mean; the mean alone if there is no interval, as of a single run. */
export function within({ mean, half, count }: Interval): Quantity {
  return count < 2 ? mean : { low: mean - half, high: mean + half };
}
