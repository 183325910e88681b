/** The settings of the scheduler as its configuration file holds them. The words at a value say what is expected there. */
import { z } from "zod";
import { optional } from "./atoms.ts";
import { MAX_ROWS, MAX_SLOT_MS, MIN_SLOT_MS } from "./limits.ts";

/** Of a queue class that does not limit something. */
export const WIDEST = 1_000_000;
/** Of a queue, in ms; an expected running time, and no limit. */
const MAX_DEFAULT_LIMIT_MS = 1e12;

function whole(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
}

const size = (what: string) => optional(whole(1, WIDEST), what);

export const reservationRule = z.strictObject(
  {
    limit: z.int("a whole number from 1").min(1, "a whole number from 1"),
    threshold: z.number("a number from 0"),
    whenHeadBlocked: z.boolean("true or false"),
  },
  "an object",
);

export const queueSetting = z.strictObject(
  {
    name: z.string("a word").regex(/^[^\s:]+$/, "a word without spaces and colons"),
    processors: size("Most CPUs of a job"),
    processes: size("Most processes of a job"),
    threads: size("Most threads of a process"),
    elapsedBelowS: optional(
      z.number("seconds above 0").positive("seconds above 0"),
      "Only jobs with a limit below, in s",
    ),
    reservations: optional(
      reservationRule,
      "When its jobs reserve CPUs, under the policy connected-reservation",
    ),
    defaultLimitMs: optional(
      whole(1, MAX_DEFAULT_LIMIT_MS),
      "Expected running time of a job that states none, in ms",
    ),
  },
  "an object",
);

const CPUS = "a list of different CPU numbers";

export const configFile = z
  .strictObject(
    {
      policy: z
        .string("the name of a policy")
        .default("gang")
        .describe("As tutti policies lists them, or the whole path of a policy file"),
      mode: z
        .enum(["gang", "concurrent"], "gang or concurrent")
        .default("gang")
        .describe("What the other rows do in a slot"),
      cpus: z
        .array(whole(0, 65_535), CPUS)
        .min(1, CPUS)
        .refine((cpus) => new Set(cpus).size === cpus.length, CPUS)
        .optional()
        .meta({ uniqueItems: true, description: "CPUs that jobs may have; left out: all" }),
      slotMs: whole(MIN_SLOT_MS, MAX_SLOT_MS).default(100).describe("Length of a slot in ms"),
      mostRows: whole(1, MAX_ROWS).default(4).describe("Rows of the matrix; 1 is space sharing"),
      memoryBytes: whole(1, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe("What the jobs of all rows may ask for together; left out: the machine's"),
      graceMs: whole(0, 86_400_000).default(5000).describe("From TERM to KILL, in ms"),
      keepDays: whole(1, 36_500).default(30).describe("Ended jobs and events older than this are forgotten"),
      keepJobs: whole(1, 10_000_000).default(100_000).describe("Of ended jobs so many are kept at most"),
      queues: z
        .array(queueSetting, "a list of queues")
        .min(1)
        .max(127)
        .optional()
        .describe("Classes; a job that names none gets the tightest one that admits it"),
    },
    "an object",
  )
  .meta({ title: "Configuration of tutti serve" });

/** JSON schema (2020-12) of the file. */
export function configSchema(): object {
  return z.toJSONSchema(configFile, { io: "input" });
}
