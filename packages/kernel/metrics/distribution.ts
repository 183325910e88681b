/**
 * Computes the distribution of one metric over all counted jobs and over each class: the numbers in one row
 * of a table.
 *
 * Values over all jobs are summed in row order, so they do not depend on how the jobs are divided into
 * classes. Sums are compensated (see compensated-sum.ts). Here, the summation is written out over arrays that
 * have one element per class and a last one for all jobs.
 */
import type { JobIndex } from "../core/jobs.ts";
import { NO_JOB } from "../core/jobs.ts";
import { quantilesInPlace } from "../core/selection.ts";

/** A number is NaN if `count` is too small for it: 0, and for `sd` also 1. */
export interface Distribution {
  /** Jobs that have a value. */
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation (divisor count − 1). */
  readonly sd: number;
  /** Quantiles by linear interpolation; NaN if they were not requested. */
  readonly median: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** First row with the largest value; NO_JOB if there is none. */
  readonly maxJob: JobIndex;
  /** Number of that job in its source; −1 if there is none. */
  readonly maxJobId: number;
  /**
   * Mean weighted by the job's area, size × run time: the mean over processor-seconds instead of over jobs.
   */
  readonly areaWeightedMean: number;
}

/** Jobs with their classes; one set serves all metrics of a summary. */
export interface CountedJobs {
  /** Row of the first job; the columns below begin with it. */
  readonly firstJob: JobIndex;
  readonly id: Int32Array;
  /** Size × run time. */
  readonly areas: Float64Array;
  /** The sums of the areas by class, and of all. */
  readonly areaSums: SlotSums;
  readonly classOf: Uint8Array;
  readonly classCount: number;
  /** Scratch space, as long as the columns. The caller fills it, with NaN for a job without a value. */
  readonly values: Float64Array;
}

const SHARES = [0.5, 0.9, 0.95, 0.99] as const;

/**
 * Which distributions get their median and percentiles: none, only the one over all jobs, or also those of
 * the classes.
 */
export type QuantileChoice = "none" | "all" | "classes";

/** The distributions of `jobs.values`, which are rearranged: first over all jobs, then one per class. */
export function distributionsOf(jobs: CountedJobs, quantiles: QuantileChoice): Distribution[] {
  const { classCount, id } = jobs;
  const sums = new ClassSums(classCount);
  const { count: counts, max, maxJob: maxJobs } = sums;
  const isWhole = addAll(jobs, sums);
  sums.finish();
  const area = isWhole ? jobs.areaSums : areaSumsOf(jobs, jobs.values);
  const means = sums.means();
  const squares = new SlotSums(classCount + 1);
  addSquares(jobs, means, squares);
  const cuts = quantilesOf(jobs, counts, quantiles);
  const distributions: Distribution[] = [];
  for (let slot = 0; slot <= classCount; slot++) {
    const count = counts[slot];
    const [median = Number.NaN, p90 = Number.NaN, p95 = Number.NaN, p99 = Number.NaN] = cuts[slot] ?? [];
    const maxJob = maxJobs[slot];
    distributions.push({
      count,
      mean: means[slot],
      sd: count < 2 ? Number.NaN : Math.sqrt(squares.total(slot) / (count - 1)),
      median,
      p90,
      p95,
      p99,
      max: count === 0 ? Number.NaN : max[slot],
      maxJob,
      maxJobId: maxJob === NO_JOB ? -1 : id[maxJob],
      areaWeightedMean: area.total(slot) > 0 ? sums.weighted.total(slot) / area.total(slot) : Number.NaN,
    });
  }
  return [distributions[classCount], ...distributions.slice(0, classCount)];
}

/** One compensated sum per slot. */
class SlotSums {
  readonly sum: Float64Array;
  readonly lost: Float64Array;

  constructor(slots: number) {
    this.sum = new Float64Array(slots);
    this.lost = new Float64Array(slots);
  }

  total(slot: number): number {
    return this.sum[slot] + this.lost[slot];
  }
}

/** A slot for each class, and a last one for all jobs. */
class ClassSums {
  readonly count: Uint32Array;
  readonly max: Float64Array;
  readonly maxJob: Int32Array;
  readonly value: SlotSums;
  readonly weighted: SlotSums;

  constructor(classCount: number) {
    const slots = classCount + 1;
    this.count = new Uint32Array(slots);
    this.max = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.maxJob = new Int32Array(slots).fill(NO_JOB);
    this.value = new SlotSums(slots);
    this.weighted = new SlotSums(slots);
  }

  /** Number and largest value of all jobs, from those of the classes. */
  finish(): void {
    const { count, max, maxJob } = this;
    const all = count.length - 1;
    for (let slot = 0; slot < all; slot++) {
      if (count[slot] === 0) continue;
      const isEarlier = max[slot] === max[all] && maxJob[slot] < maxJob[all];
      if (count[all] === 0 || max[slot] > max[all] || isEarlier) {
        max[all] = max[slot];
        maxJob[all] = maxJob[slot];
      }
      count[all] += count[slot];
    }
  }

  means(): Float64Array {
    return Float64Array.from(this.count, (count, slot) =>
      count === 0 ? Number.NaN : this.value.total(slot) / count,
    );
  }
}

type Areas = Pick<CountedJobs, "areas" | "classOf" | "classCount">;

/** Sums of the areas of the jobs that have a value. */
export function areaSumsOf(jobs: Areas, values: Float64Array): CountedJobs["areaSums"] {
  const sums = new SlotSums(jobs.classCount + 1);
  addAreas(jobs, values, sums);
  return sums;
}

/*
 * The sums are written out in the loops: Knuth's two-sum without a branch; its rounding error goes to `lost`.
 * A separate function is not always inlined, and then every number is boxed. The sums over all jobs are in
 * variables: an element of an array that the next job changes again makes it wait. Nothing is created after a
 * loop: V8 would leave its code there each time.
 */

function addAreas(
  { areas, classOf, classCount }: Areas,
  values: Float64Array,
  { sum, lost }: SlotSums,
): void {
  let allSum = 0;
  let allLost = 0;
  const length = areas.length;
  for (let i = 0; i < length; i++) {
    if (Number.isNaN(values[i])) continue;
    const area = areas[i];
    const slot = classOf[i];
    let before = sum[slot];
    let after = before + area;
    let part = after - before;
    sum[slot] = after;
    lost[slot] += before - (after - part) + (area - part);
    before = allSum;
    after = before + area;
    part = after - before;
    allSum = after;
    allLost += before - (after - part) + (area - part);
  }
  sum[classCount] = allSum;
  lost[classCount] = allLost;
}

/** Returns whether the jobs that have a value have the areas of all. */
function addAll(jobs: CountedJobs, sums: ClassSums): boolean {
  const { values, areas, classOf, classCount, firstJob } = jobs;
  const { count, max, maxJob } = sums;
  const { sum, lost } = sums.value;
  const { sum: weightedSum, lost: weightedLost } = sums.weighted;
  let isWhole = true;
  let allSum = 0;
  let allLost = 0;
  let allWeighted = 0;
  let allWeightedLost = 0;
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    const area = areas[i];
    if (Number.isNaN(value)) {
      if (area !== 0) isWhole = false;
      continue;
    }
    const slot = classOf[i];
    count[slot]++;
    if (value > max[slot]) {
      max[slot] = value;
      maxJob[slot] = firstJob + i;
    }
    let before = sum[slot];
    let after = before + value;
    let part = after - before;
    sum[slot] = after;
    lost[slot] += before - (after - part) + (value - part);
    before = allSum;
    after = before + value;
    part = after - before;
    allSum = after;
    allLost += before - (after - part) + (value - part);
    const weighted = area * value;
    before = weightedSum[slot];
    after = before + weighted;
    part = after - before;
    weightedSum[slot] = after;
    weightedLost[slot] += before - (after - part) + (weighted - part);
    before = allWeighted;
    after = before + weighted;
    part = after - before;
    allWeighted = after;
    allWeightedLost += before - (after - part) + (weighted - part);
  }
  sum[classCount] = allSum;
  lost[classCount] = allLost;
  weightedSum[classCount] = allWeighted;
  weightedLost[classCount] = allWeightedLost;
  return isWhole;
}

/** Squared deviations from the class's mean, and from that of all. */
function addSquares(
  { values, classOf, classCount }: CountedJobs,
  means: Float64Array,
  { sum, lost }: SlotSums,
): void {
  const mean = means[classCount];
  let allSum = 0;
  let allLost = 0;
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    const slot = classOf[i];
    let square = (value - means[slot]) * (value - means[slot]);
    let before = sum[slot];
    let after = before + square;
    let part = after - before;
    sum[slot] = after;
    lost[slot] += before - (after - part) + (square - part);
    square = (value - mean) * (value - mean);
    before = allSum;
    after = before + square;
    part = after - before;
    allSum = after;
    allLost += before - (after - part) + (square - part);
  }
  sum[classCount] = allSum;
  lost[classCount] = allLost;
}

/** Quantiles by class, then of all; rearranges the values. */
function quantilesOf(jobs: CountedJobs, counts: Uint32Array, quantiles: QuantileChoice): number[][] {
  const { classCount, values } = jobs;
  const cuts: number[][] = [];
  const total = counts[classCount];
  if (quantiles === "all") {
    const known = total === values.length ? values : values.filter((value) => !Number.isNaN(value));
    cuts[classCount] = quantilesInPlace(known, 0, total, SHARES);
  }
  if (quantiles === "classes") {
    const grouped = group(jobs, counts);
    let from = 0;
    for (let slot = 0; slot < classCount; slot++) {
      cuts[slot] = quantilesInPlace(grouped, from, from + counts[slot], SHARES);
      from += counts[slot];
    }
    cuts[classCount] = quantilesInPlace(grouped, 0, total, SHARES);
  }
  return cuts;
}

/** The values sorted by class, so that every class and the whole set are one range each. */
function group({ values, classOf, classCount }: CountedJobs, counts: Uint32Array): Float64Array {
  const grouped = new Float64Array(counts[classCount]);
  const next = new Uint32Array(classCount);
  for (let slot = 1; slot < classCount; slot++) next[slot] = next[slot - 1] + counts[slot - 1];
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (!Number.isNaN(value)) grouped[next[classOf[i]]++] = value;
  }
  return grouped;
}
