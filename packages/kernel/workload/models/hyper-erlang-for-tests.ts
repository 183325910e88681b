/**
 * Computes moments of the hyper-Erlang distribution, and fits the distribution to moments, as was done for
 * the ranges of jann-ranges.ts. For tests only.
 *
 *   moments   μk = n(n+1)…(n+k−1) · (p/λ1^k + (1 − p)/λ2^k)
 *
 * Fit to three moments: a_k = μk / (n(n+1)…(n+k−1)) are the moments of a distribution on two points 1/λ1 and
 * 1/λ2, which are the roots of x² − s·x + q with s = (a3 − a1·a2)/(a2 − a1²) and q = (a1·a3 − a2²)/(a2 −
 * a1²). It needs a2 > a1² and a1·a3 > a2²; both become easier as n grows, and the smallest n is taken.
 */
import type { HyperErlang } from "./hyper-erlang.ts";

/** More stages than any published fit has; a distribution that needs more is nearly constant. */
const MAX_STAGES = 100;

/** The k-th moment about zero; k: 1 or more. */
export function hyperErlangMoment({ p, rate1, rate2, stages }: HyperErlang, k: number): number {
  let first = p;
  let second = 1 - p;
  for (let i = 0; i < k; i++) {
    first *= (stages + i) / rate1;
    second *= (stages + i) / rate2;
  }
  return first + second;
}

/**
 * The distribution with these first three moments and the least number of stages.
 * @throws RangeError when there is none with at most 100 stages
 */
export function fitHyperErlang(mean: number, second: number, third: number): HyperErlang {
  for (let stages = 1; stages <= MAX_STAGES; stages++) {
    const a1 = mean / stages;
    const a2 = second / (stages * (stages + 1));
    const a3 = third / (stages * (stages + 1) * (stages + 2));
    const variance = a2 - a1 * a1;
    if (!(variance > 0 && a1 * a3 > a2 * a2)) continue;
    const s = (a3 - a1 * a2) / variance;
    const q = (a1 * a3 - a2 * a2) / variance;
    const long = (s + Math.sqrt(s * s - 4 * q)) / 2;
    const short = q / long; // not (s − √…)/2, which cancels
    return { p: (a1 - short) / (long - short), rate1: 1 / long, rate2: 1 / short, stages };
  }
  throw new RangeError(
    `Cannot fit a hyper-Erlang distribution to the moments ${mean}, ${second}, ${third}: expected moments of a positive quantity that varies`,
  );
}
