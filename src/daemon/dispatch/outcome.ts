/** Determines the state of a job after an attempt has ended. */
import type { AttemptEnd } from "../../protocol/attempts.ts";
import type { JobState } from "../../protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";

/** Restarts, in addition to `retries`, after attempts that were lost before their command began. */
const TRIES_TO_BEGIN = 3;

/** The state of a job after the end of an attempt, with the reason. */
export function outcomeOf(record: JobRecord, end: AttemptEnd): { state: JobState; reason: string } {
  const mayStartAnew = record.attempt <= record.retries && record.ending !== "cancelled";
  if (end.reason === "cancelled") return { state: "cancelled", reason: "cancelled" };
  if (end.reason === "requeued") return { state: mayStartAnew ? "queued" : "failed", reason: "requeued" };
  if (end.reason === "shutdown") {
    return { state: mayStartAnew ? "queued" : "failed", reason: "the scheduler was shut down" };
  }
  if (end.reason === "time-limit") return { state: "failed", reason: "time limit" };
  if (end.reason === "memory-limit") return { state: "failed", reason: "memory limit" };
  if (end.lost !== undefined) {
    if (record.ending === "cancelled") return { state: "cancelled", reason: "cancelled" };
    const mayTryAgain = end.neverBegan && record.attempt <= record.retries + TRIES_TO_BEGIN;
    return { state: mayStartAnew || mayTryAgain ? "queued" : "failed", reason: `lost: ${end.lost}` };
  }
  if (end.signal !== undefined) return { state: "failed", reason: `ended by ${end.signal}` };
  return end.code === 0
    ? { state: "done", reason: "exit code 0" }
    : { state: "failed", reason: `exit code ${end.code}` };
}

/** What is recorded as the end of an attempt whose real end is unknown. */
export function lostEnd(record: JobRecord, ranMs: number, endedAtMs: number): AttemptEnd {
  const lost = "the conductor no longer knows this attempt; the machine or all of Tutti was stopped";
  return { ...endOf(record, endedAtMs), lost, ranMs };
}

/** The end of an attempt that was decided on but could not be launched. */
export function refusedEnd(record: JobRecord, why: string, endedAtMs: number): AttemptEnd {
  return { ...endOf(record, endedAtMs), lost: why };
}

function endOf({ job, attempt, identity }: JobRecord, endedAtMs: number): AttemptEnd {
  return { job, attempt, ...(identity !== undefined && { identity }), reason: "none", endedAtMs, ranMs: 0 };
}
