/**
 * Which scheduler wins where: the runs behind docs/findings.md. A cell is one policy on one source; its result is kept by blocks of
 * jobs, so that the ratio of two policies can be given with an interval:
 *
 *   trace   blocks of 28 days of submission, resampled together for both policies (block bootstrap, 95 % by percentiles)
 *   model   one block per seed; Student's interval of the mean logarithm of the ratio, seed by seed
 */
import { exp, ln } from "../../core/elementary.ts";
import type { Instance } from "../../core/jobs.ts";
import { Random } from "../../core/random.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import type { Schedule } from "../../core/schedule.ts";
import { confidenceInterval } from "../../metrics/statistics.ts";
import { simulate } from "../../simulator/simulate.ts";
import type { Bench, MachineCell } from "../experiments/cell.ts";
import { parseModel } from "../experiments/jobs.ts";

/** Jobs and machine of a comparison. */
export interface FindingsSource {
  /** A trace or a model, as the command line takes it. */
  readonly source: string;
  /** Scaled to this offered load; as it is without. */
  readonly load?: number;
  /** The first so many jobs only. */
  readonly limit?: number;
  readonly slotS: number;
  /** Seeds of a model: 1 … seeds. */
  readonly seeds?: number;
}

/** One policy on such a source, with a cost of switches. */
export interface FindingsRun extends FindingsSource {
  readonly policy: string;
  readonly switchS: number;
}

export interface BlocksCell extends MachineCell {
  readonly kind: "blocks";
  /** Length of a block by submit; without it all jobs are one. */
  readonly blockS?: number | undefined;
}

export const FINDING_METRICS = ["bounded slowdown", "response", "slowdown over 1 h"] as const;
export type FindingMetric = (typeof FINDING_METRICS)[number];

/** Sums and numbers of jobs by block, for each metric. */
export interface BlocksResult {
  readonly blocks: readonly { readonly sums: readonly number[]; readonly jobs: readonly number[] }[];
}

/** A ratio of means with its 95 % interval. */
export interface Ratio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const BLOCK_S = 28 * 86_400;
const BOUND_S = 10;
const LONG_S = 3_600;
const RESAMPLES = 2_000;

/** Whether the jobs come from a model, and are drawn anew for each seed. */
export function isModel({ source }: FindingsSource): boolean {
  return parseModel(source) !== undefined;
}

/** One cell per seed. */
export function cellsOf(run: FindingsRun): BlocksCell[] {
  const { source: jobs, load, limit, policy, slotS, switchS, seeds = 1 } = run;
  const shared = { kind: "blocks", rules: DEFAULT_RULES, policy, slotS, switchS } as const;
  const cells = isModel(run) ? seeds : 1;
  return Array.from({ length: cells }, (_, i) => ({
    ...shared,
    source: { jobs, seed: 1 + i, limit, load },
    ...(cells === 1 && { blockS: BLOCK_S }),
  }));
}

export async function runBlocks(cell: BlocksCell, bench: Bench): Promise<BlocksResult> {
  const { instance, choice } = await bench.ready(cell);
  const schedule = simulate(instance, choice, { slotS: cell.slotS, switchS: cell.switchS });
  return { blocks: inBlocks(instance, schedule, cell.blockS ?? Number.POSITIVE_INFINITY) };
}

function inBlocks(instance: Instance, schedule: Schedule, blockS: number): BlocksResult["blocks"] {
  const blocks: { sums: number[]; jobs: number[] }[] = [];
  for (let job = 0; job < instance.count; job++) {
    const at = Math.floor((instance.submitS[job] - instance.submitS[0]) / blockS);
    while (blocks.length <= at) blocks.push({ sums: [0, 0, 0], jobs: [0, 0, 0] });
    const { sums, jobs } = blocks[at];
    const responseS = schedule.endS[job] - instance.submitS[job];
    const runS = instance.runS[job];
    const values = [Math.max(1, responseS / Math.max(BOUND_S, runS)), responseS, responseS / runS];
    for (let metric = 0; metric < values.length; metric++) {
      if (metric === 2 && !(runS > LONG_S)) continue;
      sums[metric] += values[metric];
      jobs[metric]++;
    }
  }
  return blocks.filter(({ jobs }) => jobs[0] > 0);
}

/** The mean over all jobs; NaN where no job counts. */
export function meanOf({ blocks }: BlocksResult, metric: FindingMetric): number {
  return meanOver(blocks, FINDING_METRICS.indexOf(metric));
}

/** Mean under `a` over the mean under `b`, same jobs. */
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
