/**
 * From a request to jobs: every field is looked at, whoever built it, and what cannot be used is refused with what, why and what
 * to do. Nothing here trusts that the request has the type it claims to have.
 */
import { basename, isAbsolute } from "node:path";
import { closest } from "../core/closest.ts";
import { NO_QUEUE, type QueueClass } from "../core/queue-classes.ts";
import { explainQueue } from "../policies/queue-selection.ts";
import type { QueueSetting } from "./config.ts";
import type { Caller, Refusal, RefusalCode, SubmitRequest } from "./service.ts";

export interface SubmissionLimits {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly queues: readonly QueueSetting[];
}

export const MOST_JOBS_AT_ONCE = 10_000;
/** Most of what Linux passes to a program, with room to spare. */
const MOST_BYTES = 1_000_000;
/** A single string that Linux passes to a program is shorter than 32 pages. */
const MOST_STRING_BYTES = 131_071;
/** A script is kept in the store and copied for every start. */
export const MOST_SCRIPT_BYTES = 2 ** 20;
/** What the jobs of a batch may hold together, each job of an array counted: each is written to disk and kept. */
const MOST_BATCH_BYTES = 2 ** 26;
/** A job waited for, as kept. */
const AFTER_BYTES = 24;
/** A text, however short. */
const TEXT_BYTES = 24;
const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
const MOST_MS = 10 * 365 * 86_400_000;
const MOST_AFTER = 1000;
const MOST_RETRIES = 1000;
const DEFAULT_ESTIMATE_MS = 3_600_000;

const MASK = /^0?[0-7]{3}$/;
/** Of who does not say: files for the job's user alone. */
const DEFAULT_MASK = "077";

export function refuse(refused: RefusalCode, message: string): Refusal {
  return { refused, message };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refused" in value;
}

/** The first thing about a batch that cannot be accepted; undefined when there is none. */
export function checkBatch(
  caller: Caller,
  batch: readonly SubmitRequest[],
  limits: SubmissionLimits,
): Refusal | undefined {
  if (!Array.isArray(batch) || batch.length === 0 || batch.length > MOST_JOBS_AT_ONCE) {
    const count = Array.isArray(batch) ? `${batch.length} jobs` : "no list of jobs";
    return refuse(
      "invalid",
      `Cannot submit ${count} at once: expected 1 to ${MOST_JOBS_AT_ONCE}; submit them in several batches`,
    );
  }
  let bytes = 0;
  let before: SubmitRequest | undefined;
  for (const request of batch) {
    const refusal = checkRequest(caller, request, limits, before);
    if (refusal !== undefined) return refusal;
    before = request;
    bytes += heldBytes(request);
    if (bytes > MOST_BATCH_BYTES) {
      return refuse(
        "too-large",
        `Cannot submit these ${batch.length} jobs: their commands, paths and jobs to wait for have more than ${MOST_BATCH_BYTES} bytes together; put data into files, or submit several batches`,
      );
    }
  }
  if (batch.some(({ key }) => key !== batch[0].key)) {
    return refuse("invalid", "Cannot submit a batch with several keys: expected the same key in each job");
  }
  return undefined;
}

/** Bytes that a job holds in memory while it has not ended; roughly. Environment and script are on disk only, and shared. */
export function heldBytes({
  command,
  cwd,
  stdout = "",
  stderr = "",
  after = [],
}: Pick<SubmitRequest, "command" | "cwd" | "stdout" | "stderr" | "after">): number {
  let bytes = textBytes(cwd) + textBytes(stdout) + textBytes(stderr) + after.length * AFTER_BYTES;
  for (const word of command) bytes += textBytes(word);
  return bytes;
}

/** Of a text in memory: two a character as soon as one is not Latin-1. */
function textBytes(text: string): number {
  return TEXT_BYTES + text.length * (BEYOND_LATIN_1.test(text) ? 2 : 1);
}

/** File mode creation mask of the job. */
export function maskOf({ umask = DEFAULT_MASK }: SubmitRequest): number {
  return Number.parseInt(umask, 8);
}

/** Queue of a job and how it was chosen. */
export interface ChosenQueue {
  readonly queue: string;
  readonly reason?: string | undefined;
  readonly estimateMs: number;
}

/** The queue that the request names, or the tightest one that admits it. */
export function chooseQueue(request: SubmitRequest, limits: SubmissionLimits): ChosenQueue | Refusal {
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
  const classes: readonly QueueClass[] = queues.map((queue) => queue.queueClass);
  if (request.queue !== undefined) {
    const setting = queues.find(({ queueClass }) => queueClass.name === request.queue);
    if (setting === undefined) {
      const names = queues.map(({ queueClass }) => queueClass.name);
      return refuse(
        "invalid",
        `Cannot submit to queue ${quote(request.queue)}${closest(request.queue, names)}: expected ${names.length === 1 ? names[0] : `one of ${names.join(", ")}`}`,
      );
    }
    const { ruledOut } = explainQueue([setting.queueClass], shape(setting));
    if (ruledOut.length > 0) {
      const [{ limit, asked, allowed }] = ruledOut;
      return refuse(
        "too-large",
        `Cannot submit to queue ${quote(request.queue)}: the job asks for ${describeLimit(limit, asked)}, the queue allows ${describeLimit(limit, allowed)}; ask for less or name another queue`,
      );
    }
    return { queue: request.queue, reason: "named in the request", estimateMs: estimateOf(setting) };
  }
  const selection = explainQueue(classes, shape());
  if (selection.queue === NO_QUEUE) {
    const why = selection.ruledOut.map(
      ({ queue, limit, allowed }) => `${classes[queue].name} allows ${describeLimit(limit, allowed)}`,
    );
    return refuse(
      "too-large",
      `Cannot find a queue for ${tasks} tasks${request.limitMs === undefined ? "" : ` and ${request.limitMs / 1000} s`}: ${why.join(", ")}`,
    );
  }
  const chosen = queues[selection.queue];
  const passed = selection.passedOver.map((queue) => classes[queue].name);
  const reason =
    passed.length === 0
      ? "the only queue that admits it"
      : `admitted by ${[chosen.queueClass.name, ...passed].join(", ")}; ${chosen.queueClass.name} has the tightest limits${selection.rule === "order" ? ", by order" : ` (${selection.rule})`}`;
  return {
    queue: chosen.queueClass.name,
    ...(queues.length > 1 && { reason }),
    estimateMs: estimateOf(chosen),
  };
}

export function nameOf(request: SubmitRequest): string {
  return request.name ?? basename(request.command[0]).slice(0, 200);
}

function describeLimit(limit: string, value: number): string {
  if (limit === "elapsed") return `${value} s`;
  return `${value} ${value === 1 ? limit.replace(/e?s$/, limit === "processes" ? "" : "") : limit}`;
}

/** @param before the request before it in its batch: what both share, as the jobs of an array do, is checked once */
function checkRequest(
  caller: Caller,
  request: SubmitRequest,
  limits: SubmissionLimits,
  before: SubmitRequest | undefined,
): Refusal | undefined {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return refuse("invalid", `Cannot submit ${quote(request)}: expected a job with a command`);
  }
  const { command, cwd, env, script, after } = request;
  const isFirst = before === undefined;
  const isSame = !isFirst && before.command === command && before.cwd === cwd && before.env === env;
  return (
    (isSame ? undefined : checkCommand(request)) ??
    (isSame && before.script === script ? undefined : checkScript(request)) ??
    checkNumbers(caller, request) ??
    checkText(request) ??
    (!isFirst && before.after === after ? undefined : checkAfter(request)) ??
    checkSize(request, limits)
  );
}

function checkCommand({ command, cwd, env }: SubmitRequest): Refusal | undefined {
  if (!Array.isArray(command) || command.length === 0 || !command.every(isText) || command[0] === "") {
    return refuse(
      "invalid",
      `Cannot run ${quote(command)}: expected a command, a list of strings whose first is a program`,
    );
  }
  if (!isText(cwd) || !isAbsolute(cwd)) {
    return refuse("invalid", `Cannot use ${quote(cwd)} as working folder: expected an absolute path`);
  }
  if (typeof env !== "object" || env === null || Array.isArray(env)) {
    return refuse("invalid", `Cannot use ${quote(env)} as environment: expected names with values`);
  }
  let bytes = 0;
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0") || !isText(value)) {
      return refuse("invalid", `Cannot set ${quote(name)} in the environment: expected a name and a string`);
    }
    bytes += longest(name.length + value.length + 2);
  }
  for (const word of command) bytes += longest(word.length + 1);
  if (bytes <= MOST_BYTES) return undefined;
  return refuse(
    "too-large",
    `Cannot pass so much to a program: command and environment together have more than ${MOST_BYTES} bytes, or one string more than ${MOST_STRING_BYTES}; put it into a file`,
  );
}

function checkScript({ script, command }: SubmitRequest): Refusal | undefined {
  if (script === undefined) return undefined;
  if (typeof script !== "object" || script === null || typeof script.base64 !== "string") {
    return refuse("invalid", `Cannot use ${quote(script)} as script: expected its bytes and its word`);
  }
  const { base64, word } = script;
  const most = Math.ceil(MOST_SCRIPT_BYTES / 3) * 4;
  if (base64.length > most || Buffer.byteLength(base64, "base64") > MOST_SCRIPT_BYTES) {
    return refuse(
      "too-large",
      `Cannot keep a script of ${Buffer.byteLength(base64, "base64")} bytes: expected at most ${MOST_SCRIPT_BYTES}; put its data into a file that it reads`,
    );
  }
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return refuse("invalid", `Cannot use ${quote(base64)} as script: expected base64`);
  }
  return wrongInteger("word of the script", word ?? -1, 0, command.length - 1);
}

/** The length, or too much for any sum when Linux would not take the string. */
function longest(length: number): number {
  return length > MOST_STRING_BYTES ? MOST_BYTES + 1 : length;
}

function checkNumbers(caller: Caller, request: SubmitRequest): Refusal | undefined {
  const { priority } = request;
  const wrong =
    wrongInteger("tasks", request.tasks, 1, Number.MAX_SAFE_INTEGER) ??
    wrongInteger("limitMs", request.limitMs, 1, MOST_MS) ??
    wrongInteger("memoryBytes", request.memoryBytes, 1, Number.MAX_SAFE_INTEGER) ??
    wrongInteger("arrayIndex", request.arrayIndex, 0, 1e9) ??
    wrongInteger("arrayAtOnce", request.arrayAtOnce, 1, 1e9) ??
    wrongInteger("priority", priority, -100, 100) ??
    wrongInteger("retries", request.retries, 0, MOST_RETRIES);
  if (wrong !== undefined) return wrong;
  return checkPriority(caller, priority ?? 0);
}

/** Only administrators may raise a job above the others. */
export function checkPriority(caller: Caller, priority: number): Refusal | undefined {
  const wrong = wrongInteger("priority", priority, -100, 100);
  if (wrong !== undefined) return wrong;
  if (priority <= 0 || caller.isAdministrator) return undefined;
  return refuse(
    "invalid",
    `Cannot give priority ${priority}: you may give −100 to 0; ask the administrator for more`,
  );
}

function wrongInteger(field: string, value: unknown, least: number, most: number): Refusal | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most)
    return undefined;
  return refuse(
    "invalid",
    `Cannot use ${quote(value)} as ${field}: expected a whole number from ${least} to ${most}`,
  );
}

function checkText(request: SubmitRequest): Refusal | undefined {
  for (const [field, most] of [
    ["name", 200],
    ["queue", 200],
    ["key", 200],
    ["stdout", 4095],
    ["stderr", 4095],
  ] as const) {
    const value: unknown = request[field];
    if (value === undefined) continue;
    if (!isText(value) || value === "" || value.length > most) {
      return refuse("invalid", `Cannot use ${quote(value)} as ${field}: expected 1 to ${most} characters`);
    }
  }
  if (request.umask !== undefined && !(isText(request.umask) && MASK.test(request.umask))) {
    return refuse(
      "invalid",
      `Cannot use ${quote(request.umask)} as umask: expected three octal digits such as 027`,
    );
  }
  if (request.held !== undefined && typeof request.held !== "boolean") {
    return refuse("invalid", `Cannot use ${quote(request.held)} as held: expected true or false`);
  }
  return undefined;
}

function checkAfter({ after }: SubmitRequest): Refusal | undefined {
  if (after === undefined) return undefined;
  const isRight =
    Array.isArray(after) &&
    after.length <= MOST_AFTER &&
    after.every(
      (one) =>
        typeof one === "object" &&
        one !== null &&
        Number.isSafeInteger(one.job) &&
        one.job >= 1 &&
        typeof one.ok === "boolean",
    );
  if (isRight) return undefined;
  return refuse(
    "invalid",
    `Cannot wait for ${quote(after)}: expected at most ${MOST_AFTER} jobs, each with its number and whether it has to end well`,
  );
}

function checkSize(
  { tasks = 1, memoryBytes = 0 }: SubmitRequest,
  limits: SubmissionLimits,
): Refusal | undefined {
  if (tasks > limits.cpus) {
    return refuse(
      "too-large",
      `Cannot run ${tasks} tasks: each has a CPU of its own, and the scheduler has ${limits.cpus}; ask for ${limits.cpus} or fewer`,
    );
  }
  if (memoryBytes > limits.memoryBytes) {
    return refuse(
      "too-large",
      `Cannot give ${gibibytes(memoryBytes)} of memory: the scheduler has ${gibibytes(limits.memoryBytes)}; ask for less`,
    );
  }
  return undefined;
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

/** A value in a message: short, on one line. */
function quote(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
