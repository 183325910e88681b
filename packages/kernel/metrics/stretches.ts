/** Lists when jobs had their processors: from start to end, or in several stretches if they were stopped. */
import type { Instance, JobIndex } from "../core/jobs.ts";
import { asGiven, type Schedule } from "../core/schedule.ts";

/**
 * One row for each stretch: first the jobs' rows, with the first stretch of each job, then further stretches.
 */
export interface Stretches {
  readonly startS: Float64Array;
  /** NaN if the simulation stopped before the end. */
  readonly endS: Float64Array;
  readonly size: Int32Array;
  jobOf(row: number): JobIndex;
}

export function stretchesOf(instance: Instance, schedule: Schedule): Stretches {
  const { count, size } = asGiven(instance, schedule);
  const { startS, endS, pauses } = schedule;
  if (pauses === undefined) return { startS, endS, size, jobOf: (row) => row };
  const ran = pauses.filter(({ untilS }) => !Number.isNaN(untilS));
  const jobs = Int32Array.from([...Array(count).keys(), ...ran.map(({ job }) => job)]);
  // A pause ends the last stretch so far of its job, and begins the next.
  const starts = Float64Array.from([...startS, ...ran.map(({ untilS }) => untilS)]);
  const ends = Float64Array.from([...endS, ...ran.map(() => Number.NaN)]);
  const lastOf = new Map<JobIndex, number>();
  for (const [i, { job, fromS }] of ran.entries()) {
    const last = lastOf.get(job) ?? job;
    ends[count + i] = ends[last];
    ends[last] = fromS;
    lastOf.set(job, count + i);
  }
  for (const { job, fromS, untilS } of pauses) if (Number.isNaN(untilS)) ends[lastOf.get(job) ?? job] = fromS;
  return { startS: starts, endS: ends, size: jobs.map((job) => size[job]), jobOf: (row) => jobs[row] };
}
