/**
 * Turns accepted requests into jobs: gives them numbers and enters them into the book. One cycle may bring
 * 10,000 jobs, so values that they share are computed once.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import { isEnded } from "../../protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import { type ChosenQueue, maskOf, nameOf, type Submission } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Needs } from "./share.ts";

/** A request and the results of its checks. */
export interface Accepted extends Submission {
  readonly needs: Needs;
  readonly queue: ChosenQueue;
  /** A dependency that should have succeeded but did not. */
  readonly unmet: JobNumber | undefined;
}

const NONE: readonly never[] = [];

/** Adds a batch to the book and the event log. Cancels jobs whose dependencies can no longer succeed. */
export function enterJobs(
  context: FrontEndParts,
  caller: Caller,
  batch: readonly Accepted[],
  key: string | undefined,
  nowMs: number,
): JobRecord[] {
  const { book, feed, scheduler, clock } = context;
  const atMs = clock.unixMs();
  const records = batch.flatMap((accepted) => recordsOf(context, caller, accepted, key, atMs));
  for (const record of records) {
    const { tasks, queue, reason } = record;
    feed.add("submitted", atMs, record, { tasks, queue });
    if (isEnded(record.state)) feed.add("cancelled", atMs, record, { reason: reason ?? null });
    else {
      scheduler.noteSubmit(record.job, nowMs);
      if (book.isEligible(record)) scheduler.arrived(record);
    }
  }
  return records;
}

/** The records of one request, added to the book. */
function recordsOf(
  { book, launcher, store: { contents } }: FrontEndParts,
  { uid, user }: Caller,
  { request, indices, arrayLimit, needs, queue, unmet }: Accepted,
  key: string | undefined,
  submittedAtMs: number,
): JobRecord[] {
  const { command, script, cwd, tasks = 1, priority = 0, after = NONE, retries = 0 } = request;
  const name = nameOf(request);
  const common = {
    name,
    uid,
    user,
    ...queue,
    tasks,
    priority,
    command,
    scriptWord: script?.word,
    cwd,
    limitMs: request.limitMs,
    memoryBytes: request.memoryBytes,
    after,
    retries,
    umask: maskOf(request),
    key,
    submittedAtMs,
    attempt: 0,
    nodes: NONE,
    ranMs: 0,
    ...(unmet === undefined
      ? {
          state: request.held ? ("held" as const) : ("queued" as const),
          environment: contents.keep(needs.environment),
          script: needs.script && contents.keep(needs.script),
        }
      : {
          state: "cancelled" as const,
          reason: `job ${unmet} did not succeed`,
          endedAtMs: submittedAtMs,
          environment: contents.nothing(),
        }),
  };
  let array: JobNumber | undefined;
  return indices.map((arrayIndex) => {
    const job = book.nextJob();
    if (arrayIndex !== undefined) array ??= job;
    const names = { job, array, arrayIndex, name, user, cwd };
    const record: JobRecord = {
      ...common,
      ...names,
      arrayLimit,
      stdout: launcher.outputPath(request.stdout, "stdout", names),
      stderr: launcher.outputPath(request.stderr, "stderr", names),
      queueRank: book.nextQueueRank(),
    };
    book.add(record);
    return record;
  });
}
