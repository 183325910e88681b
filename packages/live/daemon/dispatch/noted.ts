/**
 * Learns from the conductor's record what happened to an attempt while no front end was there, or what an
 * older store has forgotten.
 */
import type { AttemptEnd, AttemptState } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { pauseJob, resumeJob } from "./pauses.ts";

/** The user who has paused or resumed a job, as far as an older store can tell. */
const MISSING_REQUEST = "a request that this older store does not have";

/** When its command began; undefined: it has not, or nobody knows. */
export function notedStart({ record, about }: AttemptState): number | undefined {
  // Conductors of earlier versions list it only here, and say 0 if the one before died at the gate.
  return record === undefined ? about?.startedAtMs || undefined : record.startedAtMs;
}

/** Its command has begun, as a report of its start or of its end says. @param startedAtMs undefined: no */
export function noteStart(
  { book, feed, store, news }: FrontEndParts,
  record: JobRecord,
  startedAtMs: number | undefined,
): JobRecord {
  if (record.startedAtMs !== undefined || startedAtMs === undefined) return record;
  store.noteAttemptStart(record, startedAtMs);
  const state = record.state === "starting" ? "running" : record.state;
  const running = book.change(record, { state, startedAtMs });
  feed.add("started", startedAtMs, running, { attempt: record.attempt, startedAtMs });
  news.started(running);
  return running;
}

/** Its end, with its start. */
export function notedEnd(attempt: AttemptState): AttemptEnd | undefined {
  const { end } = attempt;
  const startedAtMs = end?.startedAtMs ?? notedStart(attempt);
  return end && startedAtMs !== undefined ? { ...end, startedAtMs } : end;
}

/** The store is older than the record: requests about a running attempt may be missing in it. */
export function followNoted(
  parts: FrontEndParts,
  record: JobRecord,
  attempt: AttemptState | undefined,
  nowMs: number,
): JobRecord {
  const noted = attempt?.record;
  if (attempt === undefined || noted === undefined || attempt.phase === "ended") return record;
  if (record.state === "ending") return record;
  const { book, scheduler } = parts;
  scheduler.jobs.noteRan(record.job, attempt.ranMs);
  const reason = noted.ending?.reason;
  if (reason === "cancelled" || reason === "requeued") {
    return book.change(record, { state: "ending", ending: reason });
  }
  const { pausedAtMs } = noted;
  const isPaused = record.state === "paused";
  if (pausedAtMs !== undefined && !isPaused) {
    return pauseJob(parts, record, false, MISSING_REQUEST, nowMs, pausedAtMs);
  }
  return pausedAtMs === undefined && isPaused ? resumeJob(parts, record, MISSING_REQUEST) : record;
}
