/**
 * Computes the numbers of docs/findings.md, which says where each scheduler wins. A cell is one policy on one
 * source of jobs. Its result has sums for each block of jobs. From these sums, the ratio of two policies gets
 * an interval:
 *
 *   trace   blocks of 28 days of submission, resampled together for both policies (block bootstrap, 95 % by
 *           percentiles)
 *   model   one block per seed, so one ratio per seed; Student's interval for the mean of their logarithms
 */
import { exp, ln } from "@tutti/kernel/core/elementary.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { parseModel } from "../experiments/jobs.ts";
import type { Cell } from "../experiments/kinds.ts";
import { type BlocksResult, FINDING_METRICS, type FindingMetric } from "./run.ts";

/** Jobs and machine of a comparison. */
export interface FindingsSource {
  /** A trace or a model, as the command line takes it. */
  readonly source: string;
  /** Offered load to which the jobs are scaled; undefined: not scaled. */
  readonly load?: number;
  /** Number of jobs taken from the start of the trace; undefined: all. */
  readonly limit?: number;
  readonly slotS: number;
  /** Seeds of a model: 1 … seeds. */
  readonly seeds?: number;
}

/** One policy on such a source, and the cost of a switch. */
export interface FindingsRun extends FindingsSource {
  readonly policy: string;
  readonly switchS: number;
}

/** A ratio of means with its 95 % interval. */
interface Ratio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const BLOCK_S = 28 * 86_400;
const RESAMPLES = 2_000;

/** Whether the jobs come from a model, which draws them for each seed. */
export function isModel({ source }: FindingsSource): boolean {
  return parseModel(source) !== undefined;
}

/** One cell per seed. */
export function cellsOf(run: FindingsRun): Cell<"blocks">[] {
  const { source: jobs, load, limit, policy, slotS, switchS, seeds = 1 } = run;
  const shared = { kind: "blocks", rules: DEFAULT_RULES, policy, slotS, switchS } as const;
  const cells = isModel(run) ? seeds : 1;
  return Array.from({ length: cells }, (_, i) => ({
    ...shared,
    source: { jobs, seed: 1 + i, limit, load },
    ...(cells === 1 && { blockS: BLOCK_S }),
  }));
}

/** The mean over all jobs; NaN if no job counts. */
export function meanOf({ blocks }: BlocksResult, metric: FindingMetric): number {
  return meanOver(blocks, FINDING_METRICS.indexOf(metric));
}

/** The mean under `a` divided by the mean under `b`, on the same jobs. */
export function ratioOf(a: BlocksResult, b: BlocksResult, metric: FindingMetric, isModel: boolean): Ratio {
  const at = FINDING_METRICS.indexOf(metric);
  const ratio = meanOver(a.blocks, at) / meanOver(b.blocks, at);
  if (isModel) {
    const logs = a.blocks.map((block, i) => ln(meanOver([block], at) / meanOver([b.blocks[i]], at)));
    const { mean, half } = confidenceInterval(logs);
    return { ratio: exp(mean), low: exp(mean - half), high: exp(mean + half) };
  }
  const random = new Random(1, "block bootstrap");
  const count = a.blocks.length;
  const ratios = new Float64Array(RESAMPLES);
  for (let i = 0; i < RESAMPLES; i++) {
    let sumA = 0;
    let sumB = 0;
    for (let draw = 0; draw < count; draw++) {
      const block = random.below(count);
      sumA += a.blocks[block].sums[at];
      sumB += b.blocks[block].sums[at];
    }
    ratios[i] = sumA / sumB;
  }
  ratios.sort();
  return {
    ratio,
    low: ratios[Math.floor(0.025 * RESAMPLES)],
    high: ratios[Math.ceil(0.975 * RESAMPLES) - 1],
  };
}

function meanOver(blocks: BlocksResult["blocks"], metric: number): number {
  let sum = 0;
  let jobs = 0;
  for (const block of blocks) {
    sum += block.sums[metric];
    jobs += block.jobs[metric];
  }
  return jobs === 0 ? Number.NaN : sum / jobs;
}
