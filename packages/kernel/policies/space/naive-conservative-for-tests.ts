/**
 * Implements conservative backfilling from its rules with arrays, sorts and loops, as a twin for tests. It
 * shares no code with the policy or its structures.
 */
/** A job of the twins. */
export interface NaiveJob {
  readonly row: number;
  readonly submitS: number;
  readonly estimateS: number;
  readonly size: number;
  startS: number;
  /** Conservative backfilling only. */
  reservedS: number;
}

export type Key = (job: NaiveJob, nowS: number) => number;

/** The smallest key is first; equal keys: order of submission. */
export const KEYS: Record<string, Key> = {
  arrival: () => 0,
  // As on a machine that does not count usage.
  "fair-share": () => 0,
  shortest: (job) => job.estimateS,
  longest: (job) => -job.estimateS,
  smallest: (job) => job.size,
  largest: (job) => -job.size,
  wfp: (job, nowS) => {
    const ratio = (nowS - job.submitS) / Math.max(job.estimateS, 1);
    return -job.size * ratio * ratio * ratio;
  },
};

export function inOrder<Job extends NaiveJob>(jobs: readonly Job[], key: Key, nowS: number): Job[] {
  return [...jobs].sort((a, b) => key(a, nowS) - key(b, nowS) || a.row - b.row);
}

interface NaiveState {
  readonly nowS: number;
  readonly waiting: readonly NaiveJob[];
  readonly running: readonly NaiveJob[];
  readonly arrived: readonly NaiveJob[];
  /** Whether a job has ended before its expected end, or was withdrawn, in this instant. */
  readonly endedEarly: boolean;
}

/**
 * Sets the reservations of all waiting jobs at an instant. Those that are due start; they are in queue order.
 */
export function decideConservatively(processors: number, state: NaiveState, key: Key): void {
  const { nowS, running, waiting, arrived, endedEarly } = state;
  // Processors in use at each time: by running jobs until their expected end, and by reservations.
  const taken = running.map((job) => ({ job, fromS: job.startS, untilS: job.startS + lengthS(job) }));
  const old = waiting.filter((job) => !arrived.includes(job));
  for (const job of old) taken.push({ job, fromS: job.reservedS, untilS: job.reservedS + lengthS(job) });
  const reserve = (job: NaiveJob) => {
    const others = taken.filter((one) => one.job !== job && one.untilS > nowS);
    job.reservedS = earliest(processors, others, job, nowS);
    const untilS = job.reservedS + lengthS(job);
    taken.splice(0, taken.length, ...others, { job, fromS: job.reservedS, untilS });
  };
  if (endedEarly) for (const job of inOrder(old, key, nowS)) reserve(job);
  for (const job of inOrder(arrived, key, nowS)) reserve(job);
}

/** A reservation for estimate 0 is one second long. */
export function lengthS(job: NaiveJob): number {
  return job.estimateS === 0 ? 1 : job.estimateS;
}

/**
 * The earliest time from `nowS` on at which the job fits in addition to the others for the length of its
 * reservation.
 */
function earliest(
  processors: number,
  others: readonly { job: NaiveJob; fromS: number; untilS: number }[],
  job: NaiveJob,
  nowS: number,
): number {
  const points = [...new Set([nowS, ...others.flatMap((one) => [one.fromS, one.untilS])])]
    .filter((timeS) => timeS >= nowS)
    .sort((a, b) => a - b);
  const free = points.map((timeS) => {
    let busy = 0;
    for (const one of others) if (one.fromS <= timeS && timeS < one.untilS) busy += one.job.size;
    return processors - busy;
  });
  for (let from = 0; from < points.length; from++) {
    let at = from;
    while (at < points.length && points[at] < points[from] + lengthS(job) && free[at] >= job.size) at++;
    if (at === points.length || (at > from && points[at] >= points[from] + lengthS(job))) return points[from];
  }
  throw new Error("after the last end everything is free");
}
