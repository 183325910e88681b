/** Sums and distributions of ended jobs. */
import { quantilesInPlace } from "@tutti/kernel/core/selection.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import type { Job } from "@tutti/protocol/answers.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";

/** In seconds; NaN for a job that never started. */
export function waitS({ submittedAtMs, startedAtMs }: Job): number {
  return startedAtMs === undefined ? Number.NaN : Math.max(0, startedAtMs - submittedAtMs) / 1000;
}

/**
 * Response over running time, at least 1; short running times count as the laboratory's bound. The running
 * time is the time with its CPUs, so waiting for its turn in the matrix counts as delay.
 */
export function boundedSlowdown({ submittedAtMs, startedAtMs, endedAtMs, ranMs }: Job): number {
  if (startedAtMs === undefined || endedAtMs === undefined) return Number.NaN;
  const responseS = (endedAtMs - submittedAtMs) / 1000;
  return Math.max(1, responseS / Math.max(ranMs / 1000, DEFAULT_METRIC_PARAMETERS.boundS));
}

export interface Sum {
  readonly key: string;
  readonly jobs: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** CPUs times running time, in seconds. */
  readonly cpuS: number;
  /** Of jobs that started; NaN if there are none. */
  readonly medianWaitS: number;
  readonly p90WaitS: number;
}

/** One sum for each key, the one with the most CPU time first. */
export function sumsBy(jobs: readonly Job[], keyOf: (job: Job) => string): Sum[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const group = groups.get(keyOf(job));
    if (group === undefined) groups.set(keyOf(job), [job]);
    else group.push(job);
  }
  return [...groups]
    .map(([key, group]) => sumOf(key, group))
    .sort((a, b) => b.cpuS - a.cpuS || (a.key < b.key ? -1 : 1));
}

export function sumOf(key: string, jobs: readonly Job[]): Sum {
  const waits = Float64Array.from(jobs, waitS).filter((seconds) => !Number.isNaN(seconds));
  const [medianWaitS, p90WaitS] = quantilesInPlace(waits, 0, waits.length, [0.5, 0.9]);
  const inState = (state: Job["state"]) => jobs.filter((job) => job.state === state).length;
  return {
    key,
    jobs: jobs.length,
    done: inState("done"),
    failed: inState("failed"),
    cancelled: inState("cancelled"),
    cpuS: jobs.reduce((sum, job) => sum + (processorsOf(job) * job.ranMs) / 1000, 0),
    medianWaitS,
    p90WaitS,
  };
}
