/**
 * Defines the requests of the API as schemas. The OpenAPI document does not show checks made with `refine`.
 */
import { z } from "zod";
import { jobNumber, jobState, kindName, optional, type Value } from "./atoms.ts";
import { whole } from "./issue-text.ts";
import * as limits from "./limits.ts";
import { newsFields } from "./news/news.ts";
import { MAX_KINDS, MAX_UNITS } from "./resources.ts";
import { isVariable } from "./sweep-values.ts";

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
const RETRY_WORD = /^(?:fail|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5]|SIG[A-Z][A-Z0-9]{1,9})$/;
const MPI_TYPE = /^[A-Za-z0-9_]{1,32}$/;
const priority = whole(limits.MIN_PRIORITY, limits.MAX_PRIORITY);

const use = z
  .record(kindName, whole(1, MAX_UNITS))
  .refine((kinds) => Object.keys(kinds).length <= MAX_KINDS, `has more than ${MAX_KINDS} kinds`);

const values = z
  .record(
    z
      .string()
      .max(limits.MAX_NAME_LENGTH)
      .refine(
        isVariable,
        "is not the name of a variable, expected letters, digits and _, and no other TUTTI_ than TUTTI_LINE",
      ),
    z.array(kernelText).min(1).max(limits.MAX_JOBS_PER_BATCH),
  )
  .refine((variables) => {
    const count = Object.keys(variables).length;
    return count >= 1 && count <= limits.MAX_VARIABLES;
  }, `has no variable, or more than ${limits.MAX_VARIABLES}`);

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
        word: whole(0, limits.MAX_COMMAND_WORDS - 1).describe(
          "Index, counted from 0, of the word of the command that the path of the copy replaces",
        ),
      }),
      "A script, copied at submit; the job runs the copy",
    ),
    tasks: optional(whole(1, limits.MAX_TASKS), "Number of processes; default 1"),
    threads: optional(
      whole(1, limits.MAX_TASKS),
      "Number of CPUs for the threads of each process; the job gets tasks × threads CPUs. On a cluster, those of one process are on one node. Default 1",
    ),
    name: optional(label(limits.MAX_NAME_LENGTH), "Name for people; default: the program's name"),
    queue: optional(
      label(limits.MAX_QUEUE_LENGTH),
      "Queue class, by its name or an alias; default: the tightest one that admits the job",
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
        "The job's whole environment, by name; Tutti adds TUTTI_… variables, and OMP_NUM_THREADS if it is not set",
      ),
    limitMs: optional(
      whole(1, limits.MAX_LIMIT_MS, "ten years"),
      "Limit on running time in ms, without the time in which the job is stopped; policies use it as the estimate",
    ),
    memoryBytes: optional(whole(1, Number.MAX_SAFE_INTEGER), "Memory of the whole job in bytes"),
    use: optional(
      use,
      'Units of countable resources for the whole job, by kind, such as {"gpu": 1}; it holds them from its start to its end',
    ),
    stdout: optional(
      path,
      "File for standard output; %j job, %A array, %a array index, %x name, %u user, %N machine (the first node of the job). Default: a file in the job's own folder",
    ),
    stderr: optional(path, "File for standard error, with the same placeholders as stdout"),
    after: optional(
      z
        .array(
          z
            .strictObject({
              job: jobNumber.exactOptional(),
              entry: optional(
                whole(0, limits.MAX_JOBS_PER_BATCH - 1),
                "Instead of job: an earlier job of this request, by its index in jobs, counted from 0; of an array, all its jobs",
              ),
              ok: z.boolean().describe("true: this job is cancelled unless the other one succeeds"),
              kind: optional(
                z.enum(["notok", "each"]),
                "notok: this job is cancelled unless the other one fails or is cancelled. each: each job of this array waits for the success of the one with the same index in the array of that job. `ok` does not count then",
              ),
            })
            .refine(
              ({ job, entry }) => (job === undefined) !== (entry === undefined),
              "names neither or both of job and entry, expected one of them",
            ),
        )
        .max(limits.MAX_DEPENDENCIES),
      "Jobs that must end before this one starts",
    ),
    array: optional(
      z.string().max(100_000),
      "Indices of a job array, such as 1-100, 0-20:5 or 1,4,9; %5 runs at most five at once. With values, it may be only %5",
    ),
    values: optional(
      values,
      'Makes an array with values for each job, by variable, such as {"lr": ["0.1", "0.01"], "seed": ["1", "2"]}: as many for each variable as the array has jobs. A job has its values in its environment, and in place of {lr} in its command, stdout and stderr; {} stands for TUTTI_LINE. Without array, the indices begin with 1',
    ),
    beginAtMs: optional(
      whole(0, Number.MAX_SAFE_INTEGER),
      "Unix time in ms before which the job must not start. It joins the queue then, behind the jobs that are in it. Default: at once",
    ),
    priority: optional(priority, "Values above 0 are for administrators only"),
    singleton: optional(
      z.boolean(),
      "true: the job waits until all earlier jobs of its user with its name have ended",
    ),
    held: optional(z.boolean(), "true: the job waits until it is released"),
    tasksRun: optional(
      z.enum(["once", "each"]),
      "once: the command runs once, on the first CPUs of the job, and starts its other processes itself. each: it runs once per task, on all nodes of the job; only on a cluster. Default: once",
    ),
    mpi: optional(
      z.string().regex(MPI_TYPE, "is not a type of MPI, expected a word such as pmix"),
      "Type of MPI with which the cluster starts the tasks, such as pmix; only with tasksRun each. Default: none",
    ),
    input: optional(
      z.enum(["pipe", "terminal"]),
      "What the job reads as standard input. pipe: a named pipe that a client writes to, as tutti run does; without such a client the job fails. terminal: the job has a terminal, to which clients attach. Only on one machine, and not for arrays. Default: nothing (/dev/null)",
    ),
    retries: optional(whole(0, limits.MAX_RETRIES), "Maximum number of restarts; default 0"),
    retryOn: optional(
      z
        .array(
          z
            .string()
            .regex(RETRY_WORD, 'is not "fail", an exit code from 1 to 255 or a signal such as SIGBUS'),
        )
        .min(1)
        .max(limits.MAX_RETRY_WORDS),
      'Ends after which the job is started again, within retries: "fail" for any end that would make it failed, exit codes such as "75", signals such as "SIGBUS". Default: only after it is lost or requeued',
    ),
    retryDelayMs: optional(
      whole(limits.MIN_RETRY_DELAY_MS, limits.MAX_RETRY_DELAY_MS, "one second to one day"),
      "Wait in ms before the first retry because of retryOn; it doubles with every further one, up to 6 minutes. Default: 10,000",
    ),
    umask: optional(
      z.string().regex(/^0?[0-7]{3}$/, "is not a mask, expected three octal digits such as 027"),
      "File mode creation mask of the job, as octal digits such as 022 or 027; default 077: only its user can use its files",
    ),
    ...newsFields,
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

export const policyBody = z.strictObject({
  policy: z.string().min(1).max(500).describe("Name and parameters, such as easy:order=shortest"),
});
const { shape } = submitJob;
const updateFields = z.strictObject({
  name: shape.name,
  queue: shape.queue,
  tasks: shape.tasks,
  threads: shape.threads,
  limitMs: shape.limitMs,
  memoryBytes: shape.memoryBytes,
  use: shape.use,
  priority: shape.priority,
  retries: shape.retries,
  retryOn: shape.retryOn,
  retryDelayMs: shape.retryDelayMs,
  beginAtMs: shape.beginAtMs,
});
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
  "priority",
  "update",
]);
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
export const hypotheticalJob = z
  .strictObject({
    tasks: submitJob.shape.tasks,
    threads: submitJob.shape.threads,
    limitMs: submitJob.shape.limitMs,
    queue: submitJob.shape.queue,
    memoryBytes: submitJob.shape.memoryBytes,
    use: submitJob.shape.use,
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
      whole(1, limits.MAX_TASKS),
      "Takes this many CPUs away, those with the highest numbers. Running jobs that no longer fit stop, and continue when there is room",
    ),
  })
  .refine((body) => Object.keys(body).length > 0, "asks nothing, expected policies, jobs or withoutCpus");
export const shutdownBody = z.strictObject({
  killJobs: z.boolean().describe("true: also ends running jobs; false: refused while jobs run"),
  keepPilot: optional(
    z.boolean(),
    "On Slurm, true: the pilot and its jobs continue, and the next scheduler takes them over",
  ),
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
/** Of users or queues. Events have them with commas between them. */
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

export const webSessionBody = z.strictObject({
  code: z.string().min(1).max(200).describe("The code after #login= in a link of tutti web"),
});

export type DrainBody = Value<typeof drainBody>;
export type WindowBody = Value<typeof windowBody>;
export type ShutdownBody = Value<typeof shutdownBody>;
export type SubmitJob = Value<typeof submitJob>;
export type SubmitBody = Value<typeof submitBody>;
export type HypotheticalJob = Value<typeof hypotheticalJob>;
export type WhatIfBody = Value<typeof whatIfBody>;
export type UpdateBody = Value<typeof updateFields>;
export type RerunBody = Value<typeof rerunBody>;
export type BatchBody = Value<typeof batchBody>;
