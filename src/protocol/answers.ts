/** What the API gives. */
import { z } from "zod";
import { count, durationMs, jobNumber, jobState, optional, unixMs, type Value } from "./atoms.ts";
import { MAX_EVENTS_PER_ANSWER } from "./limits.ts";
import { REFUSAL_CODES } from "./refusal.ts";

/** An answer says first what it is, by name and version. */
function answer<Name extends string, Shape extends z.ZodRawShape>(schema: Name, shape: Shape) {
  return z.object({ schema: z.literal(schema), ...shape });
}

/** CPUs by node. */
const nodes = z.array(z.object({ node: z.string(), cpus: z.array(count) }));

export const job = z
  .object({
    job: jobNumber,
    array: optional(jobNumber, "First job of the array it belongs to"),
    arrayIndex: count.exactOptional(),
    name: z.string(),
    user: z.string(),
    queue: z.string(),
    state: jobState,
    tasks: z.int().min(1),
    priority: z.int(),
    command: z
      .array(z.string())
      .describe("In lists of jobs a long one is cut and ends with …; the answer for one job has all of it"),
    cwd: z.string(),
    limitMs: durationMs.exactOptional(),
    memoryBytes: z.number().exactOptional(),
    attempt: count.describe("0 before the first start"),
    submittedAtMs: unixMs,
    startedAtMs: unixMs.exactOptional(),
    endedAtMs: unixMs.exactOptional(),
    ranMs: durationMs.describe("Running time so far in ms, stopped time not counted"),
    code: optional(z.int().min(0).max(255), "Exit code"),
    signal: optional(z.string(), "Signal that ended it, such as SIGKILL"),
    reason: optional(z.string(), "Why it ended as it did, or why it waits"),
    stdout: z.string(),
    stderr: z.string(),
    cpus: z.array(count),
    nodes: optional(
      nodes,
      "Of which nodes its CPUs are; left out: of the machine that the scheduler runs on",
    ),
    after: z.array(jobNumber),
  })
  .describe("A job");

export const forecast = z
  .object({
    p10Ms: z.number(),
    p50Ms: z.number(),
    p90Ms: z.number(),
    pastErrorP50Ms: optional(z.number(), "By how much past forecasts were off, median, ms"),
  })
  .describe("When the job is expected to start: Unix times in ms");

export const stray = z
  .object({
    job: jobNumber,
    attempt: z.int().min(1),
    uid: count,
    user: z.string(),
    state: z
      .enum(["running", "ending", "stopped"])
      .describe("stopped: a conductor of the first release has it, which lets nothing run that is in no row"),
    command: z.array(z.string()).describe("A long one is cut and ends with …"),
    cwd: z.string(),
    folder: z.string().describe("Folder of the attempt, with its output beside it"),
    startedAtMs: unixMs.exactOptional(),
    ranMs: durationMs,
  })
  .describe(
    "An attempt that runs and that the store does not know, because the store is older; cancelling its job ends it",
  );

const obstacle = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("held"), reason: z.string().exactOptional() }),
    z.object({ kind: z.literal("dependency"), jobs: z.array(jobNumber) }),
    z.object({ kind: z.literal("array"), array: jobNumber, atOnce: count }),
    z.object({ kind: z.literal("cpus"), needed: count, free: count, rows: count, mostRows: count }),
    z.object({ kind: z.literal("memory"), neededBytes: z.number(), freeBytes: z.number() }),
    z.object({ kind: z.literal("order"), behind: z.array(jobNumber) }),
    z.object({ kind: z.literal("reservation"), holder: jobNumber, startAtMs: unixMs }),
    z.object({ kind: z.literal("conductor"), message: z.string() }),
  ])
  .describe("Something in the way of a job");

export const jobAnswer = answer("tutti.job/1", { job });
export const jobsAnswer = answer("tutti.jobs/1", {
  jobs: z.array(job),
  next: optional(jobNumber, "There are more: ask with this number as after. Only where after was given"),
  missing: optional(
    z.array(z.object({ first: jobNumber, last: jobNumber, because: z.enum(["forgotten", "not given"]) })),
    "Where numbers were asked for: those, up to next, of which no job is kept, whoever had them",
  ),
});
const refusalCode = z.enum(REFUSAL_CODES);
export const batchAnswer = answer("tutti.batch/1", {
  results: z
    .array(
      z.union([
        z.object({ number: jobNumber, job: job.describe("The job as it is now") }),
        z.object({ number: jobNumber, refused: refusalCode, message: z.string() }),
      ]),
    )
    .describe("For each of the jobs what became of it, in the order in which they were changed"),
});
export const whyAnswer = answer("tutti.why/1", {
  job: jobNumber,
  state: jobState,
  waitedMs: durationMs,
  tasks: count,
  freeCpus: count,
  queuedBefore: count,
  obstacles: z.array(obstacle),
  queueReason: z.string().exactOptional(),
  forecast: forecast.exactOptional(),
});
export const matrixAnswer = answer("tutti.matrix/1", {
  sequence: count,
  policy: z.string(),
  sharing: z.enum(["space", "time"]),
  slotMs: z.number(),
  mode: z.enum(["gang", "concurrent"]),
  cpus: z.array(count),
  nodes: optional(nodes, "All CPUs by node, in the same order"),
  epochMs: z.number().describe("Monotonic time at which slot 0 began, ms"),
  nowMs: z
    .number()
    .describe("Monotonic time of this answer, ms: slot k = ⌊(nowMs − epochMs) / slotMs⌋ is on"),
  fromSlot: optional(z.int(), "Slot k belongs to row (k − fromSlot) mod rows; left out: 0"),
  rows: z.array(
    z.array(
      z.object({ job: jobNumber, name: z.string(), cpus: z.array(count), nodes: nodes.exactOptional() }),
    ),
  ),
});
export const queuesAnswer = answer("tutti.queues/1", {
  queues: z.array(
    z.object({
      name: z.string(),
      queued: count,
      running: count,
      mostCpus: count,
      limitMs: durationMs.exactOptional(),
    }),
  ),
});
export const policyAnswer = answer("tutti.policy/1", {
  policy: z.string(),
  rules: z.array(z.string()),
  ownRules: count.describe("how many of the rules, the first, are the policy's own"),
  mostRows: count,
});
export const statusAnswer = answer("tutti.status/1", {
  version: z.string(),
  user: z.string().describe("As whom you are known here"),
  isAdministrator: z.boolean(),
  http: optional(z.string(), "Address of the API on this machine"),
  startedAtMs: unixMs,
  cpus: count,
  busyCpus: z.number(),
  counts: z
    .record(jobState, count)
    .describe("Jobs that have ended: your own, or those of all users for an administrator"),
  conductor: z.object({
    connected: z.boolean(),
    silentMs: optional(durationMs, "It turns gangs and has said nothing for so long"),
    pid: count.exactOptional(),
    freezer: z.string().exactOptional(),
    lateP99Ms: z.number().exactOptional(),
  }),
  trouble: optional(z.string(), "What keeps the scheduler from working, such as a full disk"),
  strays: optional(z.array(stray), "Yours, or all for an administrator; left out: there are none"),
  forecasts: optional(
    z.object({
      jobs: count,
      errorP50Ms: durationMs,
      errorP90Ms: durationMs,
      withinShare: z.number().describe("Share that started between p10 and p90 of the forecast"),
    }),
    "How far the forecasts of the last jobs to start were off",
  ),
  keptSinceMs: optional(z.number(), "Jobs of yours that ended before, Unix time in ms, may be forgotten"),
  residentBytes: z.number(),
});
export const whatIfAnswer = answer("tutti.whatif/1", {
  atMs: unixMs,
  policies: z.array(
    z.object({
      policy: z.string(),
      pastErrorP50Ms: z.number().exactOptional(),
      jobs: z
        .array(z.object({ job: jobNumber, p10Ms: z.number(), p50Ms: z.number(), p90Ms: z.number() }))
        .describe("Your waiting jobs for which a forecast could be made"),
    }),
  ),
});
export const shutdownAnswer = answer("tutti.shutdown/1", { stopping: z.literal(true) });

export const event = z
  .object({
    sequence: count.describe(
      "Grows without gaps over all users; you see those of your jobs and of all, and old ones are forgotten",
    ),
    atMs: unixMs,
    kind: z.string(),
    job: jobNumber.exactOptional(),
    user: z.string().exactOptional(),
    data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).exactOptional(),
  })
  .describe("A decision or a change, as the data of a server-sent event whose id is the sequence number");
export const eventsAnswer = answer("tutti.events/1", {
  events: z
    .array(event)
    .max(MAX_EVENTS_PER_ANSWER)
    .describe("Oldest first; ask again after the last one for more"),
  next: optional(count, "There are more: those after this number, to be given as since"),
});

export const refusalAnswer = z
  .object({
    schema: z.literal("tutti.refusal/1"),
    refused: refusalCode,
    message: z.string().describe("What, why, and what to do next"),
  })
  .describe("The request was refused");

export type Job = Value<typeof job>;
export type JobAnswer = Value<typeof jobAnswer>;
export type JobsAnswer = Value<typeof jobsAnswer>;
export type BatchAnswer = Value<typeof batchAnswer>;
export type WhyAnswer = Value<typeof whyAnswer>;
export type MatrixAnswer = Value<typeof matrixAnswer>;
export type QueuesAnswer = Value<typeof queuesAnswer>;
export type PolicyAnswer = Value<typeof policyAnswer>;
export type ShutdownAnswer = Value<typeof shutdownAnswer>;
export type StatusAnswer = Value<typeof statusAnswer>;
export type Stray = Value<typeof stray>;
/** Numbers of which no job is kept, whoever had them. */
export type MissingJobs = NonNullable<JobsAnswer["missing"]>[number];
export type WhatIfAnswer = Value<typeof whatIfAnswer>;
export type EventsAnswer = Value<typeof eventsAnswer>;
export type Event = Value<typeof event>;
export type RefusalAnswer = Value<typeof refusalAnswer>;
