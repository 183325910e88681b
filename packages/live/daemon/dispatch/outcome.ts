/** Determines the state of a job after an attempt has ended. */
import { type AttemptEnd, type EndReason, USAGE_FIELDS } from "@tutti/protocol/attempts.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import { chargedStarts, type JobRecord } from "../contract/record.ts";
import { retryAfterMs } from "./retries.ts";

/** Attempts that ended before their command began do not count as starts, up to that many. */
const FREE_STARTS = 3;

/** Restarts of a job without `retries` after its CPUs were taken away; others have their `retries`. */
const RESTARTS_AT_END = 1;

const NOT_READ_AGAIN =
  "the allocation ended, and what the job read is not kept for another start: let it read a file";

/** Ends that somebody asked for. They say nothing about the program. */
const ASKED: ReadonlySet<EndReason> = new Set(["requeued", "shutdown"]);

interface Outcome {
  readonly state: JobState;
  readonly reason: string;
  /** How long the job waits before it is queued again; left out: not at all. */
  readonly delayMs?: number;
}

/** Whether the attempt does not count as a start of the job: its command never began. */
export function isFree({ uncharged = 0 }: JobRecord, { neverBegan }: AttemptEnd): boolean {
  return neverBegan === true && uncharged < FREE_STARTS;
}

/** The state of a job after the end of an attempt, with the reason. */
export function outcomeOf(record: JobRecord, end: AttemptEnd): Outcome {
  const outcome = outcomeOfAttempt(record, end);
  if (outcome.state !== "failed" || end.lost !== undefined || ASKED.has(end.reason)) return outcome;
  if (record.ending === "cancelled") return outcome;
  const delayMs = retryAfterMs(record, end, startsUntil(record, end));
  return delayMs === undefined ? outcome : { state: "queued", reason: outcome.reason, delayMs };
}

function outcomeOfAttempt(record: JobRecord, end: AttemptEnd): Outcome {
  const mayStartAnew = startsUntil(record, end) <= record.retries;
  const isAtLimit = end.reason === "time-limit" || end.reason === "memory-limit";
  // A cancel that was accepted holds, although the attempt may have ended before anybody heard of it.
  const isCancelled = record.ending === "cancelled" && !isAtLimit;
  if (end.reason === "cancelled" || isCancelled) return { state: "cancelled", reason: "cancelled" };
  const isUnfinished = end.reason === "requeued" || end.lost !== undefined;
  if (record.ending === "made-room" && isUnfinished) {
    return outcomeAtEnd(record, end);
  }
  if (end.reason === "requeued" && record.ending === undefined) {
    // Nobody asked: the cluster has taken the node away.
    return outcomeAtEnd(record, end);
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
    return { state: mayStartAnew ? "queued" : "failed", reason: `lost: ${end.lost}` };
  }
  if (end.signal !== undefined) return { state: "failed", reason: `ended by ${end.signal}` };
  return end.code === 0
    ? { state: "done", reason: "exit code 0" }
    : { state: "failed", reason: `exit code ${end.code}` };
}

/**
 * The CPUs of the job were taken away before it ended. That counts like any other start, or a job that needs
 * more time than CPUs are there would be started for ever.
 */
function outcomeAtEnd(record: JobRecord, end: AttemptEnd): Outcome {
  const starts = startsUntil(record, end);
  const most = mostRestartsAtEnd(record);
  const restarts = `at most ${most} ${most === 1 ? "restart" : "restarts"}`;
  if (starts <= most && isFree(record, end))
    return { state: "queued", reason: "the allocation ended before it began" };
  if (starts <= most) return { state: "queued", reason: `the allocation ended (${starts} of ${restarts})` };
  if (most === 0) return { state: "failed", reason: NOT_READ_AGAIN };
  const advice = "ask for more with --retries, or for longer pilots (tutti serve --time)";
  return { state: "failed", reason: `the allocation ended again, after ${restarts}: ${advice}` };
}

/** Starts that count, with the attempt that has this end. */
function startsUntil(record: JobRecord, end: AttemptEnd): number {
  return chargedStarts(record) - Number(isFree(record, end));
}

function mostRestartsAtEnd({ retries, input }: Pick<JobRecord, "retries" | "input">): number {
  if (input === "pipe") return 0;
  return Math.max(retries, RESTARTS_AT_END);
}

/** How often a job may start again if its CPUs are taken away now and later. */
export function restartsAtEnd(record: JobRecord): number {
  return Math.max(0, mostRestartsAtEnd(record) + 1 - chargedStarts(record));
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
  return { job, attempt, identity, reason: "none", endedAtMs, ranMs: 0 };
}

/** What the attempt used; undefined: nothing was counted. */
export function usageOf(end: AttemptEnd): JobRecord["usage"] {
  const counted = USAGE_FIELDS.flatMap((field) => (end[field] === undefined ? [] : [[field, end[field]]]));
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}
