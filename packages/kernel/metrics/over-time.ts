/**
 * Describes the machine over time as step functions, and reduces these to as many points as a chart has
 * pixels.
 *
 *        3 ┤      ┌──┐
 *        1 ┤   ┌──┘  │
 *        0 ┼───┘     └────
 *
 * A step function has value i from `atS[i]` to `atS[i + 1]`, and 0 before the first time. No two neighbors
 * have the same time or the same value.
 */
import type { Instance } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import { orderOf } from "./quantiles.ts";
import { stretchesOf } from "./stretches.ts";

export interface StepFunction {
  /** Strictly ascending. */
  readonly atS: Float64Array;
  readonly value: Float64Array;
}

/** A step function over buckets of equal length. */
interface BucketSeries {
  readonly fromS: number;
  readonly toS: number;
  /** Mean over the bucket's time. */
  readonly mean: Float64Array;
  /** Largest value that holds for some time within the bucket. */
  readonly max: Float64Array;
}

/** Jobs that have been submitted and not started. A job that starts when it is submitted never appears. */
export function queueLength(instance: Instance, schedule: Schedule): StepFunction {
  const submits = instance.submitS.subarray(0, instance.count);
  const order = orderOf(submits);
  return stepsOf(submits, order, schedule.startS, orderOf(schedule.startS), undefined);
}

/**
 * Processors given to running jobs. On a machine whose rows take turns, a job counts from its first to its
 * last slot, so the value is the demand of the running gangs, and it exceeds the machine if there is more
 * than one full row.
 */
export function processorsInUse(instance: Instance, schedule: Schedule): StepFunction {
  const { startS, endS, size } = stretchesOf(instance, schedule);
  return stepsOf(startS, orderOf(startS), endS, orderOf(endS), size);
}

/** Rows of the matrix; undefined for space sharing. */
export function rowsOverTime(schedule: Schedule): StepFunction | undefined {
  const gang = schedule.gang;
  if (gang === undefined) return undefined;
  const steps = new StepBuilder(gang.rows.length);
  for (let i = 0; i < gang.rows.length; i++) steps.set(gang.rowsAtS[i], gang.rows[i]);
  return steps.done();
}

/** Time-weighted mean and maximum in each of `buckets` equal parts of fromS … toS. */
export function resample(steps: StepFunction, fromS: number, toS: number, buckets: number): BucketSeries {
  if (!(Number.isInteger(buckets) && buckets >= 1 && toS > fromS)) {
    throw new RangeError(
      `Cannot divide ${fromS} … ${toS} s into ${buckets} buckets: expected a positive span and 1 or more buckets`,
    );
  }
  const { atS, value } = steps;
  const mean = new Float64Array(buckets);
  const max = new Float64Array(buckets);
  const lengthS = (toS - fromS) / buckets;
  let next = 0;
  let present = 0;
  while (next < atS.length && atS[next] <= fromS) present = value[next++];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const startS = fromS + bucket * lengthS;
    const endS = bucket === buckets - 1 ? toS : fromS + (bucket + 1) * lengthS;
    let sinceS = startS;
    let area = 0;
    let highest = next < atS.length && atS[next] <= startS ? Number.NEGATIVE_INFINITY : present;
    while (next < atS.length && atS[next] < endS) {
      area += present * (atS[next] - sinceS);
      sinceS = atS[next];
      present = value[next++];
      if (present > highest) highest = present;
    }
    area += present * (endS - sinceS);
    mean[bucket] = area / (endS - startS);
    max[bucket] = highest;
  }
  return { fromS, toS, mean, max };
}

/**
 * Merges ups and downs, each in time order; all changes of one instant count before its value is recorded.
 */
function stepsOf(
  upS: Float64Array,
  upOrder: Uint32Array,
  downS: Float64Array,
  downOrder: Uint32Array,
  weight: Int32Array | undefined,
): StepFunction {
  const steps = new StepBuilder(upOrder.length + downOrder.length);
  let up = 0;
  let down = 0;
  let present = 0;
  while (up < upOrder.length || down < downOrder.length) {
    const nextUpS = up < upOrder.length ? upS[upOrder[up]] : Number.POSITIVE_INFINITY;
    const nextDownS = down < downOrder.length ? downS[downOrder[down]] : Number.POSITIVE_INFINITY;
    const atS = Math.min(nextUpS, nextDownS);
    while (up < upOrder.length && upS[upOrder[up]] === atS) {
      present += weight === undefined ? 1 : weight[upOrder[up]];
      up++;
    }
    while (down < downOrder.length && downS[downOrder[down]] === atS) {
      present -= weight === undefined ? 1 : weight[downOrder[down]];
      down++;
    }
    steps.set(atS, present);
  }
  return steps.done();
}

class StepBuilder {
  readonly #atS: Float64Array;
  readonly #value: Float64Array;
  #length = 0;

  constructor(capacity: number) {
    this.#atS = new Float64Array(capacity);
    this.#value = new Float64Array(capacity);
  }

  /** Times must ascend; a second value for the same time replaces the first. */
  set(atS: number, value: number): void {
    if (this.#length > 0 && this.#atS[this.#length - 1] === atS) this.#length--;
    const before = this.#length === 0 ? 0 : this.#value[this.#length - 1];
    if (before === value) return;
    this.#atS[this.#length] = atS;
    this.#value[this.#length++] = value;
  }

  done(): StepFunction {
    return { atS: this.#atS.slice(0, this.#length), value: this.#value.slice(0, this.#length) };
  }
}
