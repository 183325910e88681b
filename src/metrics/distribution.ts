/** One metric's distribution over a set of jobs: the numbers that stand in a row of a table. */

import type { JobIndex } from "../core/jobs.ts";
import { NO_JOB } from "../core/jobs.ts";
import { quantilesInPlace } from "./order.ts";
import { CompensatedSum } from "./sums.ts";

/** All numbers are NaN where `count` is too small for them: 0, for `sd` also 1. */
export interface Distribution {
  /** Jobs that have a value. */
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation (divisor count − 1). */
  readonly sd: number;
  /** Quantiles by linear interpolation; NaN when they were not asked for. */
  readonly median: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** First row with the largest value; NO_JOB when there is none. */
  readonly maxJob: JobIndex;
  /** Number of that job in its source; −1 when there is none. */
  readonly maxJobId: number;
  /** Mean weighted by the job's area, size × run time: what a processor-second waits instead of a job. */
  readonly areaWeightedMean: number;
}

/** First pass over the values: everything but the spread and the quantiles. */
export class DistributionSums {
  count = 0;
  max = Number.NaN;
  maxJob: JobIndex = NO_JOB;
  readonly sum = new CompensatedSum();
  readonly areas = new CompensatedSum();
  readonly weighted = new CompensatedSum();

  add(value: number, area: number, job: JobIndex): void {
    if (this.count++ === 0 || value > this.max) {
      this.max = value;
      this.maxJob = job;
    }
    this.sum.add(value);
    this.areas.add(area);
    this.weighted.add(area * value);
  }

  get mean(): number {
    return this.count === 0 ? Number.NaN : this.sum.value / this.count;
  }
}

const SHARES = [0.5, 0.9, 0.95, 0.99] as const;

/**
 * Closes a distribution. The part from … to − 1 of `values` holds its values and is rearranged when quantiles are wanted.
 * @param squares sum of the squared deviations from the mean
 */
export function distributionOf(
  sums: DistributionSums,
  squares: number,
  ids: Int32Array,
  values: Float64Array,
  from: number,
  quantiles: boolean,
): Distribution {
  const { count, mean, max, maxJob } = sums;
  const cuts = quantiles ? quantilesInPlace(values, from, from + count, SHARES) : [];
  const areas = sums.areas.value;
  return {
    count,
    mean,
    sd: count < 2 ? Number.NaN : Math.sqrt(squares / (count - 1)),
    median: cuts[0] ?? Number.NaN,
    p90: cuts[1] ?? Number.NaN,
    p95: cuts[2] ?? Number.NaN,
    p99: cuts[3] ?? Number.NaN,
    max,
    maxJob,
    maxJobId: maxJob === NO_JOB ? -1 : ids[maxJob]!,
    areaWeightedMean: areas > 0 ? sums.weighted.value / areas : Number.NaN,
  };
}
