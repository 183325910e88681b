/**
 * The hyper-Erlang distribution of common order: with probability p the sum of n exponentials of rate λ1, else of n
 * exponentials of rate λ2 (Jann, Pattnaik, Franke, Wang, Skovira and Riodan 1997, "Modeling of workload in MPPs").
 *
 *   moments   μk = n(n+1)…(n+k−1) · (p/λ1^k + (1 − p)/λ2^k)
 *
 * Fit to three moments: a_k = μk / (n(n+1)…(n+k−1)) are the moments of a distribution on two points 1/λ1 and 1/λ2, which are
 * the roots of x² − s·x + q with s = (a3 − a1·a2)/(a2 − a1²) and q = (a1·a3 − a2²)/(a2 − a1²). It needs a2 > a1² and
 * a1·a3 > a2²; both become easier as n grows, and the smallest n is taken.
 */
import type { Random } from "../../core/random.ts";

export interface HyperErlang {
  /** Probability of the first branch, which is the long one. */
  readonly p: number;
  /** Rates of the stages of each branch, one over the unit of time. */
  readonly rate1: number;
  readonly rate2: number;
  /** Stages, the same number in both branches. */
  readonly stages: number;
}

/** More stages than any published fit has; a distribution that needs more is nearly constant. */
const MOST_STAGES = 100;

/** A number drawn from the distribution; uses up one uniform number and one per stage. */
export function drawHyperErlang({ p, rate1, rate2, stages }: HyperErlang, random: Random): number {
  const mean = 1 / (random.uniform() < p ? rate1 : rate2);
  let sum = 0;
  for (let stage = 0; stage < stages; stage++) sum += random.exponential(mean);
  return sum;
}

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
  for (let stages = 1; stages <= MOST_STAGES; stages++) {
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
