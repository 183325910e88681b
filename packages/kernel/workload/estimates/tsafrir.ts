/**
 * Generates user estimates by the model of Tsafrir, Etsion and Feitelson 2005, "Modeling user runtime
 * estimates" (JSSPP 2005), after its authors' program (m_tsafrir05). About 20 popular round values, the head,
 * serve 89 % of the jobs; many rare values, the tail, serve the rest. No job runs longer than its estimate.
 *
 *   1. K values for J jobs, piecewise linear in J                                   estimateValueCount
 *   2. head: 20 round times, the largest estimate first; the popularity of each     headBins
 *      is drawn from its popularity ranks in four logs
 *   3. tail: K − 20 times, dense at short ones, popularity by a power law           tailBins
 *   4. jobs per value, at least one, adjusted to sum to J                           wholeJobs
 *   5. from the longest job on, each draws one of the unused estimates that         assignEstimates
 *      cover it
 *
 * Where we differ: the program takes the user's hints about popular values, and we do not. If a largest
 * estimate below 100 minutes leaves fewer than 20 head times, the program stops, and we use those that exist,
 * ranked among themselves.
 */
import { DiagnosticCollector, diagnosticRules } from "../../core/diagnostics.ts";
import { exp, power } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { Random } from "../../core/random.ts";
import { drawHeadRanks } from "./tsafrir-ranks.ts";

/** One value of the estimates and how many jobs have it. */
interface EstimateBin {
  readonly estimateS: number;
  readonly jobs: number;
}

interface Share {
  readonly estimateS: number;
  /** Per cent of the jobs. */
  readonly percent: number;
}

const MINUTE = 60;
const HOUR = 3600;
const HEAD = 20;
const HEAD_PERCENT = 89;
/** The largest estimate that makes sense: a whole number of seconds that fits in 32 bits. */
const MAX_S = 2_000_000_000;
/** Points of K over J. */
const VALUE_COUNTS: readonly (readonly [jobs: number, values: number])[] = [
  [0, 0],
  [20, 10],
  [200, 20],
  [1000, 35],
  [10_000, 90],
  [70_000, 340],
  [250_000, 565],
];
/** Head times that all four logs have. */
const COMMON_MINUTES = [5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 1080];
/** Further head times are multiples of these, from the largest estimate downwards. */
const ROUND_MINUTES = [12_000, 6000, 3000, 600, 300, 120, 60, 20, 10, 5];
const RULES = diagnosticRules({
  repaired: {
    "run-cut":
      "The run time is above the largest estimate: cut to that estimate, as the estimate model requires",
  },
});
/** If a tail time is taken already, the first free time among these offsets is used. */
const OFFSETS_S = [0, 30, -30, 20, -20, 10, -10];

/**
 * Draws new estimates for a workload, so that estimate ≥ run time for every job. A run time above the largest
 * estimate is cut to it, as the model's program does, and counted in the diagnostics under `run-cut`.
 * @param maxEstimateS whole seconds from 3600 on; 0 for the longest run time rounded up to whole hours
 * @throws InputError if it is not such a number, or if more jobs are long than there are estimates to cover
 * them
 */
export function withTsafrirEstimates(workload: Workload, maxEstimateS: number, seed: number): Workload {
  const { count, jobs } = workload;
  let longestS = 0;
  for (let row = 0; row < count; row++) longestS = Math.max(longestS, jobs.runS[row]);
  const maxS = maxEstimateS === 0 ? Math.max(1, Math.ceil(longestS / HOUR)) * HOUR : maxEstimateS;
  if (!(Number.isInteger(maxS) && maxS >= HOUR && maxS <= MAX_S)) {
    throw new InputError(
      `Cannot draw estimates up to ${maxS} s: expected whole seconds from ${HOUR} to ${MAX_S}`,
    );
  }
  const runS = longestS <= maxS ? jobs.runS : jobs.runS.map((run) => Math.min(run, maxS));
  const bins = drawEstimateBins(count, maxS, new Random(seed, "estimate values"));
  const estimateS = assignEstimates(runS, bins, new Random(seed, "estimates"), workload.name);
  const note = `estimates up to ${maxS} s by the Tsafrir model, seed ${seed}`;
  return {
    ...workload,
    name: `${workload.name}, ${note}`,
    jobs: { ...jobs, runS, estimateS },
    header: workload.header.length === 0 ? [] : [...workload.header, `; Note: ${note}`],
    diagnostics: [...workload.diagnostics, ...cutRuns(workload, maxS)],
  };
}

/** Number of different estimates among this many jobs. */
export function estimateValueCount(jobs: number): number {
  for (let k = 1; k < VALUE_COUNTS.length; k++) {
    const [fromJobs, from] = VALUE_COUNTS[k - 1];
    const [toJobs, to] = VALUE_COUNTS[k];
    if (jobs <= toJobs) return from + Math.round(((jobs - fromJobs) * (to - from)) / (toJobs - fromJobs));
  }
  return VALUE_COUNTS[VALUE_COUNTS.length - 1][1];
}

/**
 * The distribution of the estimates, largest value first; the jobs sum to `jobs`.
 * @param maxEstimateS whole seconds, 3600 or more
 */
export function drawEstimateBins(jobs: number, maxEstimateS: number, random: Random): EstimateBin[] {
  const values = estimateValueCount(jobs);
  const head = headBins(maxEstimateS, random);
  const tail = tailBins(values, maxEstimateS, new Set(head.map(({ estimateS }) => estimateS)), random);
  return wholeJobs([...head, ...tail], jobs)
    .filter((bin) => bin.jobs > 0)
    .sort((a, b) => b.estimateS - a.estimateS);
}

/** Head times: the largest estimate, then at most 19 others in ascending order. */
export function headTimes(maxEstimateS: number): number[] {
  const times = new Set([maxEstimateS]);
  for (const minutes of COMMON_MINUTES) if (minutes * MINUTE < maxEstimateS) times.add(minutes * MINUTE);
  for (const minutes of ROUND_MINUTES) {
    const step = minutes * MINUTE;
    const first = Math.floor(maxEstimateS / step) * step;
    for (let at = first; at > 0 && times.size < HEAD; at -= step) times.add(at);
  }
  const [, ...others] = times;
  return [maxEstimateS, ...others.sort((a, b) => a - b)];
}

function headBins(maxEstimateS: number, random: Random): Share[] {
  const times = headTimes(maxEstimateS);
  const percents = [0];
  let sum = 0;
  for (let rank = 2; rank <= times.length; rank++) {
    const percent = 14.0491 * exp(-0.177531 * rank) + 0.462513;
    percents.push(percent);
    sum += percent;
  }
  percents[0] = HEAD_PERCENT - sum;
  const drawn = drawHeadRanks(random).slice(0, times.length);
  const inOrder = [...drawn].sort((a, b) => a - b);
  return times.map((estimateS, i) => ({ estimateS, percent: percents[inOrder.indexOf(drawn[i])] }));
}

/** Times that would coincide with others are moved by some seconds, or left out if that fails, too. */
function tailBins(values: number, maxEstimateS: number, taken: Set<number>, random: Random): Share[] {
  const wanted = values - taken.size;
  if (wanted <= 0) return [];
  const a = 1 + 12.1039 * power(values, -0.6026);
  const times: number[] = [];
  for (let rank = 1; rank <= wanted; rank++) {
    const x = rank / wanted;
    const minute = Math.round((((a - 1) * x) / (a - x)) * (maxEstimateS / MINUTE)) * MINUTE;
    const free = OFFSETS_S.map((offset) => minute + offset).find(
      (at) => at > 0 && at < maxEstimateS && !taken.has(at),
    );
    if (free === undefined) continue;
    taken.add(free);
    times.push(free);
  }
  const weights = times.map((_, i) => 795.6 * power(HEAD + 1 + i, -2.267));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  shuffle(times, random);
  return times.map((estimateS, i) => ({
    estimateS,
    percent: ((100 - HEAD_PERCENT) * weights[i]) / total,
  }));
}

function shuffle(values: number[], random: Random): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}

/**
 * Turns shares into whole jobs. Rounding gives too many or too few jobs; the most popular values are adjusted
 * first, in proportion, then job by job. A value loses its last job only if there are more values than jobs.
 */
function wholeJobs(shares: readonly Share[], jobs: number): EstimateBin[] {
  const bins = shares
    .map(({ estimateS, percent }) => ({ estimateS, jobs: Math.max(1, Math.round((percent * jobs) / 100)) }))
    .sort((a, b) => b.jobs - a.jobs || b.estimateS - a.estimateS);
  const total = bins.reduce((sum, bin) => sum + bin.jobs, 0);
  let lacking = jobs - total;
  const share = Math.abs(lacking) / total;
  for (const bin of bins) lacking -= change(bin, lacking, Math.ceil(share * bin.jobs), 1);
  while (lacking !== 0) {
    const before = lacking;
    for (const bin of bins) lacking -= change(bin, lacking, 1, 1);
    if (lacking === before) break;
  }
  for (const bin of bins.toReversed()) lacking -= change(bin, lacking, bin.jobs, 0);
  return bins;
}

/**
 * Adds or removes at most `most` jobs towards `lacking`, and keeps at least `least`; returns how many it
 * added.
 */
function change(bin: { jobs: number }, lacking: number, most: number, least: number): number {
  const added = lacking > 0 ? Math.min(lacking, most) : Math.max(lacking, -most, least - bin.jobs);
  bin.jobs += added;
  return added;
}

/**
 * Draws an estimate for each job, without replacement, among those that cover the job; the longest job draws
 * first.
 */
function assignEstimates(
  runS: Float64Array,
  bins: readonly EstimateBin[],
  random: Random,
  name: string,
): Float64Array {
  const count = runS.length;
  const unused = new Float64Array(count);
  let filled = 0;
  for (const { estimateS, jobs } of bins) {
    unused.fill(estimateS, filled, filled + jobs);
    filled += jobs;
  }
  const order = Uint32Array.from({ length: count }, (_, row) => row);
  order.sort((a, b) => runS[b] - runS[a] || a - b);
  refuseTooLong(runS, order, unused, name);
  const estimateS = new Float64Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    const run = runS[order[i]];
    while (last + 1 < count && unused[last + 1] >= run) last++;
    const pick = i + random.below(last - i + 1);
    estimateS[order[i]] = unused[pick];
    unused[pick] = unused[i];
  }
  return estimateS;
}

/**
 * The i-th longest job needs the i-th largest estimate to cover it; if that holds for all jobs, every draw
 * succeeds.
 */
function refuseTooLong(runS: Float64Array, order: Uint32Array, sorted: Float64Array, name: string): void {
  for (let i = 0; i < order.length; i++) {
    const run = runS[order[i]];
    if (run <= sorted[i]) continue;
    throw new InputError(
      `Cannot draw estimates for "${name}": at least ${i + 1} of its ${order.length} jobs run for ${run} s or longer, but only ${i} estimates are that long (the largest is ${sorted[0]} s), expected a higher largest estimate`,
    );
  }
}

function cutRuns({ count, jobs }: Workload, maxS: number) {
  const diagnostics = new DiagnosticCollector(RULES);
  for (let row = 0; row < count; row++) {
    if (jobs.runS[row] <= maxS) continue;
    diagnostics.add("run-cut", { job: jobs.id[row], field: "run time", value: String(jobs.runS[row]) });
  }
  return diagnostics.list();
}
