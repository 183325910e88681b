/**
 * Defines the requests of the API as schemas. The OpenAPI document does not show checks made with `refine`.
 */
import { z } from "zod";
import { jobState, optional, type Value } from "./atoms.ts";
import { whole } from "./issue-text.ts";
import { fieldsWith } from "./job-fields.ts";
import { label, submitJob } from "./job-schemas.ts";
import * as limits from "./limits.ts";
import { JOB_SIGNALS, SIGNAL_TARGETS } from "./signals.ts";

export { kernelText, submitJob } from "./job-schemas.ts";

const priority = whole(limits.MIN_PRIORITY, limits.MAX_PRIORITY);

export const submitBody = z.strictObject({
  jobs: z
    .array(submitJob)
    .min(1)
    .max(limits.MAX_JOBS_PER_BATCH)
    .describe("Either all jobs are accepted or none"),
  key: optional(
    label(limits.MAX_KEY_LENGTH),
    "Makes a repeated request harmless: a second request of the same user with this key returns the same jobs",
  ),
});

export const policyBody = z.strictObject({
  policy: z.string().min(1).max(500).describe("Name and parameters, such as easy:order=shortest"),
});
const chosen = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, true])) as Record<Name, true>;
const updateFields = submitJob.pick(chosen(fieldsWith("changes")));
export const updateBody = updateFields
  .refine(
    (body) => Object.keys(body).length > 0,
    "changes nothing, expected a field such as tasks or limitMs",
  )
  .describe(
    "What changes. A waiting job keeps its place in the queue. Of a job that has started, only name, retries, retryOn and retryDelayMs can change",
  );
const changeAction = z.enum([
  "cancel",
  "hold",
  "release",
  "requeue",
  "pause",
  "resume",
  "signal",
  "priority",
  "update",
]);
export const signalBody = z.strictObject({
  name: z.enum(JOB_SIGNALS).describe("To stop and continue a job, pause and resume it instead"),
  to: optional(
    z.enum(SIGNAL_TARGETS),
    "Which processes get it. steps: those that srun has started in a script, which may be none; of a job without a script, all. script: only the first process. Default: all",
  ),
});
/** A list of numbers as text, long enough for all jobs of a batch. */
export const jobNumbers = z
  .string()
  .max(200_000)
  .regex(
    /^\d{1,15}(?:-\d{1,15})?(?:,\d{1,15}(?:-\d{1,15})?)*$/,
    "is not a list of job numbers such as 3-9,12",
  );
export const batchBody = z.strictObject({
  action: changeAction.describe("What to do with each job"),
  jobs: jobNumbers.describe(
    "Numbers and ranges, such as 3-9,12. A range selects the jobs that exist; a single number without a job is refused",
  ),
  states: optional(
    z.array(jobState),
    "Selects from ranges only jobs in these states; default all. Does not apply to single numbers",
  ),
  priority: optional(priority, "Required for the action priority"),
  release: optional(
    z.boolean(),
    "For the action pause, true: under space sharing, other jobs may use the job's CPUs until it is resumed; then it waits for CPUs",
  ),
  hold: optional(z.boolean(), "For the action requeue, true: the job is held when its attempt has ended"),
  signal: optional(signalBody, "Required for the action signal"),
  update: optional(updateBody, "Required for the action update"),
});
export const rerunBody = z.strictObject({
  jobs: jobNumbers.describe(
    "Numbers and ranges, such as 3-9,12. A range selects the jobs that have ended; a single number without an ended job is refused",
  ),
  states: optional(
    z.array(jobState),
    "Selects from ranges only jobs in these states; default: all that have ended",
  ),
  key: submitBody.shape.key,
});
export const hypotheticalJob = submitJob
  .pick(chosen(fieldsWith("isAsked")))
  .describe("A job that you might submit. It is refused if the submit would be refused");
export const whatIfBody = z
  .strictObject({
    policies: optional(
      z.array(z.string().min(1).max(500)).min(1).max(16),
      "Policies to compare; default: the current one",
    ),
    jobs: optional(
      z.array(hypotheticalJob).min(1).max(limits.MAX_HYPOTHETICAL_JOBS),
      "Jobs that would be submitted now, in this order",
    ),
    withoutCpus: optional(
      whole(1, limits.MAX_TASKS),
      "Takes this many CPUs away, those with the highest numbers. Running jobs that no longer fit stop, and continue when there is room",
    ),
  })
  .refine((body) => Object.keys(body).length > 0, "asks nothing, expected policies, jobs or withoutCpus");
export const shutdownBody = z.strictObject({
  killJobs: z.boolean().describe("true: also ends running jobs; false: refused while jobs run"),
  keepAllocation: optional(
    z.boolean(),
    "true: nodes that the scheduler has for a while stay, with their jobs; the next scheduler takes them over",
  ),
  keepPilot: optional(z.boolean(), "An older name of keepAllocation"),
});

export const drainBody = z.strictObject({
  reason: optional(label(limits.MAX_REASON_LENGTH), "Why, for people: everybody sees it"),
});

const windowName = z
  .string()
  .max(limits.MAX_WINDOW_NAME_LENGTH)
  .regex(
    /^[A-Za-z0-9][\w.-]*$/,
    "is not the name of a window, expected letters, digits, _, . and -, first a letter or a digit",
  );
/** Of users, queues or nodes. Events have them with commas between them. */
const names = z
  .array(
    z
      .string()
      .min(1)
      .max(limits.MAX_NAME_LENGTH)
      .regex(/^[^,\0]+$/, "contains a comma or a NUL character"),
  )
  .min(1)
  .max(limits.MAX_NAMED);
const time = whole(0, Number.MAX_SAFE_INTEGER);

export const windowBody = z.strictObject({
  name: windowName.describe("No other window that is not over has it"),
  fromMs: optional(time, "Begin, Unix time in ms; default: now"),
  untilMs: time.describe("End, Unix time in ms"),
  users: optional(names, "Users whose jobs may run in it; without users and queues, nothing may"),
  queues: optional(names, "Queues whose jobs may run in it"),
  reason: optional(label(limits.MAX_REASON_LENGTH), "Why, for people: everybody sees it"),
});

export const offBody = z.strictObject({
  nodes: names.describe("Lost nodes on which nothing of this scheduler runs"),
});

export const webSessionBody = z.strictObject({
  code: z.string().min(1).max(200).describe("The code after #login= in a link of tutti web"),
});

export type DrainBody = Value<typeof drainBody>;
export type OffBody = Value<typeof offBody>;
export type WindowBody = Value<typeof windowBody>;
export type ShutdownBody = Value<typeof shutdownBody>;
export type SubmitJob = Value<typeof submitJob>;
export type SubmitBody = Value<typeof submitBody>;
export type HypotheticalJob = Value<typeof hypotheticalJob>;
export type WhatIfBody = Value<typeof whatIfBody>;
export type SignalBody = Value<typeof signalBody>;
export type UpdateBody = Value<typeof updateFields>;
export type RerunBody = Value<typeof rerunBody>;
export type BatchBody = Value<typeof batchBody>;
