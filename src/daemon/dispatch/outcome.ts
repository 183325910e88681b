/** Determines the state of a job after an attempt has ended. */
import { type AttemptEnd, type EndReason, USAGE_FIELDS } from "../../protocol/attempts.ts";
import type { JobState } from "../../protocol/states.ts";
import { chargedStarts, type JobRecord } from "../contract/record.ts";
import { retryAfterMs } from "./retries.ts";

/** Restarts, in addition to `retries`, after attempts that were lost before their command began. */
const TRIES_TO_BEGIN = 3;

/** Ends that somebody asked for. They say nothing about the program. */
const ASKED: ReadonlySet<EndReason> = new Set(["requeued", "shutdown"]);

interface Outcome {
  readonly state: JobState;
  readonly reason: string;
  /** The attempt does not count against the retries. */
  readonly isUncharged?: true;
  /** How long the job waits before it is queued again; left out: not at all. */
  readonly delayMs?: number;
}

/** The state of a job after the end of an attempt, with the reason. */
export function outcomeOf(record: JobRecord, end: AttemptEnd): Outcome {
  const outcome = outcomeOfAttempt(record, end);
  if (outcome.state !== "failed" || end.lost !== undefined || ASKED.has(end.reason)) return outcome;
  const delayMs = retryAfterMs(record, end);
  return delayMs === undefined ? outcome : { state: "queued", reason: outcome.reason, delayMs };
}

function outcomeOfAttempt(record: JobRecord, end: AttemptEnd): Outcome {
  const starts = chargedStarts(record);
  const mayStartAnew = starts <= record.retries && record.ending !== "cancelled";
  const isUnfinished = end.reason === "requeued" || end.lost !== undefined;
  if (record.ending === "made-room" && isUnfinished) {
    return { state: "queued", reason: "the allocation ended", isUncharged: true };
  }
  // Perhaps it was cancelled while it was already asked to end for another reason.
  const isCancelled = end.reason === "requeued" && record.ending === "cancelled";
  if (end.reason === "cancelled" || isCancelled) return { state: "cancelled", reason: "cancelled" };
  if (end.reason === "requeued" && record.ending === undefined) {
    // Nobody asked: the cluster has taken the node away.
    return { state: "queued", reason: "the allocation ended", isUncharged: true };
  }
  // Its program may have ended before it heard that it should, as a script that requeues itself does.
  if (end.reason === "requeued" || record.ending === "requeued")
    return { state: mayStartAnew ? "queued" : "failed", reason: "requeued" };
  if (end.reason === "shutdown") {
    return { state: mayStartAnew ? "queued" : "failed", reason: "the scheduler was shut down" };
  }
  if (end.reason === "time-limit") return { state: "failed", reason: "time limit" };
  if (end.reason === "memory-limit") return { state: "failed", reason: "memory limit" };
  if (end.lost !== undefined) {
    if (record.ending === "cancelled") return { state: "cancelled", reason: "cancelled" };
    const mayTryAgain = end.neverBegan && starts <= record.retries + TRIES_TO_BEGIN;
    return { state: mayStartAnew || mayTryAgain ? "queued" : "failed", reason: `lost: ${end.lost}` };
  }
  if (end.signal !== undefined) return { state: "failed", reason: `ended by ${end.signal}` };
  return end.code === 0
    ? { state: "done", reason: "exit code 0" }
    : { state: "failed", reason: `exit code ${end.code}` };
}

/** The reason that the executor gets: making room is a requeue. */
export function sentReason(ending: NonNullable<JobRecord["ending"]>): EndReason {
  return ending === "made-room" ? "requeued" : ending;
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

/** What the attempt used; undefined: nothing was counted. */
export function usageOf(end: AttemptEnd): JobRecord["usage"] {
  const counted = USAGE_FIELDS.flatMap((field) => (end[field] === undefined ? [] : [[field, end[field]]]));
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}
