/**
 * Computes statistics over replications, and over the batches of one long run. Nothing here uses the engine's
 * logarithm or exponential, so intervals are the same to the last bit everywhere.
 */
import { exp, ln } from "../core/elementary.ts";

/** A mean with a Student confidence interval. */
export interface Interval {
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation of the values; NaN for fewer than two. */
  readonly sd: number;
  /** Half of the interval's width: mean ± half; NaN for fewer than two values. */
  readonly half: number;
  /** Such as 0.95. */
  readonly level: number;
}

/** Student's interval for the mean of independent values, such as one mean per replication. */
export function confidenceInterval(values: ArrayLike<number>, level = 0.95): Interval {
  if (!(level > 0 && level < 1)) throw new RangeError(`Cannot use level ${level}: expected between 0 and 1`);
  const count = values.length;
  // Mean and squares in one pass: Welford 1962, "Note on a method for calculating corrected sums of squares".
  let mean = count === 0 ? Number.NaN : 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    const deviation = values[i] - mean;
    mean += deviation / (i + 1);
    squares += deviation * (values[i] - mean);
  }
  const sd = count < 2 ? Number.NaN : Math.sqrt(squares / (count - 1));
  const half = count < 2 ? Number.NaN : (studentQuantile(0.5 + level / 2, count - 1) * sd) / Math.sqrt(count);
  return { count, mean, sd, half, level };
}

/**
 * Interval for the mean of a − b, replication by replication. With common random numbers both policies saw
 * the same jobs, so the difference varies less than either mean. The policies differ at that level if the
 * interval excludes 0.
 * @throws RangeError if the numbers of replications differ
 */
export function pairedDifference(a: ArrayLike<number>, b: ArrayLike<number>, level = 0.95): Interval {
  if (a.length !== b.length) {
    throw new RangeError(`Cannot pair ${a.length} with ${b.length} replications: expected equal numbers`);
  }
  return confidenceInterval(
    Array.from(a, (value, i) => value - b[i]),
    level,
  );
}

/** How far a mean is from another one, of which only the value and the number of runs are printed. */
export interface MeanTest {
  /** Student's t; 0 for equal means. ±∞ if the values do not vary. */
  readonly t: number;
  /** Means of such samples differ by more than this in one case of twenty, at level 0.95. */
  readonly quantile: number;
  readonly otherCount: number;
}

/**
 * Two-sample t test of the mean of the values against a mean of `otherCount` runs whose variance is unknown.
 * The variance of the values stands for both, so the degrees of freedom are those of the values alone.
 * @throws RangeError for fewer than two values, which have no variance
 */
export function testMean(
  values: ArrayLike<number>,
  other: number,
  otherCount: number,
  level = 0.95,
): MeanTest {
  const { mean, sd, count } = confidenceInterval(values, level);
  if (count < 2) throw new RangeError(`Cannot test the mean of ${count} values: expected 2 or more`);
  const difference = mean - other;
  const t = difference === 0 ? 0 : difference / (sd * Math.sqrt(1 / count + 1 / otherCount));
  return { t, quantile: studentQuantile(0.5 + level / 2, count - 1), otherCount };
}

/** From here on, the expansion in 1/df is exact to 10 digits and the continued fraction becomes slow. */
const MANY_DEGREES = 1000;

/**
 * Quantile of Student's t distribution.
 * @param p probability, between 0 and 1
 * @param df degrees of freedom, 1 or more, not necessarily whole; Infinity gives the normal quantile
 * @returns the quantile, accurate to 8 digits or more
 */
export function studentQuantile(p: number, df: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`Cannot take the quantile of ${p}: expected between 0 and 1`);
  if (!(df >= 1)) throw new RangeError(`Cannot use ${df} degrees of freedom: expected 1 or more`);
  if (p === 0.5) return 0;
  if (p < 0.5) return -studentQuantile(1 - p, df);
  const z = normalQuantile(p);
  if (df >= MANY_DEGREES) return expandedQuantile(z, df);
  return rootOf((t) => studentUpperTail(t, df) - (1 - p), z);
}

/** Quantile of the standard normal distribution, accurate to 8 digits or more. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`Cannot take the quantile of ${p}: expected between 0 and 1`);
  if (p === 0.5) return 0;
  return p < 0.5 ? -rootOf((x) => normalUpperTail(x) - p, 0) : rootOf((x) => normalUpperTail(x) - (1 - p), 0);
}

/** Abramowitz and Stegun 26.7.5: t as a series in 1/df around the normal quantile. */
function expandedQuantile(z: number, df: number): number {
  if (df === Number.POSITIVE_INFINITY) return z;
  const s = z * z;
  const g1 = (z * (s + 1)) / 4;
  const g2 = (z * ((5 * s + 16) * s + 3)) / 96;
  const g3 = (z * (((3 * s + 19) * s + 17) * s - 15)) / 384;
  return z + (g1 + (g2 + g3 / df) / df) / df;
}

/**
 * Zero of a falling function at `from` or above: doubles steps to bracket it, then bisects to the last bit.
 */
function rootOf(falling: (x: number) => number, from: number): number {
  let low = from;
  let step = 1;
  while (falling(low + step) > 0) {
    low += step;
    step *= 2;
  }
  let high = low + step;
  for (;;) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    if (falling(middle) > 0) low = middle;
    else high = middle;
  }
}

/** P(T > t) for t ≥ 0: half the regularised incomplete beta function I_x(df/2, ½) at x = df/(df + t²). */
function studentUpperTail(t: number, df: number): number {
  const square = t * t;
  return 0.5 * incompleteBeta(df / (df + square), square / (df + square), df / 2, 0.5);
}

/** I_x(a, b) with y = 1 − x passed separately, so that neither is lost to rounding. */
function incompleteBeta(x: number, y: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const front = exp(a * ln(x) + b * ln(y) - (lnGamma(a) + lnGamma(b) - lnGamma(a + b)));
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(y, b, a)) / b;
}

/** Continued fraction 26.5.8 of Abramowitz and Stegun, by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let h = d;
  for (let m = 1; m <= 10000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    if (Math.abs(c) < tiny) c = tiny;
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    if (Math.abs(c) < tiny) c = tiny;
    const factor = d * c;
    h *= factor;
    if (Math.abs(factor - 1) < 1e-16) break;
  }
  return h;
}

const HALF_LN_TWO_PI = 0.9189385332046728;

/**
 * ln Γ(x) for x > 0: Stirling's series (Abramowitz and Stegun 6.1.41) after raising x above 10 by the
 * recurrence.
 */
function lnGamma(x: number): number {
  let product = 1;
  while (x < 10) product *= x++;
  const r = 1 / (x * x);
  const series =
    (1 / 12 + r * (-1 / 360 + r * (1 / 1260 + r * (-1 / 1680 + r * (1 / 1188 - (r * 691) / 360360))))) / x;
  return (x - 0.5) * ln(x) - x + HALF_LN_TWO_PI + series - ln(product);
}

/** P(Z > x) for x ≥ 0: series 26.2.11 of Abramowitz and Stegun below 3, continued fraction 26.2.14 above. */
function normalUpperTail(x: number): number {
  const density = exp(-0.5 * x * x - HALF_LN_TWO_PI);
  if (x < 3) {
    let term = x;
    let sum = x;
    for (let odd = 3; term > 1e-18 * sum; odd += 2) {
      term *= (x * x) / odd;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = x;
  for (let k = 120; k >= 1; k--) fraction = x + k / fraction;
  return density / fraction;
}
