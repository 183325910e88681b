/** Pauses running jobs and resumes them: what changes in the job book and in the scheduler. */
import type { JobRecord } from "../contract/record.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

type Parts = Pick<FrontEndParts, "book" | "feed" | "scheduler" | "clock">;

/** @param release under space sharing, other jobs may use its CPUs */
export function pauseJob(
  { book, feed, scheduler, clock }: Parts,
  record: JobRecord,
  release: boolean,
  by: string,
  nowMs = clock.nowMs(),
  pausedAtMs = clock.unixMs(),
): JobRecord {
  const { job } = record;
  const ranMs = scheduler.ranMs(job, nowMs);
  // From now on, its running time stands still.
  scheduler.jobs.noteRan(job, ranMs);
  scheduler.jobs.notePause(job, nowMs);
  scheduler.setPaused(record, true, nowMs);
  const paused = book.change(record, {
    state: "paused",
    pausedAtMs,
    ...(release && { released: true as const }),
    ranMs,
    reason: `paused by ${by}`,
  });
  feed.add("paused", pausedAtMs, paused, { by, ...(release && { release }) });
  return paused;
}

export function resumeJob({ book, feed, scheduler, clock }: Parts, record: JobRecord, by: string): JobRecord {
  scheduler.setPaused(record, false, clock.nowMs());
  const resumed = book.change(record, {
    state: record.startedAtMs === undefined ? "starting" : "running",
    pausedAtMs: undefined,
    reason: undefined,
  });
  feed.add("resumed", clock.unixMs(), resumed, { by });
  return resumed;
}

/** The attempt is over, or is no longer to be paused. */
export function withoutPause({ pausedAtMs, released }: JobRecord): Partial<JobRecord> {
  return pausedAtMs === undefined && released === undefined
    ? {}
    : { pausedAtMs: undefined, released: undefined };
}

/** The policy has given the job CPUs again. A paused one keeps the note that it waits when it is resumed. */
export function hasCpusAgain({ state, released }: JobRecord): Partial<JobRecord> {
  return released === undefined || state === "paused" ? {} : { released: undefined };
}

/** Nobody has resumed the job, so it does not start again by itself. */
export function reasonToHoldPaused({ pausedAtMs }: JobRecord, because: string): string | undefined {
  return pausedAtMs === undefined ? undefined : `it was paused when its attempt ended (${because})`;
}
