/**
 * The configuration file: JSON, or TOML in a file named .toml; every field is checked, unknown ones are refused with the closest known
 * one. docs/tutti.toml is a whole one; `tutti config schema` prints the table below as a JSON schema.
 */
import { closest } from "../../core/closest.ts";
import { InputError } from "../../core/errors.ts";
import { checkQueueClasses, type QueueClass } from "../../core/queue-classes.ts";
import { lineOf, parseText } from "./config-text.ts";

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

/** Whole numbers: least, most, meaning. */
const INTEGERS = {
  slotMs: [20, 60_000, "Length of a slot in ms"],
  mostRows: [1, 1000, "Rows of the matrix; 1 is space sharing"],
  memoryBytes: [
    1,
    Number.MAX_SAFE_INTEGER,
    "What the jobs of all rows may ask for together; left out: the machine's",
  ],
  graceMs: [0, 86_400_000, "From TERM to KILL, in ms"],
  keepDays: [1, 36_500, "Ended jobs and events older than this are forgotten"],
  keepJobs: [1, 10_000_000, "Of ended jobs so many are kept at most"],
} as const satisfies Record<string, readonly [number, number, string]>;
const MODES = ["gang", "concurrent"] as const;
const MOST_LIMIT_MS = 1e12;
const MOST_CPU = 65_535;
const FIELDS = ["policy", "mode", "cpus", ...Object.keys(INTEGERS), "queues"];
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

/** A mistake in the file: `where` is the field that it is about. */
class Mistake extends Error {
  readonly where: string;

  constructor(where: string, message: string) {
    super(message);
    this.where = where;
  }
}

export interface ReadConfig {
  readonly config: Config;
  /** The line of each setting that the file has. */
  readonly lines: ReadonlyMap<string, number | undefined>;
}

/**
 * Reads a configuration; what it leaves out has the defaults.
 * @param file for messages, and for its kind
 * @throws InputError naming the file, the line, the field, the value and what was expected
 */
export function readConfig(text: string, file: string): ReadConfig {
  const value = parseText(text, file);
  try {
    const fields = object(value, FIELDS, "the configuration", "");
    const lines = new Map(Object.keys(fields).map((field) => [field, lineOf(text, field)]));
    return { config: configOf(fields), lines };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const line = error.where === "" ? undefined : lineOf(text, error.where);
    const place = `"${file}"${line === undefined ? "" : `, line ${line}`}`;
    const end = error.message.lastIndexOf(": ");
    throw new InputError(`${error.message.slice(0, end)} in ${place}${error.message.slice(end)}`);
  }
}

/** The same, without the lines. */
export function parseConfig(text: string, file: string): Config {
  return readConfig(text, file).config;
}

/** JSON schema (2020-12) of the file. */
export function configSchema(): object {
  const integer = (
    [minimum, maximum, description]: readonly [number, number, string],
    standard?: unknown,
  ) => ({
    type: "integer",
    minimum,
    maximum,
    description,
    ...(standard !== undefined && { default: standard }),
  });
  const size = (what: string) => integer([1, WIDEST, what]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of tutti serve",
    type: "object",
    additionalProperties: false,
    properties: {
      policy: { type: "string", default: DEFAULT_CONFIG.policy, description: "As tutti policies lists them" },
      mode: { enum: MODES, default: DEFAULT_CONFIG.mode, description: "What the other rows do in a slot" },
      cpus: {
        type: "array",
        items: { type: "integer", minimum: 0, maximum: MOST_CPU },
        minItems: 1,
        uniqueItems: true,
        description: "CPUs that jobs may have; left out: all",
      },
      ...Object.fromEntries(
        Object.entries(INTEGERS).map(([field, range]) => [
          field,
          integer(range, DEFAULT_CONFIG[field as keyof Config]),
        ]),
      ),
      queues: {
        type: "array",
        minItems: 1,
        maxItems: 127,
        description: "Classes; a job that names none gets the tightest one that admits it",
        items: {
          type: "object",
          additionalProperties: false,
          required: ["name"],
          properties: {
            name: { type: "string", pattern: "^[^\\s:]+$" },
            processors: size("Most CPUs of a job"),
            processes: size("Most processes of a job"),
            threads: size("Most threads of a process"),
            elapsedBelowS: {
              type: "number",
              exclusiveMinimum: 0,
              description: "Only jobs with a limit below, in s",
            },
            reservations: {
              type: "object",
              additionalProperties: false,
              required: ["limit", "threshold", "whenHeadBlocked"],
              properties: {
                limit: { type: "integer", minimum: 1 },
                threshold: { type: "number" },
                whenHeadBlocked: { type: "boolean" },
              },
              description: "When its jobs reserve CPUs, under the policy connected-reservation",
            },
            defaultLimitMs: integer([
              1,
              MOST_LIMIT_MS,
              "Expected running time of a job that states none, in ms",
            ]),
          },
        },
      },
    },
  };
}

function configOf(fields: Record<string, unknown>): Config {
  const integer = (field: keyof typeof INTEGERS): number | undefined => {
    const [least, most] = INTEGERS[field];
    return fields[field] === undefined ? undefined : integerOf(fields[field], field, least, most);
  };
  const mode = fields.mode ?? DEFAULT_CONFIG.mode;
  if (mode !== "gang" && mode !== "concurrent") wrong("mode", mode, "gang or concurrent");
  const policy = fields.policy ?? DEFAULT_CONFIG.policy;
  if (typeof policy !== "string") wrong("policy", policy, "the name of a policy");
  const memoryBytes = integer("memoryBytes");
  return {
    policy: policy as string,
    mode: mode as Config["mode"],
    slotMs: integer("slotMs") ?? DEFAULT_CONFIG.slotMs,
    mostRows: integer("mostRows") ?? DEFAULT_CONFIG.mostRows,
    graceMs: integer("graceMs") ?? DEFAULT_CONFIG.graceMs,
    keepDays: integer("keepDays") ?? DEFAULT_CONFIG.keepDays,
    keepJobs: integer("keepJobs") ?? DEFAULT_CONFIG.keepJobs,
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(fields.cpus !== undefined && { cpus: cpusOf(fields.cpus) }),
    queues: fields.queues === undefined ? DEFAULT_CONFIG.queues : queuesOf(fields.queues),
  };
}

function cpusOf(value: unknown): number[] {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size !== value.length) {
    wrong("cpus", value, "a list of different CPU numbers");
  }
  return (value as unknown[])
    .map((cpu, i) => integerOf(cpu, `cpus[${i}]`, 0, MOST_CPU))
    .sort((a, b) => a - b);
}

function queuesOf(value: unknown): QueueSetting[] {
  if (!Array.isArray(value)) wrong("queues", value, "a list of queues");
  const settings = (value as unknown[]).map((one, i) => {
    const fields = object(one, QUEUE_FIELDS, `queues[${i}]`, `queues[${i}]`);
    const { defaultLimitMs, ...rest } = fields;
    const { name } = fields;
    if (typeof name !== "string") wrong(`queues[${i}].name`, name, "a word");
    // Where nothing is said about processes and threads, only processors count.
    const queueClass = { processors: WIDEST, processes: WIDEST, threads: WIDEST, ...rest } as QueueClass;
    return {
      queueClass,
      ...(defaultLimitMs !== undefined && {
        defaultLimitMs: integerOf(defaultLimitMs, `queues[${i}].defaultLimitMs`, 1, MOST_LIMIT_MS),
      }),
    };
  });
  try {
    checkQueueClasses(settings.map(({ queueClass }) => queueClass));
  } catch (error) {
    const { message } = error as Error;
    const [, number] = /queue class (\d+)/.exec(message) ?? [];
    const byName = settings.findIndex(({ queueClass: { name } }) => message.includes(`"${name}"`));
    const index = number === undefined ? byName : Number(number) - 1;
    throw new Mistake(index < 0 ? "queues" : `queues[${index}]`, message);
  }
  return settings;
}

function object(
  value: unknown,
  known: readonly string[],
  what: string,
  where: string,
): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Mistake(where, `Cannot use ${JSON.stringify(value)} as ${what}: expected an object`);
  }
  for (const field of Object.keys(value)) {
    if (known.includes(field)) continue;
    throw new Mistake(
      where === "" ? field : `${where}.${field}`,
      `Cannot use "${field}" in ${what}: there is no such field${closest(field, known)}, expected ${known.join(", ")}`,
    );
  }
  return value as Record<string, unknown>;
}

function integerOf(value: unknown, field: string, least: number, most: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most)
    return value;
  return wrong(field, value, `a whole number from ${least} to ${most}`);
}

function wrong(field: string, value: unknown, expected: string): never {
  throw new Mistake(field, `Cannot use ${JSON.stringify(value)} as ${field}: expected ${expected}`);
}
