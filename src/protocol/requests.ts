/** What the API takes. What is refined is refused and does not show in the OpenAPI document. */
import { z } from "zod";
import { jobNumber, jobState, optional, type Value } from "./atoms.ts";
import * as limits from "./limits.ts";

const NUL = "holds a NUL character, expected none";
/** Goes to the kernel as a C string. */
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
      .refine(([program]) => program !== "", "names no program, expected one as the first word")
      .describe("Program and its arguments; no shell reads them"),
    script: optional(
      z.strictObject({
        base64: z
          .string()
          .max(Math.ceil(limits.MAX_SCRIPT_BYTES / 3) * 4)
          .refine((text) => text.length % 4 === 0 && BASE64.test(text), "is not base64")
          .describe("The script's bytes, at most 1 MiB, in base64"),
        word: z.int().min(0).describe("Which word of the command names the script; counted from 0"),
      }),
      "A script that is kept as it is now; the job runs the copy",
    ),
    tasks: optional(z.int().min(1).max(limits.MAX_TASKS), "Processes, each on a CPU of its own; default 1"),
    name: optional(label(limits.MAX_NAME_LENGTH), "For people; default: the program's name"),
    queue: optional(label(limits.MAX_QUEUE_LENGTH), "Queue class; default: the tightest that admits it"),
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
    limitMs: optional(
      z
        .int()
        .min(1)
        .refine((ms) => ms <= limits.MAX_LIMIT_MS, "is more than ten years"),
      "Limit on running time in ms, stopped time not counted; also what policies take as estimate",
    ),
    memoryBytes: optional(z.int().min(1), "Memory of the whole job in bytes"),
    stdout: optional(
      path,
      "File for standard output; %j job, %A array, %a array index, %x name, %u user, %N machine. Default: in the job's own folder",
    ),
    stderr: optional(path, "File for standard error, as stdout"),
    after: optional(
      z
        .array(
          z.strictObject({
            job: jobNumber,
            ok: z.boolean().describe("true: only if that job ended well, else this one is cancelled"),
          }),
        )
        .max(limits.MAX_DEPENDENCIES),
      "Jobs that must have ended before",
    ),
    array: optional(
      z.string().max(1000),
      "Indices of an array of jobs, such as 1-100, 0-20:5 or 1,4,9; with %5 at most five of them at once",
    ),
    priority: optional(priority, "Above 0 for administrators only"),
    held: optional(z.boolean(), "It waits until it is released"),
    retries: optional(
      z.int().min(0).max(limits.MAX_RETRIES),
      "How often the job may be started anew; default 0",
    ),
    umask: optional(
      z.string().regex(/^0?[0-7]{3}$/, "is no mask, expected three octal digits such as 027"),
      "File mode creation mask of the job, as octal digits such as 022 or 027; default 077, which leaves its files to its user alone",
    ),
  })
  .describe("A job, or an array of jobs, to be run");

export const submitBody = z.strictObject({
  jobs: z.array(submitJob).min(1).max(limits.MAX_JOBS_PER_BATCH).describe("All are accepted or none"),
  key: optional(
    label(limits.MAX_KEY_LENGTH),
    "Makes a repeated request harmless: the same key of the same user gives the same jobs",
  ),
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
  states: optional(
    z.array(jobState),
    "Of ranges only jobs in these states; default all. A number alone is always meant",
  ),
  priority: optional(priority, "For the action priority, which needs it"),
});
export const whatIfBody = z.strictObject({
  policies: z.array(z.string().min(1).max(500)).min(1).max(16).describe("Policies to compare"),
});
export const shutdownBody = z.strictObject({
  killJobs: z.boolean().describe("true: running jobs are ended too; false: refused while jobs run"),
});

export type SubmitJob = Value<typeof submitJob>;
export type SubmitBody = Value<typeof submitBody>;
export type BatchBody = Value<typeof batchBody>;
