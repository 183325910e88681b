/**
 * Computes facts about a workload, by the definitions of the usual tables for logs of the Parallel Workloads
 * Archive: jobs with run time 0 are counted, and all other numbers cover only jobs with a run time above 0.
 */
import type { Workload } from "../core/jobs.ts";
import { selectInPlace } from "../core/selection.ts";
import { offeredLoad } from "./scale.ts";

export interface Spread {
  readonly min: number;
  /** Middle value; of an even number of values, the mean of the middle two. */
  readonly median: number;
  readonly mean: number;
  readonly max: number;
}

/** Facts that the workload does not contain are undefined. Shares are 0 … 1. */
interface WorkloadFacts {
  readonly jobs: number;
  /** Jobs with run time 0; the facts below leave them out. */
  readonly zeroRunJobs: number;
  readonly processors: number | undefined;
  readonly firstSubmitS: number | undefined;
  readonly lastSubmitS: number | undefined;
  /** From the first to the last submit. */
  readonly spanS: number | undefined;
  /** Σ(run time × size) ÷ (processors × span). */
  readonly offeredLoad: number | undefined;
  readonly size: Spread | undefined;
  readonly runS: Spread | undefined;
  /** Waits that the log recorded. */
  readonly waitS: Spread | undefined;
  /** Share of jobs of size 1. */
  readonly serialShare: number | undefined;
  /** Share of jobs whose size is a power of two above 1. */
  readonly powerOfTwoShare: number | undefined;
  readonly estimates: number;
  /** Jobs that ran longer than their estimate. */
  readonly overruns: number;
  /** Number of different users. */
  readonly users: number | undefined;
}

/**
 * Computes the facts in linear time; copies three columns.
 * @param processors size of the machine, for the offered load; by default the size that the workload names
 */
export function describeWorkload(workload: Workload, processors = workload.processors): WorkloadFacts {
  const { count, jobs, trace } = workload;
  let described = 0;
  let firstSubmitS = Number.POSITIVE_INFINITY;
  let lastSubmitS = Number.NEGATIVE_INFINITY;
  let serial = 0;
  let powersOfTwo = 0;
  let estimates = 0;
  let overruns = 0;
  const users = new Set<number>();
  for (let row = 0; row < count; row++) {
    if (jobs.runS[row] <= 0) continue;
    described++;
    const size = jobs.size[row];
    firstSubmitS = Math.min(firstSubmitS, jobs.submitS[row]);
    lastSubmitS = Math.max(lastSubmitS, jobs.submitS[row]);
    if (size === 1) serial++;
    else if ((size & (size - 1)) === 0) powersOfTwo++;
    if (jobs.estimateS[row] >= 0) estimates++;
    if (jobs.estimateS[row] >= 0 && jobs.runS[row] > jobs.estimateS[row]) overruns++;
    if (trace !== undefined && trace.user[row] >= 0) users.add(trace.user[row]);
  }
  const some = described > 0;
  const spanS = some ? lastSubmitS - firstSubmitS : undefined;
  const positiveRun = (row: number) => jobs.runS[row] > 0;
  return {
    jobs: count,
    zeroRunJobs: count - described,
    processors,
    firstSubmitS: some ? firstSubmitS : undefined,
    lastSubmitS: some ? lastSubmitS : undefined,
    spanS,
    offeredLoad: processors === undefined ? undefined : offeredLoad(jobs, processors),
    size: spreadOf(jobs.size, positiveRun),
    runS: spreadOf(jobs.runS, positiveRun),
    waitS: trace && spreadOf(trace.waitS, (row) => positiveRun(row) && trace.waitS[row] >= 0),
    serialShare: some ? serial / described : undefined,
    powerOfTwoShare: some ? powersOfTwo / described : undefined,
    estimates,
    overruns,
    users: users.size > 0 ? users.size : undefined,
  };
}

/** Spread over the rows for which the condition holds; undefined if there are none. */
function spreadOf(column: Float64Array | Int32Array, holds: (row: number) => boolean): Spread | undefined {
  const values = new Float64Array(column.length);
  let count = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let row = 0; row < column.length; row++) {
    if (!holds(row)) continue;
    const value = column[row];
    values[count++] = value;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (count === 0) return undefined;
  selectInPlace(values, 0, count - 1, count >> 1);
  const upper = values[count >> 1];
  // No value before the upper middle value is above it.
  let lower = upper;
  if (count % 2 === 0) {
    lower = min;
    for (let i = 0; i < count >> 1; i++) if (values[i] > lower) lower = values[i];
  }
  return { min, median: (lower + upper) / 2, mean: sum / count, max };
}
