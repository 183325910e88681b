/**
 * Draws from the log-uniform distribution: uniform in log space between two bounds, so that doublings are
 * equally likely (Downey 1997, "A parallel workload model and its implications for processor allocation"). In
 * the rounded variant, a number is drawn and then rounded to the nearest whole multiple of a unit, as in
 * zhou2000 section 4.2.
 *
 *   P(round(X) = k) = ln(b/a) / ln(max/min) on [a, b] = [k − ½, k + ½] cut to [min, max]
 */
import { exp, ln } from "../../core/elementary.ts";
import type { Random } from "../../core/random.ts";

export interface LogUniform {
  readonly min: number;
  readonly max: number;
  /** Values are rounded to whole multiples of this, at least one unit; 0: not rounded. */
  readonly unit: number;
}

/** Fills the column with numbers drawn from the distribution; each consumes one uniform number. */
export function fillLogUniform(
  column: Float64Array | Int32Array,
  { min, max, unit }: LogUniform,
  random: Random,
): void {
  const low = ln(min);
  const range = ln(max) - low;
  for (let i = 0; i < column.length; i++) {
    const drawn = Math.min(max, Math.max(min, exp(low + random.uniform() * range)));
    column[i] = unit === 0 ? drawn : roundToUnit(drawn, unit);
  }
}

/**
 * Mean of the distribution: (max − min)/ln(max/min), or, if values are rounded, the exact sum over all
 * multiples of the unit (one logarithm per multiple).
 */
export function logUniformMean({ min, max, unit }: LogUniform): number {
  if (min === max) return unit === 0 ? min : roundToUnit(min, unit);
  const range = ln(max) - ln(min);
  if (unit === 0) return (max - min) / range;
  // E = first + Σ P(value > k·unit), the sum over the multiples k from the first to the last but one.
  const first = roundToUnit(min, unit) / unit;
  const last = roundToUnit(max, unit) / unit;
  let mean = first;
  for (let k = first; k < last; k++) mean += (ln(max) - ln((k + 0.5) * unit)) / range;
  return mean * unit;
}

function roundToUnit(value: number, unit: number): number {
  return Math.max(1, Math.round(value / unit)) * unit;
}
