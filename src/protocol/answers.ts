/** Defines the answers of the API as schemas. */
import { z } from "zod";
import {
  answer,
  count,
  durationMs,
  jobNumber,
  jobState,
  nodes,
  optional,
  unixMs,
  type Value,
} from "./atoms.ts";
import { forecast } from "./forecasts.ts";
import { MAX_EVENTS_PER_ANSWER } from "./limits.ts";
import { REFUSAL_CODES } from "./refusal.ts";

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
      .describe(
        "In lists of jobs, long commands are cut and end with …; the answer about one job has the whole command",
      ),
    cwd: z.string(),
    limitMs: durationMs.exactOptional(),
    memoryBytes: z.number().exactOptional(),
    attempt: count.describe("0 before the first start"),
    submittedAtMs: unixMs,
    startedAtMs: unixMs.exactOptional(),
    endedAtMs: unixMs.exactOptional(),
    ranMs: durationMs.describe("Running time so far in ms, without the time in which the job was stopped"),
    code: optional(z.int().min(0).max(255), "Exit code"),
    signal: optional(z.string(), "Signal that ended the job, such as SIGKILL"),
    reason: optional(z.string(), "Why the job waits, or why it ended this way"),
    stdout: z.string(),
    stderr: z.string(),
    cpus: z.array(count),
    nodes: optional(nodes, "The nodes of its CPUs; default: all are on the machine that runs the scheduler"),
    after: z.array(jobNumber),
  })
  .describe("A job");

export const stray = z
  .object({
    job: jobNumber,
    attempt: z.int().min(1),
    uid: count,
    user: z.string(),
    state: z
      .enum(["running", "ending", "stopped"])
      .describe(
        "stopped: the attempt belongs to a conductor of the first release, which stops everything outside the matrix",
      ),
    command: z.array(z.string()).describe("Long commands are cut and end with …"),
    cwd: z.string(),
    folder: z.string().describe("Folder of the attempt; the output is next to it"),
    startedAtMs: unixMs.exactOptional(),
    ranMs: durationMs,
  })
  .describe(
    "A running attempt that the store does not know, because the store is older than the attempt. Cancelling its job ends it",
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
  .describe("Something that keeps a job waiting");

export const jobAnswer = answer("tutti.job/1", { job });
export const jobsAnswer = answer("tutti.jobs/1", {
  jobs: z.array(job),
  next: optional(
    jobNumber,
    "There are more jobs: pass this number as `after` to get them. Present only if the request had `after`",
  ),
  missing: optional(
    z.array(z.object({ first: jobNumber, last: jobNumber, because: z.enum(["forgotten", "not given"]) })),
    "If the request had `numbers`: the numbers up to `next` for which no job of any user is kept",
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
    .describe("The result for each job, in the order in which they were changed"),
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
  share: optional(
    z.object({
      slots: count.describe("Slots that it has in each round now; 0: it has ended, or is stopped"),
      ofSlots: count.describe("Slots of a round, one for each row; 1 under space sharing"),
      ranMs: durationMs.describe("Its running time so far: the slots that it got"),
      elapsedMs: durationMs.describe("Time since its start, or from its start to its end"),
    }),
    "What a job that has started gets of its CPUs",
  ),
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
    .describe("Monotonic time of this answer, ms: the current slot is k = ⌊(nowMs − epochMs) / slotMs⌋"),
  fromSlot: optional(z.int(), "Slot k belongs to row (k − fromSlot) mod rows; default: 0"),
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
  ownRules: count.describe("The first rules, up to this number, are the policy's own"),
  mostRows: count,
});
export const statusAnswer = answer("tutti.status/1", {
  version: z.string(),
  user: z.string().describe("Your user name, as the scheduler knows it"),
  isAdministrator: z.boolean(),
  http: optional(z.string(), "Address of the API on this machine"),
  startedAtMs: unixMs,
  cpus: count,
  busyCpus: z.number(),
  counts: z
    .record(jobState, count)
    .describe("Jobs by state. Ended jobs are your own, or those of all users for an administrator"),
  conductor: z.object({
    connected: z.boolean(),
    silentMs: optional(
      durationMs,
      "How long the conductor has been silent, in ms; present only if a report is overdue",
    ),
    pid: count.exactOptional(),
    freezer: z.string().exactOptional(),
    lateP99Ms: z.number().exactOptional(),
  }),
  trouble: optional(z.string(), "What keeps the scheduler from working, such as a full disk"),
  strays: optional(z.array(stray), "Yours, or all for an administrator; left out if there are no strays"),
  forecasts: optional(
    z.object({
      jobs: count,
      errorP50Ms: durationMs,
      errorP90Ms: durationMs,
      withinShare: z
        .number()
        .describe("Share of the jobs that started between p10 and p90 of their forecast"),
    }),
    "Errors of the forecasts for the jobs that started last",
  ),
  keptSinceMs: optional(
    z.number(),
    "Unix time in ms. Some of your jobs that ended before it may no longer be kept",
  ),
  residentBytes: z.number(),
  web: optional(
    z.object({
      submit: z.boolean().describe("Whether jobs may be submitted from the page: the setting web.submit"),
    }),
    "What sessions of the page may do",
  ),
});
export const webLinkAnswer = answer("tutti.web-link/1", {
  url: z.string().describe("The address of the page, with a code that works once"),
  expiresAtMs: unixMs,
  id: z.string().describe("Names the key with which the process on the port can prove to be this scheduler"),
  proofKey: z.string().describe("Key of these proofs: 32 bytes in base64url. Never send it"),
});
export const webSessionAnswer = answer("tutti.web-session/1", {
  token: z.string().describe("Token of the session, for the header Authorization: Bearer TOKEN"),
  user: z.string().describe("Your user name, as the scheduler knows it"),
  isAdministrator: z.boolean(),
  expiresAtMs: unixMs,
  id: z.string().describe("Names the session when the scheduler has to prove that it began it"),
  proofKey: z.string().describe("Key of these proofs: 32 bytes in base64url. Never send it"),
});
export const webProofAnswer = answer("tutti.web-proof/1", {
  proof: z.string().describe("32 bytes in base64url"),
});
export const shutdownAnswer = answer("tutti.shutdown/1", { stopping: z.literal(true) });

export const event = z
  .object({
    sequence: count.describe(
      "Grows without gaps over all users. You see events of your jobs and of the scheduler; old events are forgotten",
    ),
    atMs: unixMs,
    kind: z.string(),
    job: jobNumber.exactOptional(),
    user: z.string().exactOptional(),
    data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).exactOptional(),
  })
  .describe("A decision or a change; the data of a server-sent event whose id is the sequence number");
export const eventsAnswer = answer("tutti.events/1", {
  events: z.array(event).max(MAX_EVENTS_PER_ANSWER).describe("Oldest first"),
  next: optional(count, "There are more events: pass this number as since to get them"),
});

export const refusalAnswer = z
  .object({
    schema: z.literal("tutti.refusal/1"),
    refused: refusalCode,
    message: z.string().describe("What was refused, why, and what to do next"),
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
export type WebLinkAnswer = Value<typeof webLinkAnswer>;
export type WebProofAnswer = Value<typeof webProofAnswer>;
export type StatusAnswer = Value<typeof statusAnswer>;
export type Stray = Value<typeof stray>;
/** Numbers for which no job of any user is kept. */
export type MissingJobs = NonNullable<JobsAnswer["missing"]>[number];
export type EventsAnswer = Value<typeof eventsAnswer>;
export type Event = Value<typeof event>;
export type RefusalAnswer = Value<typeof refusalAnswer>;
