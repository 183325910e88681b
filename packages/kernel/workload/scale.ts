/**
 * Computes the offered load, and scales it through the arrival times: all gaps between submits are multiplied
 * by one factor, and the jobs stay unchanged. This keeps run times, sizes and the order of jobs, but it also
 * stretches the daily cycle.
 */
import { InputError } from "../core/errors.ts";
import { type JobColumns, UNKNOWN, type Workload } from "../core/jobs.ts";

/** With more, all jobs arrive practically at once, and anything larger is a typing error. */
export const MAX_LOAD = 1_000_000;

/**
 * Σ(run time × size) ÷ (processors × time from the first to the last submit), over jobs with a run time above
 * 0. Undefined if there is no such job, or if all of them are submitted at the same time.
 */
export function offeredLoad({ submitS, runS, size }: JobColumns, processors: number): number | undefined {
  let firstS = Number.POSITIVE_INFINITY;
  let lastS = Number.NEGATIVE_INFINITY;
  let work = 0;
  for (let row = 0; row < runS.length; row++) {
    if (runS[row] <= 0) continue;
    firstS = Math.min(firstS, submitS[row]);
    lastS = Math.max(lastS, submitS[row]);
    work += runS[row] * size[row];
  }
  return lastS > firstS ? work / (processors * (lastS - firstS)) : undefined;
}

/**
 * Multiplies all gaps between submits; the first submit keeps its time. A factor of 0.5 doubles the load. The
 * waits that the log recorded no longer fit the submits and become unknown.
 * @param factor above 0
 * @throws InputError if the factor is not above 0 or moves submit times beyond 10^12 s, or if the workload
 *   has events
 */
export function scaleArrivals(workload: Workload, factor: number): Workload {
  if (!(factor > 0 && factor < Number.POSITIVE_INFINITY)) {
    throw new InputError(
      `Cannot scale the arrivals of "${workload.name}" by ${factor}: expected a number above 0`,
    );
  }
  if (workload.events !== undefined) {
    throw new InputError(
      `Cannot scale the arrivals of "${workload.name}": its ${workload.events.length} events, such as drains and pauses, have fixed times, expected a workload without events`,
    );
  }
  const { count, jobs, trace } = workload;
  const note = `submit times scaled by ${factor}, counted from the first`;
  const firstS = count > 0 ? jobs.submitS[0] : 0;
  const submitS = jobs.submitS.map((at) => firstS + (at - firstS) * factor);
  if (count > 0 && !(submitS[count - 1] <= LATEST_S)) {
    throw new InputError(
      `Cannot scale the arrivals of "${workload.name}" by ${factor}: the last job would be submitted at ${submitS[count - 1]} s, expected at most ${LATEST_S} s`,
    );
  }
  return {
    ...workload,
    name: `${workload.name}, ${note}`,
    jobs: { ...jobs, submitS },
    trace: trace && { ...trace, waitS: trace.waitS.map(() => UNKNOWN) },
    header: workload.header.length === 0 ? [] : [...workload.header, `; Note: ${note}`],
  };
}

/**
 * Scales the arrivals to an offered load.
 * @throws InputError if the load of the workload is unknown, or the new load is not above 0
 */
export function scaleToLoad(workload: Workload, load: number, processors: number): Workload {
  const present = offeredLoad(workload.jobs, processors);
  if (!(load > 0 && load <= MAX_LOAD)) {
    throw new InputError(
      `Cannot scale "${workload.name}" to an offered load of ${load}: expected a number above 0, at most ${MAX_LOAD}; 1 is a machine that is just full`,
    );
  }
  if (present === undefined) {
    throw new InputError(
      `Cannot scale "${workload.name}" to an offered load of ${load}: its ${workload.count} jobs have no offered load, expected at least two jobs with a run time above 0 and different submit times`,
    );
  }
  return scaleArrivals(workload, present / load);
}

/** The largest submit time that the readers accept. */
const LATEST_S = 1e12;
