/**
 * Draws from the hyper-Erlang distribution of common order: with probability p, the sum of n exponentials of
 * rate λ1, else of n exponentials of rate λ2 (Jann, Pattnaik, Franke, Wang, Skovira and Riodan 1997,
 * "Modeling of workload in MPPs").
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

/** Draws a number from the distribution; consumes one uniform number and one more per stage. */
export function drawHyperErlang({ p, rate1, rate2, stages }: HyperErlang, random: Random): number {
  const mean = 1 / (random.uniform() < p ? rate1 : rate2);
  let sum = 0;
  for (let stage = 0; stage < stages; stage++) sum += random.exponential(mean);
  return sum;
}
