/**
 * What the API takes and gives, as schemas: the server checks requests with them, OpenAPI is generated from them, and command line,
 * scheduler and web page take their types from here. Only zod is imported from outside, so that a browser can load this file too.
 *
 * Within one version of an answer's schema (`tutti.jobs/1`) keys are only added. A request with an unknown key is refused, an
 * unknown key in an answer is to be ignored. Times are integers in ms: Unix time where the name ends in `AtMs`.
 */
import { z } from "zod";
import * as limits from "./limits.ts";
import { REFUSAL_CODES } from "./refusal.ts";
import { JOB_STATES } from "./states.ts";

const count = z.int().min(0);
const jobNumber = z.int().min(1).describe("Number of a job; never used again");
const unixMs = z.int().describe("Unix time in ms");
const durationMs = z.number().min(0).describe("Duration in ms");
const NUL = "holds a NUL character, expected none";
/** Goes to the kernel as a C string. */
export const kernelText = z
  .string()
  .max(limits.MAX_STRING_LENGTH)
  .regex(/^[^\0]*$/, NUL);
const path = kernelText.min(1).max(limits.MAX_PATH_LENGTH);
/** What is refined is refused and does not show in the OpenAPI document. */
const label = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !text.includes("\0"), NUL);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const priority = z.int().min(limits.MIN_PRIORITY).max(limits.MAX_PRIORITY);

export const jobState = z.enum(JOB_STATES);

export const submitJob = z
  .strictObject({
    command: z
      .array(kernelText)
      .min(1)
      .max(limits.MAX_COMMAND_WORDS)
      .refine(([program]) => program !== "", "names no program, expected one as the first word")
      .describe("Program and its arguments; no shell reads them"),
    script: z
      .strictObject({
        base64: z
          .string()
          .max(Math.ceil(limits.MAX_SCRIPT_BYTES / 3) * 4)
          .refine((text) => text.length % 4 === 0 && BASE64.test(text), "is not base64")
          .describe("The script's bytes, at most 1 MiB, in base64"),
        word: z.int().min(0).describe("Which word of the command names the script; counted from 0"),
      })
      .exactOptional()
      .describe("A script that is kept as it is now; the job runs the copy"),
    tasks: z
      .int()
      .min(1)
      .max(limits.MAX_TASKS)
      .exactOptional()
      .describe("Processes, each on a CPU of its own; default 1"),
    name: label(limits.MAX_NAME_LENGTH).exactOptional().describe("For people; default: the program's name"),
    queue: label(limits.MAX_QUEUE_LENGTH)
      .exactOptional()
      .describe("Queue class; default: the tightest that admits it"),
    cwd: path
      .regex(/^\//, "is not absolute, expected a path that begins with /")
      .describe("Working directory, absolute"),
    env: z
      .record(
        kernelText.min(1).regex(/^[^=]+$/, 'holds "=", expected the name of an environment variable'),
        kernelText,
      )
      .describe(
        "The job's whole environment, by name; TUTTI_… variables are added, and OMP_NUM_THREADS=1 where it is not set",
      ),
    limitMs: z
      .int()
      .min(1)
      .refine((ms) => ms <= limits.MAX_LIMIT_MS, "is more than ten years")
      .exactOptional()
      .describe("Limit on running time in ms, stopped time not counted; also what policies take as estimate"),
    memoryBytes: z.int().min(1).exactOptional().describe("Memory of the whole job in bytes"),
    stdout: path
      .exactOptional()
      .describe(
        "File for standard output; %j job, %A array, %a array index, %x name, %u user, %N machine. Default: in the job's own folder",
      ),
    stderr: path.exactOptional().describe("File for standard error, as stdout"),
    after: z
      .array(
        z.strictObject({
          job: jobNumber,
          ok: z.boolean().describe("true: only if that job ended well, else this one is cancelled"),
        }),
      )
      .max(limits.MAX_DEPENDENCIES)
      .exactOptional()
      .describe("Jobs that must have ended before"),
    array: z
      .string()
      .max(1000)
      .exactOptional()
      .describe(
        "Indices of an array of jobs, such as 1-100, 0-20:5 or 1,4,9; with %5 at most five of them at once",
      ),
    priority: priority.exactOptional().describe("Above 0 for administrators only"),
    held: z.boolean().exactOptional().describe("It waits until it is released"),
    retries: z
      .int()
      .min(0)
      .max(limits.MAX_RETRIES)
      .exactOptional()
      .describe("How often the job may be started anew; default 0"),
    umask: z
      .string()
      .regex(/^0?[0-7]{3}$/, "is no mask, expected three octal digits such as 027")
      .exactOptional()
      .describe(
        "File mode creation mask of the job, as octal digits such as 022 or 027; default 077, which leaves its files to its user alone",
      ),
  })
  .describe("A job, or an array of jobs, to be run");

export const submitBody = z.strictObject({
  jobs: z.array(submitJob).min(1).max(limits.MAX_JOBS_PER_BATCH).describe("All are accepted or none"),
  key: label(limits.MAX_KEY_LENGTH)
    .exactOptional()
    .describe("Makes a repeated request harmless: the same key of the same user gives the same jobs"),
});

export const priorityBody = z.strictObject({
  priority: priority.describe("Above 0 for administrators only"),
});
export const policyBody = z.strictObject({
  policy: z.string().min(1).max(500).describe("Name and parameters, such as easy:order=shortest"),
});
const changeAction = z.enum(["cancel", "hold", "release", "requeue", "priority"]);
/** A list of numbers as text, with room for all jobs of a batch. */
export const jobNumbers = z
  .string()
  .max(200_000)
  .regex(
    /^\d{1,15}(?:-\d{1,15})?(?:,\d{1,15}(?:-\d{1,15})?)*$/,
    "is not a list of job numbers such as 3-9,12",
  );
export const batchBody = z.strictObject({
  action: changeAction.describe("What is done with each of the jobs"),
  jobs: jobNumbers.describe(
    "Numbers and ranges, such as 3-9,12. Of a range those jobs are meant that there are; a number alone is refused where there is none",
  ),
  states: z
    .array(jobState)
    .exactOptional()
    .describe("Of ranges only jobs in these states; default all. A number alone is always meant"),
  priority: priority.exactOptional().describe("For the action priority, which needs it"),
});
export const whatIfBody = z.strictObject({
  policies: z.array(z.string().min(1).max(500)).min(1).max(16).describe("Policies to compare"),
});
export const shutdownBody = z.strictObject({
  killJobs: z.boolean().describe("true: running jobs are ended too; false: refused while jobs run"),
});

export const job = z
  .object({
    job: jobNumber,
    array: jobNumber.exactOptional().describe("First job of the array it belongs to"),
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
    code: z.int().min(0).max(255).exactOptional().describe("Exit code"),
    signal: z.string().exactOptional().describe("Signal that ended it, such as SIGKILL"),
    reason: z.string().exactOptional().describe("Why it ended as it did, or why it waits"),
    stdout: z.string(),
    stderr: z.string(),
    cpus: z.array(count),
    after: z.array(jobNumber),
  })
  .describe("A job");

export const forecast = z
  .object({
    p10Ms: z.number(),
    p50Ms: z.number(),
    p90Ms: z.number(),
    pastErrorP50Ms: z.number().exactOptional().describe("By how much past forecasts were off, median, ms"),
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
    z.object({ kind: z.literal("held") }),
    z.object({ kind: z.literal("dependency"), jobs: z.array(jobNumber) }),
    z.object({ kind: z.literal("array"), array: jobNumber, atOnce: count }),
    z.object({ kind: z.literal("cpus"), needed: count, free: count, rows: count, mostRows: count }),
    z.object({ kind: z.literal("memory"), neededBytes: z.number(), freeBytes: z.number() }),
    z.object({ kind: z.literal("order"), behind: z.array(jobNumber) }),
    z.object({ kind: z.literal("reservation"), holder: jobNumber, startAtMs: unixMs }),
    z.object({ kind: z.literal("conductor"), message: z.string() }),
  ])
  .describe("Something in the way of a job");

export const jobAnswer = z.object({ schema: z.literal("tutti.job/1"), job });
export const jobsAnswer = z.object({
  schema: z.literal("tutti.jobs/1"),
  jobs: z.array(job),
  next: jobNumber
    .exactOptional()
    .describe("There are more: ask with this number as after. Only where after was given"),
  missing: z
    .array(z.object({ first: jobNumber, last: jobNumber, because: z.enum(["forgotten", "not given"]) }))
    .exactOptional()
    .describe("Where numbers were asked for: those, up to next, of which no job is kept, whoever had them"),
});
const refusalCode = z.enum(REFUSAL_CODES);
export const batchAnswer = z.object({
  schema: z.literal("tutti.batch/1"),
  results: z
    .array(
      z.union([
        z.object({ number: jobNumber, job: job.describe("The job as it is now") }),
        z.object({ number: jobNumber, refused: refusalCode, message: z.string() }),
      ]),
    )
    .describe("For each of the jobs what became of it, in the order in which they were changed"),
});
export const whyAnswer = z.object({
  schema: z.literal("tutti.why/1"),
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
export const matrixAnswer = z.object({
  schema: z.literal("tutti.matrix/1"),
  sequence: count,
  policy: z.string(),
  sharing: z.enum(["space", "time"]),
  slotMs: z.number(),
  mode: z.enum(["gang", "concurrent"]),
  cpus: z.array(count),
  epochMs: z.number().describe("Monotonic time at which slot 0 began, ms"),
  nowMs: z
    .number()
    .describe("Monotonic time of this answer, ms: slot k = ⌊(nowMs − epochMs) / slotMs⌋ is on"),
  fromSlot: z.int().exactOptional().describe("Slot k belongs to row (k − fromSlot) mod rows; left out: 0"),
  rows: z.array(z.array(z.object({ job: jobNumber, name: z.string(), cpus: z.array(count) }))),
});
export const queuesAnswer = z.object({
  schema: z.literal("tutti.queues/1"),
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
export const policyAnswer = z.object({
  schema: z.literal("tutti.policy/1"),
  policy: z.string(),
  rules: z.array(z.string()),
  ownRules: count.describe("how many of the rules, the first, are the policy's own"),
  mostRows: count,
});
export const statusAnswer = z.object({
  schema: z.literal("tutti.status/1"),
  version: z.string(),
  user: z.string().describe("As whom you are known here"),
  isAdministrator: z.boolean(),
  http: z.string().exactOptional().describe("Address of the API on this machine"),
  startedAtMs: unixMs,
  cpus: count,
  busyCpus: z.number(),
  counts: z
    .record(jobState, count)
    .describe("Jobs that have ended: your own, or those of all users for an administrator"),
  conductor: z.object({
    connected: z.boolean(),
    silentMs: durationMs.exactOptional().describe("It turns gangs and has said nothing for so long"),
    pid: count.exactOptional(),
    freezer: z.string().exactOptional(),
    lateP99Ms: z.number().exactOptional(),
  }),
  trouble: z.string().exactOptional().describe("What keeps the scheduler from working, such as a full disk"),
  strays: z
    .array(stray)
    .exactOptional()
    .describe("Yours, or all for an administrator; left out: there are none"),
  forecasts: z
    .object({
      jobs: count,
      errorP50Ms: durationMs,
      errorP90Ms: durationMs,
      withinShare: z.number().describe("Share that started between p10 and p90 of the forecast"),
    })
    .exactOptional()
    .describe("How far the forecasts of the last jobs to start were off"),
  keptSinceMs: z
    .number()
    .exactOptional()
    .describe("Jobs of yours that ended before, Unix time in ms, may be forgotten"),
  residentBytes: z.number(),
});
export const whatIfAnswer = z.object({
  schema: z.literal("tutti.whatif/1"),
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
export const shutdownAnswer = z.object({ schema: z.literal("tutti.shutdown/1"), stopping: z.literal(true) });

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
export const eventsAnswer = z.object({
  schema: z.literal("tutti.events/1"),
  events: z
    .array(event)
    .max(limits.MAX_EVENTS_PER_ANSWER)
    .describe("Oldest first; ask again after the last one for more"),
  next: count.exactOptional().describe("There are more: those after this number, to be given as since"),
});

export const refusalAnswer = z
  .object({
    schema: z.literal("tutti.refusal/1"),
    refused: refusalCode,
    message: z.string().describe("What, why, and what to do next"),
  })
  .describe("The request was refused");

/** A value of a schema, as those see it who only read it. */
type Value<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

export type SubmitJob = Value<typeof submitJob>;
export type SubmitBody = Value<typeof submitBody>;
export type Job = Value<typeof job>;
export type JobAnswer = Value<typeof jobAnswer>;
export type JobsAnswer = Value<typeof jobsAnswer>;
export type BatchBody = Value<typeof batchBody>;
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
