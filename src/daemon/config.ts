/**
 * The configuration file: JSON, every field checked, unknown ones refused with the closest known one.
 *
 *   { "policy": "gang", "slotMs": 100, "mode": "gang", "mostRows": 4, "memoryBytes": 8589934592, "cpus": [0, 1, 2, 3],
 *     "graceMs": 5000,
 *     "queues": [ { "name": "short", "processors": 2, "elapsedBelowS": 600, "defaultLimitMs": 60000 },
 *                 { "name": "long", "processors": 4 } ] }
 */
import { closest } from "../core/closest.ts";
import { InputError } from "../core/errors.ts";
import { checkQueueClasses, type QueueClass } from "../core/queue-classes.ts";

export interface QueueSetting {
  readonly queueClass: QueueClass;
  /** Expected running time of a job that states no limit. */
  readonly defaultLimitMs?: number | undefined;
}

export interface Config {
  /** As `choosePolicy` reads it. */
  readonly policy: string;
  /** 20 … 60,000. */
  readonly slotMs: number;
  readonly mode: "gang" | "concurrent";
  readonly mostRows: number;
  /** Undefined: the machine's. */
  readonly memoryBytes?: number | undefined;
  /** Undefined: all that the process may use. */
  readonly cpus?: readonly number[] | undefined;
  /** Time from TERM to KILL. */
  readonly graceMs: number;
  /** Ended jobs and events are kept for so long. */
  readonly keepDays: number;
  /** And of ended jobs so many at most. */
  readonly keepJobs: number;
  /** Never empty; without any in the file there is one, `default`, that admits everything. */
  readonly queues: readonly QueueSetting[];
}

const FIELDS = [
  "policy",
  "slotMs",
  "mode",
  "mostRows",
  "memoryBytes",
  "cpus",
  "graceMs",
  "keepDays",
  "keepJobs",
  "queues",
];
const QUEUE_FIELDS = [
  "name",
  "processors",
  "processes",
  "threads",
  "elapsedBelowS",
  "reservations",
  "defaultLimitMs",
];
const WIDEST = 1_000_000;

export const DEFAULT_CONFIG: Config = {
  policy: "gang",
  slotMs: 100,
  mode: "gang",
  mostRows: 4,
  graceMs: 5000,
  keepDays: 30,
  keepJobs: 100_000,
  queues: [{ queueClass: { name: "default", processors: WIDEST, processes: WIDEST, threads: WIDEST } }],
};

/**
 * Reads a configuration; what it leaves out has the defaults.
 * @param file for messages
 * @throws InputError naming the file, the field, the value and what was expected
 */
export function parseConfig(text: string, file: string): Config {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${(error as Error).message}; expected JSON`);
  }
  const fields = object(value, FIELDS, file, "the configuration");
  const integer = (field: string, least: number, most: number, otherwise: number): number =>
    fields[field] === undefined ? otherwise : integerOf(fields[field], field, least, most, file);
  const mode = fields.mode ?? DEFAULT_CONFIG.mode;
  if (mode !== "gang" && mode !== "concurrent") wrong(file, "mode", mode, "gang or concurrent");
  const policy = fields.policy ?? DEFAULT_CONFIG.policy;
  if (typeof policy !== "string") wrong(file, "policy", policy, "the name of a policy");
  return {
    policy: policy as string,
    mode: mode as Config["mode"],
    slotMs: integer("slotMs", 20, 60_000, DEFAULT_CONFIG.slotMs),
    mostRows: integer("mostRows", 1, 1000, DEFAULT_CONFIG.mostRows),
    graceMs: integer("graceMs", 0, 86_400_000, DEFAULT_CONFIG.graceMs),
    keepDays: integer("keepDays", 1, 36_500, DEFAULT_CONFIG.keepDays),
    keepJobs: integer("keepJobs", 1, 10_000_000, DEFAULT_CONFIG.keepJobs),
    ...(fields.memoryBytes !== undefined && {
      memoryBytes: integer("memoryBytes", 1, Number.MAX_SAFE_INTEGER, 0),
    }),
    ...(fields.cpus !== undefined && { cpus: cpusOf(fields.cpus, file) }),
    queues: fields.queues === undefined ? DEFAULT_CONFIG.queues : queuesOf(fields.queues, file),
  };
}

function cpusOf(value: unknown, file: string): number[] {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size !== value.length) {
    wrong(file, "cpus", value, "a list of different CPU numbers");
  }
  return (value as unknown[])
    .map((cpu, i) => integerOf(cpu, `cpus[${i}]`, 0, 65_535, file))
    .sort((a, b) => a - b);
}

function queuesOf(value: unknown, file: string): QueueSetting[] {
  if (!Array.isArray(value)) wrong(file, "queues", value, "a list of queues");
  const settings = (value as unknown[]).map((one, i) => {
    const fields = object(one, QUEUE_FIELDS, file, `queues[${i}]`);
    const { defaultLimitMs, ...rest } = fields;
    const { name } = fields;
    if (typeof name !== "string") wrong(file, `queues[${i}].name`, name, "a word");
    // Where nothing is said about processes and threads, only processors count.
    const queueClass = { processors: WIDEST, processes: WIDEST, threads: WIDEST, ...rest } as QueueClass;
    return {
      queueClass,
      ...(defaultLimitMs !== undefined && {
        defaultLimitMs: integerOf(defaultLimitMs, `queues[${i}].defaultLimitMs`, 1, 1e12, file),
      }),
    };
  });
  try {
    checkQueueClasses(settings.map(({ queueClass }) => queueClass));
  } catch (error) {
    throw new InputError(`Cannot read "${file}": ${(error as Error).message}`);
  }
  return settings;
}

function object(
  value: unknown,
  known: readonly string[],
  file: string,
  what: string,
): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    wrong(file, what, value, "an object");
  }
  for (const field of Object.keys(value as object)) {
    if (known.includes(field)) continue;
    throw new InputError(
      `Cannot read "${file}": ${what} has no field "${field}"${closest(field, known)}, expected ${known.join(", ")}`,
    );
  }
  return value as Record<string, unknown>;
}

function integerOf(value: unknown, field: string, least: number, most: number, file: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most)
    return value;
  return wrong(file, field, value, `a whole number from ${least} to ${most}`);
}

function wrong(file: string, field: string, value: unknown, expected: string): never {
  throw new InputError(`Cannot use ${JSON.stringify(value)} as ${field} in "${file}": expected ${expected}`);
}
