/**
 * Splits a stream into lines of JSON, and checks that a line is a message that the conductor can act on.
 */
import type { LaunchSpec } from "./attempts.ts";
import type { ConductorMatrix, PlacedGang, ToConductor } from "./conductor.ts";

/** Enough for the longest message: a launch with the environment of a user's shell. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;
/** Far more than the processors of any machine that Tutti schedules. */
const MAX_TASKS = 1_000_000;
const IDENTITY = /^[0-9a-f]{32}$/;

/** Cuts a stream of bytes into lines. */
export class LineReader {
  #parts: Buffer[] = [];
  #length = 0;

  /** @returns the lines that are now complete, or undefined if a line is too long to be a message */
  push(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, end));
      lines.push(Buffer.concat(this.#parts).toString("utf8"));
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#length += chunk.length - from;
    }
    return this.#length > MAX_LINE_LENGTH ? undefined : lines;
  }
}

/** The message in a line, or why the line is not a message. */
export function parseMessage(
  line: string,
): ToConductor | { readonly type: "malformed"; readonly message: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return malformed("the line is not JSON");
  }
  if (!isObject(value)) return malformed("it is not an object");
  const problem = problemOf(value);
  return problem === undefined ? (value as unknown as ToConductor) : malformed(problem);
}

function malformed(problem: string) {
  return {
    type: "malformed",
    message: `Cannot read a message: ${problem}, expected a message of the conductor's protocol`,
  } as const;
}

type Fields = Readonly<Record<string, unknown>>;

function problemOf(message: Fields): string | undefined {
  switch (message.type) {
    case "hello":
      if (message.owner !== undefined && !isText(message.owner)) return "the owner is not a text";
      return message.protocol === 3
        ? undefined
        : `protocol ${show(message.protocol)} is not spoken here; the revision e32fa342 of Tutti speaks 1 to 3`;
    case "matrix":
    case "stage":
      return isObject(message.matrix) ? matrixProblem(message.matrix) : "the matrix is missing";
    case "launch":
      return isObject(message.spec) ? specProblem(message.spec) : "the specification is missing";
    case "stop":
      if (typeof message.kill !== "boolean") return "kill is neither true nor false";
      if (typeof message.reason !== "string") return "the reason is not a string";
      return keyProblem(message.attempt) ?? identityProblem(message.identity);
    case "forget":
    case "keep":
      return keyProblem(message.attempt) ?? identityProblem(message.identity);
    case "shutdown":
      return typeof message.killJobs === "boolean" ? undefined : "killJobs is neither true nor false";
    case "ping":
      return countProblem(message, "id");
    case "grid":
      return Number.isFinite(message.epochMs)
        ? undefined
        : `epochMs ${show(message.epochMs)} is not a time in ms`;
    case "turn":
      return (
        countProblem(message, "sequence") ??
        (Number.isSafeInteger(message.atSlot)
          ? undefined
          : `atSlot ${show(message.atSlot)} is not a whole number`)
      );
    case "revoke":
      return countProblem(message, "sequence");
    case "join":
      return isObject(message.member) ? memberProblem(message.member) : "the member is missing";
    case "step":
      if (!isWords(message.step)) return "the step is not a list of words";
      if (!isObject(message.spec)) return "the specification is missing";
      return specProblem(message.spec) ?? tasksProblem(message.spec);
    default:
      return `the type ${show(message.type)} is unknown`;
  }
}

function keyProblem(key: unknown): string | undefined {
  if (!isObject(key)) return "the attempt is missing";
  for (const field of ["job", "attempt"]) {
    if (!isCount(key[field], 0, Number.MAX_SAFE_INTEGER)) {
      return `${field} ${show(key[field])} is not a whole number from 0`;
    }
  }
  return undefined;
}

function countProblem(message: Fields, field: string): string | undefined {
  return isCount(message[field], 0, Number.MAX_SAFE_INTEGER)
    ? undefined
    : `${field} ${show(message[field])} is not a whole number from 0`;
}

/** The shim puts the identity into a script and into file names, so only digits are safe. */
function identityProblem(identity: unknown): string | undefined {
  if (identity === undefined || (typeof identity === "string" && IDENTITY.test(identity))) return undefined;
  return `the identity ${show(identity)} is not 32 hexadecimal digits`;
}

function specProblem(spec: Fields): string | undefined {
  const wrong = keyProblem(spec) ?? identityProblem(spec.identity);
  if (wrong !== undefined) return wrong;
  for (const field of ["folder", "cwd", "stdout", "stderr"]) {
    const path = spec[field];
    if (!isText(path) || !path.startsWith("/")) return `${field} ${show(path)} is not an absolute path`;
  }
  if (!isWords(spec.command)) return "the command is not a list of words";
  if (!isObject(spec.env)) return "the environment is missing";
  for (const [name, value] of Object.entries(spec.env)) {
    if (name === "" || name.includes("=") || name.includes("\0") || !isText(value)) {
      return `the environment cannot contain the variable ${show(name)}`;
    }
  }
  for (const field of ["uid", "gid", "memoryBytes", "limitMs", "threads"]) {
    if (spec[field] !== undefined && !isCount(spec[field], 0, Number.MAX_SAFE_INTEGER)) {
      return `${field} ${show(spec[field])} is not a whole number from 0`;
    }
  }
  if (spec.umask !== undefined && !isCount(spec.umask, 0, 0o777)) {
    return `umask ${show(spec.umask)} is not a whole number from 0 to 511`;
  }
  return isCount(spec.graceMs, 0, 2 ** 31 - 1)
    ? undefined
    : `graceMs ${show(spec.graceMs)} is not a time in ms`;
}

/** A step writes a script for each task, so their number must be known. */
function tasksProblem({ tasks }: Fields): string | undefined {
  return isCount(tasks, 1, MAX_TASKS) ? undefined : `tasks ${show(tasks)} is not a number of tasks from 1`;
}

function memberProblem(member: Fields): string | undefined {
  const wrong = keyProblem(member) ?? identityProblem(member.identity);
  if (wrong !== undefined) return wrong;
  const { folder, ranks } = member;
  if (!isText(folder) || !folder.startsWith("/")) return `folder ${show(folder)} is not an absolute path`;
  if (!isWords(member.nodes)) return "the nodes are not a list of names";
  if (member.tasksRun !== "once" && member.tasksRun !== "each") {
    return `tasksRun ${show(member.tasksRun)} is neither once nor each`;
  }
  if (!Array.isArray(ranks) || !ranks.every((rank) => isCount(rank, 0, MAX_TASKS - 1))) {
    return "the ranks are not a list of numbers";
  }
  if (new Set(ranks).size < ranks.length) return "a rank is twice in the list";
  for (const field of ["uid", "gid", "limitMs"]) {
    if (member[field] !== undefined && !isCount(member[field], 0, Number.MAX_SAFE_INTEGER)) {
      return `${field} ${show(member[field])} is not a whole number from 0`;
    }
  }
  return isCount(member.graceMs, 0, 2 ** 31 - 1)
    ? undefined
    : `graceMs ${show(member.graceMs)} is not a time in ms`;
}

/** Why no conductor can run this matrix; undefined if it can. */
export function matrixProblem(matrix: Fields | ConductorMatrix): string | undefined {
  const { sequence, slotMs, mode, fromSlot, rows } = matrix as Fields;
  if (!isCount(sequence, 0, Number.MAX_SAFE_INTEGER)) {
    return `sequence ${show(sequence)} is not a whole number from 0`;
  }
  if (typeof slotMs !== "number" || !(slotMs >= 20 && slotMs <= 60_000)) {
    return `slotMs ${show(slotMs)} is not between 20 and 60000`;
  }
  if (mode !== "gang" && mode !== "concurrent") return `mode ${show(mode)} is neither gang nor concurrent`;
  if (fromSlot !== undefined && !Number.isSafeInteger(fromSlot)) {
    return `fromSlot ${show(fromSlot)} is not a whole number`;
  }
  if (!isMark((matrix as Fields).strict)) return "strict is neither true nor left out";
  const paused = (matrix as Fields).paused ?? [];
  if (!Array.isArray(paused)) return "paused is not a list";
  const wrong = paused.map(keyProblem).find((problem) => problem !== undefined);
  if (wrong !== undefined) return `${wrong} in the list of paused gangs`;
  if (!Array.isArray(rows) || !rows.every(Array.isArray)) return "rows is not a list of lists";
  const cpusOfGang = new Map<string, string>();
  for (const row of rows) {
    const problem = rowProblem(row, cpusOfGang);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function rowProblem(row: readonly unknown[], cpusOfGang: Map<string, string>): string | undefined {
  const taken = new Set<number>();
  const gangs = new Set<string>();
  for (const gang of row) {
    const wrong = keyProblem(gang);
    if (wrong !== undefined) return wrong;
    const name = gangName(gang as PlacedGang);
    const { cpus, closed } = gang as PlacedGang;
    if (!isMark(closed)) return `closed of job ${name} is neither true nor left out`;
    if (gangs.has(name)) return `job ${name} is twice in one row`;
    gangs.add(name);
    if (!Array.isArray(cpus) || !cpus.every((cpu) => isCount(cpu, 0, 65_535))) {
      return `the CPUs of job ${name} are not a list of numbers`;
    }
    for (const cpu of cpus) {
      if (taken.has(cpu)) return `CPU ${cpu} is used twice in one row`;
      taken.add(cpu);
    }
    const list = cpus.join(",");
    if ((cpusOfGang.get(name) ?? list) !== list) return `job ${name} has other CPUs in another row`;
    cpusOfGang.set(name, list);
  }
  return undefined;
}

/** Name of the gang of an attempt, as used in cgroups and environment marks. */
export function gangName({ job, attempt }: Pick<LaunchSpec, "job" | "attempt">): string {
  return `${job}.${attempt}`;
}

function isMark(value: unknown): boolean {
  return value === undefined || value === true;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

function isCount(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

function show(value: unknown): string {
  return value === undefined ? "(none)" : (JSON.stringify(value)?.slice(0, 80) ?? String(value));
}
