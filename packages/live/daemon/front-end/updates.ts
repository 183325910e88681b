/** Changes what a job asks for. A waiting job leaves the queue and arrives again, at the same place. */
import { calledOf, fieldsWith, JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import { type Answer, isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob, UpdateBody } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { refuseChangeOverLimits } from "../book/limit-refusal.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import { chooseQueue, hasNamedQueue, readBatch, refuseBegin } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { whyRefused } from "../scheduling/job-check.ts";
import { delayUntilMs } from "./new-jobs.ts";

type Field = keyof UpdateBody;

/** Fields that concern only what happens after the current attempt, or nothing but people. */
const WHILE_RUNNING: ReadonlySet<Field> = new Set(
  fieldsWith("changes").filter((field) => JOB_FIELDS[field].changes === "always"),
);
/** Fields that policies do not see. A name counts only between singletons. */
const UNSEEN = WHILE_RUNNING;
/** What a changed job asks for besides its queue. The check of a new priority is not for one that stays. */
const ASKED = fieldsWith("changes").filter((field) => field !== "queue" && field !== "priority");

/** @param record a job that the caller may change */
export function updateJob(
  context: FrontEndParts,
  caller: Caller,
  record: JobRecord,
  update: UpdateBody,
): Answer<JobRecord> {
  const fields = (Object.keys(update) as Field[]).filter((field) => !isSame(update[field], record[field]));
  if (isEnded(record.state)) {
    return refuse(
      "wrong-state",
      `Cannot change job ${record.job}: it has ended (${record.state}), expected a job that waits or runs; tutti rerun ${record.job} runs it again`,
    );
  }
  const isWaiting = record.state === "queued" || record.state === "held";
  const fixed = fields.filter((field) => !WHILE_RUNNING.has(field));
  if (!isWaiting && fixed.length > 0) {
    return refuseUpdate(
      record,
      `its ${fixed.map((field) => calledOf(field)).join(" and ")} cannot change once it has started; only its name and its retries can`,
    );
  }
  if (fields.length === 0) return record;
  const changes = changesOf(context, caller, record, update, fields);
  return isRefusal(changes) ? changes : carryOut(context, caller, record, fields, changes);
}

/** The fields of the record that change, checked as those of a new job. */
function changesOf(
  { limits, scheduler, clock, book }: FrontEndParts,
  caller: Caller,
  record: JobRecord,
  update: UpdateBody,
  fields: readonly Field[],
): Answer<Partial<JobRecord>> {
  const request: SubmitJob = {
    command: ["update"],
    cwd: "/",
    env: {},
    ...asked(record),
    ...(hasNamedQueue(record) && { queue: record.queue }),
    ...present(update),
  };
  const batch = readBatch(caller, [request], limits);
  if (isRefusal(batch)) return batch;
  const unixMs = clock.unixMs();
  const tooLate = refuseBegin(request, unixMs);
  if (tooLate !== undefined) return tooLate;
  const changes = Object.fromEntries(fields.map((field) => [field, update[field]])) as Partial<JobRecord>;
  const begin = fields.includes("beginAtMs") && { notBeforeMs: delayUntilMs(update, unixMs) };
  if (fields.every((field) => UNSEEN.has(field))) return changes;
  const chosen = chooseQueue(request, limits);
  if (isRefusal(chosen)) return chosen;
  const why = whyRefused(scheduler.options, scheduler.choice, { ...record, ...changes, ...chosen });
  if (why !== undefined) {
    const { label } = scheduler.choice;
    return refuse("too-large", `Cannot change job ${record.job} under policy "${label}": the job ${why}`);
  }
  const overLimits = refuseChangeOverLimits(book.limits, record, { ...record, ...changes, ...chosen });
  if (overLimits !== undefined) return overLimits;
  return { ...changes, queueReason: undefined, ...chosen, ...begin };
}

function carryOut(
  { book, feed, scheduler, clock }: FrontEndParts,
  { user }: Caller,
  record: JobRecord,
  fields: readonly Field[],
  changes: Partial<JobRecord>,
): JobRecord {
  const unixMs = clock.unixMs();
  const isSeen = fields.some((field) => !UNSEEN.has(field)) || record.singleton === true;
  if (isSeen) scheduler.withdrawn(record, "was changed");
  // Its begin is now: it joins the queue as a job does whose begin has come.
  const joins =
    record.notBeforeMs !== undefined && "notBeforeMs" in changes && changes.notBeforeMs === undefined;
  const changed = book.change(record, {
    ...changes,
    ...(joins && { eligibleAtMs: unixMs, queueRank: book.nextQueueRank() }),
  });
  // The queue may have followed the size.
  const others = fields.filter((field) => field !== "name" && field !== "queue");
  const noted: readonly Field[] = [
    ...others,
    ...(changed.queue === record.queue ? [] : (["queue"] as const)),
    // Last: see daemon/book/event-texts.ts.
    ...(fields.includes("name") ? (["name"] as const) : []),
  ];
  const valuesOf = (from: JobRecord) => Object.fromEntries(noted.map((field) => [field, from[field]]));
  feed.add("updated", unixMs, changed, { by: user, was: valuesOf(record), now: valuesOf(changed) });
  if (joins) scheduler.jobs.noteSubmit(changed.job, clock.nowMs());
  if (fields.includes("name")) withdrawNext(book.nextOfSameName(changed), scheduler);
  if (isSeen && book.isEligible(changed)) scheduler.arrived(changed);
  return changed;
}

/** A singleton that was the first of its name now waits for the job that got this name. */
function withdrawNext(next: JobRecord | undefined, scheduler: FrontEndParts["scheduler"]): void {
  if (next?.singleton && next.state === "queued")
    scheduler.withdrawn(next, "waits for a job that has its name");
}

function asked(record: JobRecord): Partial<SubmitJob> {
  return present(Object.fromEntries(ASKED.map((field) => [field, record[field]])));
}

function present(fields: Partial<SubmitJob>): Partial<SubmitJob> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function refuseUpdate({ job, state }: JobRecord, why: string): Answer<never> {
  return refuse("wrong-state", `Cannot change job ${job}: it is ${state}; ${why}`);
}
