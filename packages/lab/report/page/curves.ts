/** The curves of a run: distributions on a fixed grid, and the machine over time. */
import { power } from "@tutti/kernel/core/elementary.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import {
  processorsInUse,
  queueLength,
  resample,
  rowsOverTime,
  type StepFunction,
} from "@tutti/kernel/metrics/over-time.ts";
import { METRICS } from "@tutti/kernel/metrics/registry.ts";
import type { Summary } from "@tutti/kernel/metrics/summary.ts";

/**
 * Places at which distributions are known: 40 for each factor of ten, from 1 to 10^8. They are the same for
 * all runs, so the curves of several policies need no interpolation.
 */
export const GRID: Float64Array = Float64Array.from(
  { length: 321 },
  (_, i) => Number(`1e${Math.floor(i / 40)}`) * power(10, (i % 40) / 40),
);

export interface RunCurves {
  /** Share of the counted jobs, 0 … 1, whose value is at most each of GRID. */
  readonly wait: Float64Array;
  readonly response: Float64Array;
  readonly slowdown: Float64Array;
  readonly inUse: StepFunction;
  readonly queue: StepFunction;
  /** The longest queue; the same as `queue` if no steps were joined. */
  readonly longestQueue: StepFunction;
  /** Rows of the matrix; undefined for space sharing. */
  readonly rows: StepFunction | undefined;
}

export function curvesOf(instance: Instance, schedule: Schedule, { window, parameters }: Summary): RunCurves {
  const { firstJob, endJob } = window;
  const shares = (name: string) => {
    const values = new Float64Array(endJob - firstJob);
    METRICS.find((metric) => metric.name === name)?.fill(values, instance, schedule, firstJob, parameters);
    return sharesUpTo(values);
  };
  const queue = queueLength(instance, schedule);
  return {
    wait: shares("wait"),
    response: shares("response"),
    slowdown: shares("bounded-slowdown"),
    inUse: processorsInUse(instance, schedule),
    queue,
    longestQueue: queue,
    rows: rowsOverTime(schedule),
  };
}

/** Joins steps until each curve has at most `steps` of them; means stay what they are. */
export function withFewerSteps(curves: RunCurves, steps: number): RunCurves {
  const joined = (curve: StepFunction, of: "mean" | "max"): StepFunction => {
    const { atS } = curve;
    if (atS.length <= steps) return curve;
    const [fromS, toS] = [atS[0], atS[atS.length - 1]];
    const value = new Float64Array(steps + 1);
    value.set(resample(curve, fromS, toS, steps)[of]);
    value[steps] = curve.value[curve.value.length - 1];
    return { atS: Float64Array.from(value, (_, i) => fromS + (i * (toS - fromS)) / steps), value };
  };
  return {
    ...curves,
    inUse: joined(curves.inUse, "mean"),
    queue: joined(curves.queue, "mean"),
    longestQueue: joined(curves.longestQueue, "max"),
    rows: curves.rows && joined(curves.rows, "mean"),
  };
}

/**
 * The share of the values that are at most each of GRID. Values that are missing (NaN) do not count.
 */
export function sharesUpTo(values: Float64Array): Float64Array {
  const counts = new Float64Array(GRID.length + 1);
  let known = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    known++;
    let low = 0;
    let high = GRID.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (GRID[middle] < value) low = middle + 1;
      else high = middle;
    }
    counts[low]++;
  }
  let sum = 0;
  return Float64Array.from(GRID, (_, i) => {
    sum += counts[i];
    return known === 0 ? Number.NaN : sum / known;
  });
}
