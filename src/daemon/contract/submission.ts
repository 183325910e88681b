/**
 * Checks submitted jobs where the schema cannot, because the check needs the scheduler's limits and queues.
 */
import { basename } from "node:path";
import { closest } from "../../core/did-you-mean.ts";
import { NO_QUEUE } from "../../core/queue-classes.ts";
import { explainQueue } from "../../policies/space/queue-selection.ts";
import { parseArray } from "../../protocol/array.ts";
import { MAX_NAME_LENGTH, MAX_STRING_LENGTH } from "../../protocol/limits.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "../../protocol/refusal.ts";
import type { SubmitJob } from "../../protocol/schema.ts";
import type { QueueSetting } from "../config/config.ts";
import type { JobRecord } from "./record.ts";
import type { Caller } from "./service.ts";

export interface SubmissionLimits {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly queues: readonly QueueSetting[];
}

/** A requested job or job array. */
export interface Submission {
  readonly request: SubmitJob;
  /** Array index of each job; a single undefined: one job outside any array. */
  readonly indices: readonly (number | undefined)[];
  /** Maximum number of jobs of the array in flight at a time; undefined: no maximum. */
  readonly arrayLimit?: number | undefined;
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
  for (const request of jobs) {
    if (request.array !== undefined && jobs.length > 1) {
      return refuse(
        "invalid",
        "Cannot submit an array together with other jobs: expected it alone in its request",
      );
    }
    const submission = readArray(request);
    if (isRefusal(submission)) return submission;
    const refusal =
      checkProgram(request) ??
      checkScriptWord(request) ??
      checkPriority(caller, request.priority ?? 0) ??
      checkSize(request, limits);
    if (refusal !== undefined) return refusal;
    batch.push(submission);
    bytes += submission.indices.length * retainedBytes(request);
    if (bytes > MAX_BATCH_BYTES) {
      return refuse(
        "too-large",
        `Cannot submit these ${Math.max(jobs.length, submission.indices.length)} jobs: their commands, paths and dependencies have more than ${MAX_BATCH_BYTES} bytes together; put data into files, or submit several batches`,
      );
    }
  }
  return batch;
}

/** Number of jobs in a batch; each job of an array counts. */
export function jobCount(batch: readonly Submission[]): number {
  return batch.reduce((count, { indices }) => count + indices.length, 0);
}

/** Approximate bytes that a live job takes in memory. Environment and script are only on disk, and shared. */
export function retainedBytes(
  job: Pick<SubmitJob, "command" | "cwd" | "stdout" | "stderr" | "after">,
): number {
  const { command, cwd, stdout = "", stderr = "", after = [] } = job;
  let bytes = textBytes(cwd) + textBytes(stdout) + textBytes(stderr) + after.length * DEPENDENCY_BYTES;
  for (const word of command) bytes += textBytes(word);
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

/** The queue that the request names, or the tightest one that admits it. */
export function chooseQueue(request: SubmitJob, limits: SubmissionLimits): ChosenQueue | Refusal {
  const tasks = request.tasks ?? 1;
  const { queues } = limits;
  const estimateOf = (setting: QueueSetting | undefined): number =>
    request.limitMs ?? setting?.defaultLimitMs ?? DEFAULT_ESTIMATE_MS;
  const shape = (setting?: QueueSetting) => ({
    processors: tasks,
    processes: tasks,
    threads: 1,
    estimateS: estimateOf(setting) / 1000,
  });
  if (request.queue !== undefined) {
    const setting = queues.find(({ queueClass }) => queueClass.name === request.queue);
    if (setting === undefined) {
      const names = queues.map(({ queueClass }) => queueClass.name);
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
    return { queue: request.queue, queueReason: "named in the request", estimateMs: estimateOf(setting) };
  }
  const classes = queues.map(({ queueClass }) => queueClass);
  const selection = explainQueue(classes, shape());
  if (selection.queue === NO_QUEUE) {
    const why = selection.ruledOut.map(
      ({ queue, limit, allowed }) => `${classes[queue].name} allows ${describeLimit(limit, allowed)}`,
    );
    return refuse(
      "too-large",
      `Cannot find a queue for ${tasks} tasks${request.limitMs === undefined ? "" : ` and ${request.limitMs / 1000} s`}: ${why.join(", ")}; ask for less`,
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
  if (limit === "elapsed") return `${value} s`;
  return `${value} ${value === 1 ? limit.replace(/e?s$/, limit === "processes" ? "" : "") : limit}`;
}

function readArray(request: SubmitJob): Submission | Refusal {
  if (request.array === undefined) return { request, indices: NO_ARRAY };
  const spec = parseArray(request.array);
  if (typeof spec === "string") return refuse("invalid", spec);
  return { request, indices: spec.indices, arrayLimit: spec.atOnce };
}

function checkProgram({ command, env }: SubmitJob): Refusal | undefined {
  let bytes = 0;
  for (const [name, value] of Object.entries(env)) {
    const length = name.length + value.length + 2;
    bytes += length > MAX_STRING_LENGTH ? Number.POSITIVE_INFINITY : length;
  }
  for (const word of command) bytes += word.length + 1;
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

/** Only administrators may set a priority above 0. */
export function checkPriority(caller: Caller, priority: number): Refusal | undefined {
  if (priority <= 0 || caller.isAdministrator) return undefined;
  return refuse(
    "invalid",
    `Cannot set priority ${priority}: you may use −100 to 0; ask an administrator for a higher one`,
  );
}

function checkSize({ tasks = 1, memoryBytes = 0 }: SubmitJob, limits: SubmissionLimits): Refusal | undefined {
  if (tasks > limits.cpus) {
    return refuse(
      "too-large",
      `Cannot run ${tasks} tasks: each needs a CPU of its own, and the scheduler has ${limits.cpus}; ask for ${limits.cpus} or fewer`,
    );
  }
  if (memoryBytes > limits.memoryBytes) {
    return refuse(
      "too-large",
      `Cannot provide ${gibibytes(memoryBytes)} of memory: the scheduler has ${gibibytes(limits.memoryBytes)}; ask for less`,
    );
  }
  return undefined;
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
