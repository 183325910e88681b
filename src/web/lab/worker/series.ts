/** Computes the curves of a run in the worker: distributions on a fixed grid, and the machine over time. */
import type { Instance } from "../../../core/jobs.ts";
import type { Schedule } from "../../../core/schedule.ts";
import { processorsInUse, queueLength, type StepFunction } from "../../../metrics/over-time.ts";
import { METRICS } from "../../../metrics/registry.ts";
import type { Summary } from "../../../metrics/summary.ts";

/**
 * Places at which distributions are known: 40 for each factor of ten, from 1 to 10^8. They are the same for
 * all runs, so the curves of several policies need no interpolation.
 */
export const GRID: Float64Array = Float64Array.from({ length: 321 }, (_, i) => 10 ** (i / 40));

export interface RunSeries {
  /** Share of the counted jobs, 0 … 1, whose value is at most each of GRID. */
  readonly wait: Float64Array;
  readonly slowdown: Float64Array;
  readonly inUse: StepFunction;
  readonly queue: StepFunction;
}

export function seriesOf(instance: Instance, schedule: Schedule, { window, parameters }: Summary): RunSeries {
  const { firstJob, endJob } = window;
  const shares = (name: string) => {
    const values = new Float64Array(endJob - firstJob);
    METRICS.find((metric) => metric.name === name)?.fill(values, instance, schedule, firstJob, parameters);
    return sharesUpTo(values);
  };
  return {
    wait: shares("wait"),
    slowdown: shares("bounded-slowdown"),
    inUse: processorsInUse(instance, schedule),
    queue: queueLength(instance, schedule),
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
