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
  readonly classOf: Uint8Array;
  readonly classCount: number;
  /** Scratch space, as long as the columns. The caller fills `values`, with NaN for a job without a value. */
  readonly values: Float64Array;
  readonly grouped: Float64Array;
}

const SHARES = [0.5, 0.9, 0.95, 0.99] as const;

/**
 * Which distributions get their median and percentiles: none, only the one over all jobs, or also those of
 * the classes.
 */
export type QuantileChoice = "none" | "all" | "classes";

/** The distributions of `jobs.values`: first over all jobs, then one per class. */
export function distributionsOf(jobs: CountedJobs, quantiles: QuantileChoice): Distribution[] {
  const { classCount, id } = jobs;
  const sums = new ClassSums(classCount + 1);
  addAll(jobs, sums);
  const starts = new Uint32Array(classCount + 1);
  for (let group = 1; group < classCount; group++) {
    starts[group] = starts[group - 1] + sums.count[group - 1];
  }
  if (quantiles !== "none") group(jobs, starts.slice());
  const squares = squaredDeviations(jobs, sums);
  const distributions: Distribution[] = [];
  for (let slot = 0; slot <= classCount; slot++) {
    const from = starts[slot]; // the last slot has all jobs and begins at 0
    const count = sums.count[slot];
    const wanted = quantiles === "classes" || (quantiles === "all" && slot === classCount);
    const cuts = wanted ? quantilesInPlace(jobs.grouped, from, from + count, SHARES) : [];
    const maxJob = sums.maxJob[slot];
    const area = sums.area.total(slot);
    distributions.push({
      count,
      mean: sums.mean(slot),
      sd: count < 2 ? Number.NaN : Math.sqrt(squares.total(slot) / (count - 1)),
      median: cuts[0] ?? Number.NaN,
      p90: cuts[1] ?? Number.NaN,
      p95: cuts[2] ?? Number.NaN,
      p99: cuts[3] ?? Number.NaN,
      max: count === 0 ? Number.NaN : sums.max[slot],
      maxJob,
      maxJobId: maxJob === NO_JOB ? -1 : id[maxJob],
      areaWeightedMean: area > 0 ? sums.weighted.total(slot) / area : Number.NaN,
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

class ClassSums {
  readonly count: Uint32Array;
  readonly max: Float64Array;
  readonly maxJob: Int32Array;
  readonly value: SlotSums;
  readonly area: SlotSums;
  readonly weighted: SlotSums;

  constructor(slots: number) {
    this.count = new Uint32Array(slots);
    this.max = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.maxJob = new Int32Array(slots).fill(NO_JOB);
    this.value = new SlotSums(slots);
    this.area = new SlotSums(slots);
    this.weighted = new SlotSums(slots);
  }

  mean(slot: number): number {
    return this.count[slot] === 0 ? Number.NaN : this.value.total(slot) / this.count[slot];
  }
}

/*
 * The sums are written out in the loops: Knuth's two-sum without a branch; its rounding error goes to `lost`.
 * A separate function is not always inlined, and then every number is boxed.
 */

function addAll(jobs: CountedJobs, sums: ClassSums): void {
  const { values, areas, classOf, classCount, firstJob } = jobs;
  const { count, max, maxJob } = sums;
  const { sum, lost } = sums.value;
  const { sum: areaSum, lost: areaLost } = sums.area;
  const { sum: weightedSum, lost: weightedLost } = sums.weighted;
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    const area = areas[i];
    const weighted = area * value;
    let slot = classOf[i];
    for (let twice = 0; twice < 2; twice++) {
      count[slot]++;
      let before = sum[slot];
      let after = before + value;
      let part = after - before;
      sum[slot] = after;
      lost[slot] += before - (after - part) + (value - part);
      before = areaSum[slot];
      after = before + area;
      part = after - before;
      areaSum[slot] = after;
      areaLost[slot] += before - (after - part) + (area - part);
      before = weightedSum[slot];
      after = before + weighted;
      part = after - before;
      weightedSum[slot] = after;
      weightedLost[slot] += before - (after - part) + (weighted - part);
      if (value > max[slot]) {
        max[slot] = value;
        maxJob[slot] = firstJob + i;
      }
      slot = classCount;
    }
  }
}

function squaredDeviations(jobs: CountedJobs, sums: ClassSums): SlotSums {
  const { values, classOf, classCount } = jobs;
  const squares = new SlotSums(classCount + 1);
  const { sum, lost } = squares;
  const means = Float64Array.from({ length: classCount + 1 }, (_, slot) => sums.mean(slot));
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    let slot = classOf[i];
    for (let twice = 0; twice < 2; twice++) {
      const square = (value - means[slot]) * (value - means[slot]);
      const before = sum[slot];
      const after = before + square;
      const part = after - before;
      sum[slot] = after;
      lost[slot] += before - (after - part) + (square - part);
      slot = classCount;
    }
  }
  return squares;
}

/** Sorts the values by class, so that every class and the whole set are one range each. */
function group(jobs: CountedJobs, next: Uint32Array): void {
  const { values, grouped, classOf } = jobs;
  const length = classOf.length;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (!Number.isNaN(value)) grouped[next[classOf[i]]++] = value;
  }
}
