/**
 * Checks submitted jobs where the schema cannot, because the check needs the scheduler's limits and queues.
 */

import type { JobEnvironment } from "@tutti/host/job-environment.ts";
import { basename } from "@tutti/host/ports/path.ts";
import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { limitText } from "@tutti/kernel/core/format.ts";
import { NO_QUEUE } from "@tutti/kernel/core/queue-classes.ts";
import { explainQueue } from "@tutti/kernel/policies/space/queue-selection.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { processorsOf, tasksText } from "@tutti/protocol/job-size.ts";
import {
  MAX_BEGIN_AHEAD_MS,
  MAX_JOBS_PER_BATCH,
  MAX_NAME_LENGTH,
  MAX_STRING_LENGTH,
} from "@tutti/protocol/limits.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { type JobValues, lengthWithValues, valuesAt } from "@tutti/protocol/sweep-values.ts";
import { namesOf, type QueueSetting } from "../config/config.ts";
import { checkInput } from "./job-input.ts";
import { checkNews, type NewsLimits, newsBytes } from "./job-news.ts";
import { checkLimit, checkSize, checkUse, type MachineLimits } from "./needs.ts";
import type { JobRecord } from "./record.ts";
import type { Caller } from "./service.ts";

export interface SubmissionLimits extends MachineLimits, NewsLimits {
  /** Whether the command of a job can run once per task. */
  readonly tasksRunEach: boolean;
  /** As of the executor. */
  readonly takesInput?: true | "pipes" | undefined;
  readonly queues: readonly QueueSetting[];
}

/** A requested job or job array. */
export interface Submission {
  readonly request: SubmitJob;
  /** Array index of each job; a single undefined: one job outside any array. */
  readonly indices: readonly (number | undefined)[];
  /** Maximum number of jobs of the array in flight at a time; undefined: no maximum. */
  readonly arrayLimit?: number | undefined;
  /** The jobs that these run again, in the order of the indices. */
  readonly repeats?: readonly JobNumber[];
  /**
   * Dependencies of each of its jobs in addition to those in `after`, which may name a whole array.
   */
  readonly waitsMore?: number;
}

/** Command and environment together; well below Linux's limit. */
const MAX_PROGRAM_BYTES = 1_000_000;
/** Retained bytes of a batch. Each job of an array counts, because each is written to disk and kept. */
const MAX_BATCH_BYTES = 2 ** 26;
/** Size of a stored dependency. */
const DEPENDENCY_BYTES = 24;
/** Fixed size of a string, in addition to its characters. */
const TEXT_BYTES = 24;
const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
export const DEFAULT_ESTIMATE_MS = 3_600_000;
/** Default mask: only the job's user can access new files. */
const DEFAULT_MASK = "077";
const NO_ARRAY = [undefined];

/** The batch with its arrays parsed, or the first reason to refuse it. */
export function readBatch(
  caller: Caller,
  jobs: readonly SubmitJob[],
  limits: SubmissionLimits,
): Answer<readonly Submission[]> {
  const batch: Submission[] = [];
  let bytes = 0;
  let count = 0;
  for (const request of jobs) {
    const array = readArray(request);
    if (isRefusal(array)) return array;
    const submission = readEntries(array, batch);
    if (isRefusal(submission)) return submission;
    count += submission.indices.length;
    if (count > MAX_JOBS_PER_BATCH) {
      return refuse(
        "too-large",
        `Cannot submit more than ${MAX_JOBS_PER_BATCH} jobs in one request, and each job of an array counts; submit several batches`,
      );
    }
    const refusal =
      checkProgram(request) ??
      checkScriptWord(request) ??
      checkTasksRun(request, limits) ??
      checkInput(request, limits) ??
      checkEnvironment(request) ??
      checkRetries(request) ??
      checkPriority(caller, request.priority ?? 0) ??
      checkSize(request, limits) ??
      checkLimit(request, limits) ??
      checkUse(request, limits) ??
      checkNews(request, limits);
    if (refusal !== undefined) return refusal;
    batch.push(submission);
    for (const values of eachValues(submission)) {
      const ofJob = retainedBytes({ ...request, values }) + (submission.waitsMore ?? 0) * DEPENDENCY_BYTES;
      bytes += ofJob * (values === undefined ? submission.indices.length : 1);
      if (bytes <= MAX_BATCH_BYTES) continue;
      return refuse(
        "too-large",
        `Cannot submit these ${Math.max(jobs.length, count)} jobs: their commands, values, paths and dependencies have more than ${MAX_BATCH_BYTES} bytes together; put data into files, or submit several batches`,
      );
    }
    const tooLong = checkValues(submission);
    if (tooLong !== undefined) return tooLong;
  }
  return batch;
}

/** Number of jobs in a batch; each job of an array counts. */
export function jobCount(batch: readonly Submission[]): number {
  return batch.reduce((count, { indices }) => count + indices.length, 0);
}

/** The values of each job of a sweep; of other jobs, undefined once. */
function* eachValues({ request: { values }, indices }: Submission): Generator<JobValues | undefined, void> {
  if (values === undefined) yield undefined;
  else for (let i = 0; i < indices.length; i++) yield valuesAt(values, i);
}

/** Approximate bytes that the jobs of a submission take in memory. */
export function retainedBytesOf(submission: Submission): number {
  const { request, indices } = submission;
  let bytes = indices.length * (submission.waitsMore ?? 0) * DEPENDENCY_BYTES;
  if (request.values === undefined)
    return bytes + indices.length * retainedBytes({ ...request, values: undefined });
  for (const values of eachValues(submission)) bytes += retainedBytes({ ...request, values });
  return bytes;
}

/**
 * Approximate bytes that a live job takes in memory. Environment and script are only on disk, and shared. The
 * command of a job with values counts as users see it: it may be much longer than the one in memory.
 */
export function retainedBytes(
  job: Pick<SubmitJob, "command" | "cwd" | "stdout" | "stderr" | "after"> &
    JobEnvironment &
    Parameters<typeof newsBytes>[0] & { readonly values?: JobValues | undefined },
): number {
  const { command, cwd, stdout = "", stderr = "", after = [], values } = job;
  const { modules = [], conda = "", venv = "", image = "" } = job;
  let bytes = textBytes(cwd) + textBytes(stdout) + textBytes(stderr) + after.length * DEPENDENCY_BYTES;
  for (const text of [...modules, conda, venv, image]) bytes += text === "" ? 0 : textBytes(text);
  bytes += newsBytes(job);
  if (values === undefined) {
    for (const word of command) bytes += textBytes(word);
    return bytes;
  }
  for (const word of command) bytes += textBytes(word) - word.length + lengthWithValues(word, values);
  for (const name of Object.keys(values)) bytes += textBytes(values[name]);
  return bytes;
}

/** Size of a string in memory: two bytes per character if any of them is not Latin-1. */
function textBytes(text: string): number {
  return TEXT_BYTES + text.length * (BEYOND_LATIN_1.test(text) ? 2 : 1);
}

/** File mode creation mask of the job. */
export function maskOf({ umask = DEFAULT_MASK }: SubmitJob): number {
  return Number.parseInt(umask, 8);
}

/** The queue of a job and how it was chosen. */
export type ChosenQueue = Pick<JobRecord, "queue" | "queueReason" | "estimateMs">;

const NAMED_IN_REQUEST = "named in the request";

/** Whether the request named the queue, so that another size or limit chooses no other one. */
export function hasNamedQueue({ queueReason }: Pick<JobRecord, "queueReason">): boolean {
  return queueReason === NAMED_IN_REQUEST;
}

/** Estimate of a job without a limit. */
export function unlimitedMs(queue: QueueSetting | undefined): number {
  return queue?.defaultLimitMs ?? DEFAULT_ESTIMATE_MS;
}

/** The queue that the request names, or the tightest one that admits it. */
export function chooseQueue(request: SubmitJob, limits: SubmissionLimits): ChosenQueue | Refusal {
  const { tasks = 1, threads = 1 } = request;
  const { queues } = limits;
  const estimateOf = (setting: QueueSetting | undefined): number => request.limitMs ?? unlimitedMs(setting);
  const shape = (setting?: QueueSetting) => ({
    processors: processorsOf({ tasks, threads }),
    processes: tasks,
    threads,
    estimateS: estimateOf(setting) / 1000,
  });
  if (request.queue !== undefined) {
    const setting = queues.find((one) => namesOf(one).includes(request.queue!));
    if (setting === undefined) {
      const names = queues.flatMap(namesOf);
      return refuse(
        "invalid",
        `Cannot submit to queue ${JSON.stringify(request.queue)}${closest(request.queue, names)}: expected ${names.length === 1 ? names[0] : `one of ${names.join(", ")}`}`,
      );
    }
    const { ruledOut } = explainQueue([setting.queueClass], shape(setting));
    if (ruledOut.length > 0) {
      const [{ limit, asked, allowed }] = ruledOut;
      return refuse(
        "too-large",
        `Cannot submit to queue ${JSON.stringify(request.queue)}: the job asks for ${describeLimit(limit, asked)}, but the queue allows ${describeLimit(limit, allowed)}; ask for less or name another queue`,
      );
    }
    return { queue: setting.queueClass.name, queueReason: NAMED_IN_REQUEST, estimateMs: estimateOf(setting) };
  }
  const classes = queues.map(({ queueClass }) => queueClass);
  const selection = explainQueue(classes, shape());
  if (selection.queue === NO_QUEUE) {
    const why = selection.ruledOut.map(
      ({ queue, limit, allowed }) => `${classes[queue].name} allows ${describeLimit(limit, allowed)}`,
    );
    return refuse(
      "too-large",
      `Cannot find a queue for ${tasksText({ tasks, threads })}${request.limitMs === undefined ? "" : ` and ${limitText(request.limitMs)}`}: ${why.join(", ")}; ask for less`,
    );
  }
  const chosen = queues[selection.queue];
  const passed = selection.passedOver.map((queue) => classes[queue].name);
  const queueReason =
    passed.length === 0
      ? "the only queue that admits it"
      : `admitted by ${[chosen.queueClass.name, ...passed].join(", ")}; ${chosen.queueClass.name} has the tightest limits${selection.rule === "order" ? ", by order" : ` (${selection.rule})`}`;
  return {
    queue: chosen.queueClass.name,
    ...(queues.length > 1 && { queueReason }),
    estimateMs: estimateOf(chosen),
  };
}

export function nameOf(request: SubmitJob): string {
  return request.name ?? basename(request.command[0]).slice(0, MAX_NAME_LENGTH);
}

function describeLimit(limit: string, value: number): string {
  if (limit === "elapsed") return limitText(value * 1000);
  return `${value} ${value === 1 ? limit.replace(/e?s$/, limit === "processes" ? "" : "") : limit}`;
}

function readArray(request: SubmitJob): Submission | Refusal {
  const { array, values } = request;
  if (values === undefined && array === undefined) return { request, indices: NO_ARRAY };
  const counts = Object.values(values ?? {}).map((column) => column.length);
  const [count] = counts;
  if (counts.some((other) => other !== count)) {
    return refuse(
      "invalid",
      `Cannot use values: the variables have ${[...new Set(counts)].join(", ")} values, expected as many for each: one for each job`,
    );
  }
  const spec = parseArray(array ?? `1-${count}`, count);
  if (typeof spec === "string") return refuse("invalid", spec);
  const { indices, atOnce } = spec;
  if (values !== undefined && indices.length !== count) {
    return refuse(
      "invalid",
      `Cannot submit the array ${JSON.stringify(array)}: it has ${indices.length} jobs, and each variable has ${count} values; expected as many, or an array such as %5`,
    );
  }
  return { request, indices, arrayLimit: atOnce };
}

/** The submission, if the entries for which it waits are among those before it. */
function readEntries(submission: Submission, earlier: readonly Submission[]): Submission | Refusal {
  const { request, indices } = submission;
  const { after = [] } = request;
  let waits = 0;
  for (const { entry, kind } of after) {
    const other = entry === undefined ? undefined : earlier[entry];
    if (entry !== undefined && other === undefined) {
      return refuse(
        "invalid",
        `Cannot wait for entry ${entry} of the request: job ${earlier.length} of it (counted from 0) can only wait for earlier ones; expected less than ${earlier.length}`,
      );
    }
    waits += other === undefined || kind === "each" ? 1 : other.indices.length;
    if (other === undefined || kind !== "each") continue;
    const known = new Set(other.indices);
    const missing = indices.find((index) => index === undefined || !known.has(index));
    if (indices[0] !== undefined && missing === undefined) continue;
    return refuse(
      "invalid",
      `Cannot wait for each job of entry ${entry} of the request: ${missing === undefined ? "one of both is no array" : `that has no index ${missing}`}; expected arrays with the same indices`,
    );
  }
  return waits === after.length ? submission : { ...submission, waitsMore: waits - after.length };
}

function checkProgram({ command, env }: SubmitJob): Refusal | undefined {
  return refuseProgram(variableBytes(env) + command.reduce((bytes, word) => bytes + word.length + 1, 0));
}

/** The first job whose program cannot be started with its values. */
function checkValues(submission: Submission): Refusal | undefined {
  const { command, env, script } = submission.request;
  const shared = variableBytes(env);
  for (const values of eachValues(submission)) {
    if (values === undefined) return undefined;
    let bytes = shared + variableBytes(values);
    for (const [i, word] of command.entries()) {
      const length = i === script?.word ? word.length : lengthWithValues(word, values);
      bytes += length > MAX_STRING_LENGTH ? Number.POSITIVE_INFINITY : length + 1;
      if (bytes > MAX_PROGRAM_BYTES) return refuseProgram(bytes);
    }
  }
  return undefined;
}

function variableBytes(variables: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(variables)) {
    const length = name.length + value.length + 2;
    bytes += length > MAX_STRING_LENGTH ? Number.POSITIVE_INFINITY : length;
  }
  return bytes;
}

function refuseProgram(bytes: number): Refusal | undefined {
  if (bytes <= MAX_PROGRAM_BYTES) return undefined;
  return refuse(
    "too-large",
    `Cannot start a program with this command and environment: together they have more than ${MAX_PROGRAM_BYTES} bytes, or one string has more than ${MAX_STRING_LENGTH}; put data into files`,
  );
}

function checkScriptWord({ script, command }: SubmitJob): Refusal | undefined {
  if (script === undefined || script.word < command.length) return undefined;
  return refuse(
    "invalid",
    `Cannot use ${script.word} as script.word: expected the index of a word of the command, from 0 to ${command.length - 1}`,
  );
}

function checkTasksRun({ tasksRun, mpi }: SubmitJob, limits: SubmissionLimits): Refusal | undefined {
  if (tasksRun === "each" && !limits.tasksRunEach) {
    return refuse(
      "invalid",
      "Cannot run the command once per task: only a scheduler on a cluster does that; leave out tasksRun (--tasks-run each), and let the command start its processes itself, for example with mpirun",
    );
  }
  if (mpi === undefined || tasksRun === "each") return undefined;
  return refuse(
    "invalid",
    `Cannot start a job with MPI of type ${JSON.stringify(mpi)}: its command runs once; expected tasksRun (--tasks-run each) as well`,
  );
}

/** What runs in a container has the programs of its image, and not those of the machine. */
function checkEnvironment({ image, modules, conda, venv }: SubmitJob): Refusal | undefined {
  const other = modules ? "modules" : conda ? "conda" : "venv";
  if (image === undefined || { modules, conda, venv }[other] === undefined) return undefined;
  return refuse(
    "invalid",
    `Cannot use ${other} together with the image ${JSON.stringify(image)}: a job in a container has the programs of its image; expected one of them, or activate the other one in the command`,
  );
}

function checkRetries({ retries = 0, retryOn, retryDelayMs }: SubmitJob): Refusal | undefined {
  if (retryOn === undefined && retryDelayMs !== undefined) {
    return refuse(
      "invalid",
      "Cannot wait before a retry: the job names no end after which it is retried; expected retryOn (--retry-on fail) as well",
    );
  }
  if (retryOn === undefined || retries > 0) return undefined;
  return refuse("invalid", "Cannot retry a job without retries: expected retries (--retries 3)");
}

/** A refusal of a begin that is certainly a mistake. */
export function refuseBegin({ beginAtMs = 0 }: SubmitJob, unixMs: number): Refusal | undefined {
  if (beginAtMs - unixMs <= MAX_BEGIN_AHEAD_MS) return undefined;
  return refuse(
    "invalid",
    `Cannot begin the job at the Unix time ${beginAtMs} ms: it is more than ten years from now; expected milliseconds since 1970, not microseconds`,
  );
}

/** Only administrators may set a priority above 0. */
export function checkPriority(caller: Caller, priority: number): Refusal | undefined {
  if (priority <= 0 || caller.isAdministrator) return undefined;
  return refuse(
    "invalid",
    `Cannot set priority ${priority}: you may use −100 to 0; ask an administrator for a higher one`,
  );
}
