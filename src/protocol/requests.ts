/**
 * Defines the requests of the API as schemas. The OpenAPI document does not show checks made with `refine`.
 */
import { z } from "zod";
import { jobNumber, jobState, optional, type Value } from "./atoms.ts";
import * as limits from "./limits.ts";

const NUL = "contains a NUL character";
/** Text that is passed to the kernel as a C string. */
export const kernelText = z
  .string()
  .max(limits.MAX_STRING_LENGTH)
  .regex(/^[^\0]*$/, NUL);
const path = kernelText.min(1).max(limits.MAX_PATH_LENGTH);
const label = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !text.includes("\0"), NUL);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const priority = z.int().min(limits.MIN_PRIORITY).max(limits.MAX_PRIORITY);

export const submitJob = z
  .strictObject({
    command: z
      .array(kernelText)
      .min(1)
      .max(limits.MAX_COMMAND_WORDS)
      .refine(([program]) => program !== "", "has an empty first word, expected the name of a program")
      .describe("Program and its arguments, passed on without a shell"),
    script: optional(
      z.strictObject({
        base64: z
          .string()
          .max(Math.ceil(limits.MAX_SCRIPT_BYTES / 3) * 4)
          .refine((text) => text.length % 4 === 0 && BASE64.test(text), "is not base64")
          .describe("The script's bytes, at most 1 MiB, in base64"),
        word: z
          .int()
          .min(0)
          .describe("Index, counted from 0, of the word of the command that the path of the copy replaces"),
      }),
      "A script, copied at submit; the job runs the copy",
    ),
    tasks: optional(
      z.int().min(1).max(limits.MAX_TASKS),
      "Number of processes, each on a CPU of its own; default 1",
    ),
    name: optional(label(limits.MAX_NAME_LENGTH), "Name for people; default: the program's name"),
    queue: optional(
      label(limits.MAX_QUEUE_LENGTH),
      "Queue class; default: the tightest one that admits the job",
    ),
    cwd: path
      .regex(/^\//, "is not absolute, expected a path that begins with /")
      .describe("Working directory, absolute"),
    env: z
      .record(
        kernelText.min(1).regex(/^[^=]+$/, 'contains "=", expected the name of an environment variable'),
        kernelText,
      )
      .describe(
        "The job's whole environment, by name; Tutti adds TUTTI_… variables, and OMP_NUM_THREADS=1 if it is not set",
      ),
    limitMs: optional(
      z
        .int()
        .min(1)
        .refine((ms) => ms <= limits.MAX_LIMIT_MS, "is more than ten years"),
      "Limit on running time in ms, without the time in which the job is stopped; policies use it as the estimate",
    ),
    memoryBytes: optional(z.int().min(1), "Memory of the whole job in bytes"),
    stdout: optional(
      path,
      "File for standard output; %j job, %A array, %a array index, %x name, %u user, %N machine. Default: a file in the job's own folder",
    ),
    stderr: optional(path, "File for standard error, with the same placeholders as stdout"),
    after: optional(
      z
        .array(
          z.strictObject({
            job: jobNumber,
            ok: z.boolean().describe("true: this job is cancelled unless the other one succeeds"),
          }),
        )
        .max(limits.MAX_DEPENDENCIES),
      "Jobs that must end before this one starts",
    ),
    array: optional(
      z.string().max(1000),
      "Indices of a job array, such as 1-100, 0-20:5 or 1,4,9; %5 runs at most five at once",
    ),
    priority: optional(priority, "Values above 0 are for administrators only"),
    held: optional(z.boolean(), "true: the job waits until it is released"),
    retries: optional(z.int().min(0).max(limits.MAX_RETRIES), "Maximum number of restarts; default 0"),
    umask: optional(
      z.string().regex(/^0?[0-7]{3}$/, "is not a mask, expected three octal digits such as 027"),
      "File mode creation mask of the job, as octal digits such as 022 or 027; default 077: only its user can use its files",
    ),
  })
  .describe("A job or a job array to run");

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

export const priorityBody = z.strictObject({
  priority: priority.describe("Values above 0 are for administrators only"),
});
export const policyBody = z.strictObject({
  policy: z.string().min(1).max(500).describe("Name and parameters, such as easy:order=shortest"),
});
const changeAction = z.enum(["cancel", "hold", "release", "requeue", "priority"]);
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
});
export const hypotheticalJob = z
  .strictObject({
    tasks: submitJob.shape.tasks,
    limitMs: submitJob.shape.limitMs,
    queue: submitJob.shape.queue,
    memoryBytes: submitJob.shape.memoryBytes,
    priority: submitJob.shape.priority,
  })
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
      z.int().min(1).max(limits.MAX_TASKS),
      "Takes this many CPUs away, those with the highest numbers. Running jobs that no longer fit stop, and continue when there is room",
    ),
  })
  .refine((body) => Object.keys(body).length > 0, "asks nothing, expected policies, jobs or withoutCpus");
export const shutdownBody = z.strictObject({
  killJobs: z.boolean().describe("true: also ends running jobs; false: refused while jobs run"),
});

export const webSessionBody = z.strictObject({
  code: z.string().min(1).max(200).describe("The code after #login= in a link of tutti web"),
});

export type SubmitJob = Value<typeof submitJob>;
export type SubmitBody = Value<typeof submitBody>;
export type HypotheticalJob = Value<typeof hypotheticalJob>;
export type WhatIfBody = Value<typeof whatIfBody>;
export type BatchBody = Value<typeof batchBody>;
