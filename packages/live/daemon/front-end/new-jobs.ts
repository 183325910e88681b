/**
 * Turns accepted requests into jobs: gives them numbers and enters them into the book. One cycle may bring
 * 10,000 jobs, so values that they share are computed once.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { EventPayloads } from "@tutti/protocol/events.ts";
import { fieldsWith } from "@tutti/protocol/job-fields.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { valuesAt } from "@tutti/protocol/sweep-values.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import { type ChosenQueue, maskOf, nameOf, type Submission } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { specsOf } from "../store/rows.ts";
import type { Needs } from "./share.ts";
import { type Entry, type Waits, withEntries } from "./waits.ts";

/** A request and the results of its checks. */
export interface Accepted extends Submission {
  readonly needs: Needs;
  readonly queue: ChosenQueue;
  /** What each of its jobs waits for; one for all, unless they differ. */
  readonly waits: readonly Waits[];
}

type Mutable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };

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
  const entries: Entry[] = [];
  for (const accepted of batch) {
    const jobs = recordsOf(context, caller, accepted, key, atMs, entries);
    entries.push({ jobs, byIndex: new Map(jobs.map((job) => [job.arrayIndex, job])) });
  }
  const records = entries.flatMap(({ jobs }) => jobs);
  let data: EventPayloads["submitted"] | undefined;
  for (const record of records) {
    const { tasks, threads, queue, reason, repeats } = record;
    // The events of an array share their data, which are then converted to text once.
    if (data?.tasks !== tasks || data.queue !== queue || data.threads !== threads || data.repeats !== repeats)
      data = { tasks, queue, threads, repeats };
    feed.add("submitted", atMs, record, data);
    if (isEnded(record.state)) {
      feed.add("cancelled", atMs, record, { reason: reason ?? null });
      context.news.ended(record);
    } else {
      scheduler.jobs.noteSubmit(record.job, nowMs);
      if (book.isEligible(record)) scheduler.arrived(record);
    }
  }
  return records;
}

/** The begin of a job, if it is in the future. */
export function delayUntilMs(
  { beginAtMs }: Pick<SubmitJob, "beginAtMs">,
  unixMs: number,
): number | undefined {
  return beginAtMs !== undefined && beginAtMs > unixMs ? beginAtMs : undefined;
}

/** Fields that a record has as the request asks for them; the others are made of them. */
const AS_ASKED = fieldsWith("request").filter(
  (field) => !["queue", "after", "array", "values", "held", "umask", "script", "env"].includes(field),
);

/** Most requests set few of these fields, and each that is set is in every record. */
function askedIn(request: SubmitJob): Partial<SubmitJob> {
  const asked: Record<string, unknown> = {};
  for (const field of AS_ASKED) if (request[field] !== undefined) asked[field] = request[field];
  return asked;
}

/** The records of one request, added to the book. */
function recordsOf(
  { book, launcher, store: { contents } }: FrontEndParts,
  { uid, user }: Caller,
  accepted: Accepted,
  key: string | undefined,
  submittedAtMs: number,
  entries: readonly Entry[],
): JobRecord[] {
  const { request, indices, arrayLimit, repeats, needs, queue, waits } = accepted;
  const { command, script, cwd, tasks = 1, priority = 0, retries = 0, tasksRun, singleton } = request;
  const name = nameOf(request);
  const record: JobRecord = {
    ...askedIn(request),
    ...queue,
    ...{ command, cwd, tasks, priority, retries, name, uid, user, key },
    scriptWord: script?.word,
    tasksRun: tasksRun === "each" ? tasksRun : undefined,
    singleton: singleton ? (true as const) : undefined,
    notBeforeMs: delayUntilMs(request, submittedAtMs),
    umask: maskOf(request),
    submittedAtMs,
    attempt: 0,
    nodes: NONE,
    ranMs: 0,
    environment: contents.keep(needs.environment),
    script: needs.script && contents.keep(needs.script),
    repeat: { stdout: request.stdout, stderr: request.stderr },
    arrayLimit,
    // Those that follow differ. A copy of an object that has all fields is made several times as fast as one
    // that gets its fields one by one.
    ...{
      job: 0,
      array: undefined,
      arrayIndex: undefined,
      values: undefined,
      after: NONE,
      repeats: undefined,
    },
    ...{ state: "queued", reason: undefined, endedAtMs: undefined, stdout: "", stderr: "", queueRank: 0 },
  };
  const differ =
    waits.length > 1 || request.after?.some((one) => one.entry !== undefined && one.kind === "each");
  const same = differ ? undefined : withEntries(accepted, 0, waits[0], entries);
  const specOf = specsOf(record);
  let array: JobNumber | undefined;
  return indices.map((arrayIndex, i) => {
    const made: Mutable<JobRecord> = { ...record };
    made.job = book.nextJob();
    if (arrayIndex !== undefined) array ??= made.job;
    const { after, unmet } = same ?? withEntries(accepted, i, waits[i] ?? waits[0], entries);
    made.array = array;
    made.arrayIndex = arrayIndex;
    if (request.values !== undefined) made.values = valuesAt(request.values, i);
    made.after = after;
    if (unmet === undefined) made.state = request.held ? "held" : "queued";
    else {
      made.state = "cancelled";
      made.reason = unmet;
      made.endedAtMs = submittedAtMs;
    }
    made.repeats = repeats?.[i];
    made.stdout = launcher.outputPath(request.stdout, "stdout", made);
    made.stderr = launcher.outputPath(request.stderr, "stderr", made);
    made.queueRank = book.nextQueueRank();
    book.add(made, specOf(made));
    return made;
  });
}
