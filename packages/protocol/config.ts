/**
 * Defines the schema of the configuration file. The text of each check completes "expected …" in messages.
 */
import { z } from "zod";
import { kindName, optional, unitName } from "./atoms.ts";
import { MAX_ROWS, MAX_SLOT_MS, MIN_SLOT_MS } from "./limits.ts";
import { MAX_KINDS, MAX_UNITS } from "./resources.ts";

/** The value that stands for “no limit” in a queue class. */
export const UNLIMITED = 1_000_000;
/** Upper bound of `defaultLimitMs` in ms. That setting is an expected running time, not a limit. */
const MAX_DEFAULT_LIMIT_MS = 1e12;
const MAX_CPU_HOURS = 1_000_000_000;

function whole(min: number, max: number) {
  const expected = `a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
}

const size = (what: string) => optional(whole(1, UNLIMITED), what);

/** Limits on the jobs of a user, a group or a queue; the field names of a queue's limits. */
const runLimits = {
  runningCpus: optional(
    whole(1, UNLIMITED),
    "Maximum number of CPUs that the running jobs ask for together; a job counts from its turn to its end",
  ),
  runningJobs: optional(whole(1, UNLIMITED), "Maximum number of jobs that run at a time"),
  waitingJobs: optional(whole(1, UNLIMITED), "Maximum number of jobs that wait, also held ones"),
};

const CPU_HOURS = `a number of CPU hours above 0, at most ${MAX_CPU_HOURS}`;

/** Limits on the jobs of a user or a group. */
const ownerLimits = {
  ...runLimits,
  cpuHours: optional(
    z.number(CPU_HOURS).positive(CPU_HOURS).max(MAX_CPU_HOURS, CPU_HOURS),
    "Quota: no job starts while the CPU time used counts this much, in CPU hours; it counts half after shares.halfLifeDays",
  ),
};

export const limitSetting = z.strictObject(ownerLimits, "an object such as { runningCpus = 8 }");

const LIMITS = "an object such as { anna = { runningCpus = 8 } }";
const accountName = z.string("a name").regex(/^[^\s:,\0]{1,64}$/, "a name without spaces, colons and commas");
const limitsByName = z.record(accountName, limitSetting, LIMITS);

export const limitsSetting = z.strictObject(
  {
    ...ownerLimits,
    users: optional(limitsByName, "Limits of users by name; for what is left out, the limits of every user"),
    groups: optional(
      limitsByName,
      "Limits of groups of accounts by name, for the jobs of all members together",
    ),
  },
  "an object such as { runningCpus = 8 }",
);

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
    aliases: optional(
      z.array(
        z.string("a word").regex(/^[^\s:,]+$/, "a word without spaces, colons and commas"),
        "a list of words",
      ),
      "Other names of the queue, such as those of partitions in scripts for Slurm",
    ),
    processors: size("Maximum number of CPUs per job"),
    processes: size("Maximum number of processes per job"),
    threads: size("Maximum number of threads per process"),
    elapsedBelowS: optional(
      z.number("seconds above 0").positive("seconds above 0"),
      "Admits only jobs with a time limit below this, in s",
    ),
    reservations: optional(
      reservationRule,
      "When jobs of this queue reserve CPUs; only under the policy connected-reservation",
    ),
    defaultLimitMs: optional(
      whole(1, MAX_DEFAULT_LIMIT_MS),
      "Expected running time of jobs without a time limit, in ms",
    ),
    ...runLimits,
  },
  "an object",
);

export const webSetting = z.strictObject(
  {
    submit: z.boolean("true or false").default(false).describe("Whether jobs may be submitted from the page"),
  },
  "an object",
);

const HOOK = 'a program with its full path, and its arguments, such as ["/usr/local/sbin/job-ended"]';
const machineHook = z
  .array(z.string(HOOK).regex(/^[^\0]*$/, HOOK), HOOK)
  .min(1, HOOK)
  .max(64, HOOK)
  .refine(([program]) => program.startsWith("/"), HOOK);

export const hooksSetting = z.strictObject(
  {
    jobs: z
      .boolean("true or false")
      .default(true)
      .describe("Whether jobs may have hooks and webhooks of their own"),
    onStart: optional(machineHook, "Program that the scheduler's user runs when an attempt of a job begins"),
    onEnd: optional(machineHook, "Program that the scheduler's user runs when a job has ended"),
    onFail: optional(machineHook, "Program that the scheduler's user runs when a job has failed"),
  },
  "an object",
);

export const machineSetting = z.strictObject(
  {
    smt: z
      .boolean("true or false")
      .default(false)
      .describe(
        "Whether two threads of a core are two CPUs for jobs; false: jobs get one thread of each core",
      ),
  },
  "an object",
);

const UNITS = `a number of units from 0 to ${MAX_UNITS}, or a list of their names`;
const RESOURCE = `${UNITS}, or an object such as { units = 3, shared = true }`;
const KINDS = `an object of at most ${MAX_KINDS} kinds, such as gpu = ["0", "1"]`;
const unitsSetting = z.union([whole(0, MAX_UNITS), z.array(unitName).max(MAX_UNITS)], UNITS);

export const sharedUnits = z.strictObject(
  {
    units: unitsSetting.describe("As above"),
    shared: z
      .boolean("true or false")
      .default(false)
      .describe("Whether any number of jobs may hold a unit at the same time"),
  },
  RESOURCE,
);

export const resourceSettings = z
  .record(kindName, z.union([unitsSetting, sharedUnits], RESOURCE), KINDS)
  .refine((kinds) => Object.keys(kinds).length <= MAX_KINDS, KINDS);

const SHARES = "a number above 0, at most 1000000";
const share = z.number(SHARES).positive(SHARES).max(1_000_000, SHARES);
const USERS = "an object of users with their shares, such as { anna = 3, ben = 1 }";
const sharesOfUsers = z.record(z.string().min(1), share, USERS);

export const shareGroupSetting = z.strictObject(
  {
    shares: share.default(1).describe("Shares of the group"),
    users: sharesOfUsers.describe("Shares of its users, relative to each other"),
  },
  "an object such as { shares = 3, users = { anna = 1, ben = 1 } }",
);

const HALF_LIFE = "a number of days above 0, at most 36500";

export const sharesSetting = z.strictObject(
  {
    halfLifeDays: z
      .number(HALF_LIFE)
      .positive(HALF_LIFE)
      .max(36_500, HALF_LIFE)
      .default(7)
      .describe("Days after which usage counts half"),
    users: sharesOfUsers.default({}).describe("Shares of users without a group; who is not named has 1"),
    groups: z
      .record(z.string().min(1), shareGroupSetting, "an object of groups with their shares and users")
      .default({})
      .describe("Users who share what their group gets"),
  },
  "an object",
);

/** Settings that have been renamed, by their older names. The older name is still accepted, with a note. */
export const RENAMED_SETTINGS: Readonly<Record<string, string>> = { mostRows: "maxRows" };

const QUEUES = "a list of 1 to 127 queues";
const CPUS = "a list of different CPU numbers";
const FEATURES = "a list of words of letters, digits, _, . and -";

export const configFile = z
  .strictObject(
    {
      policy: z
        .string("the name of a policy")
        .default("gang")
        .describe("A policy as listed by tutti list policies, or the absolute path of a policy file"),
      mode: z
        .enum(["gang", "concurrent"], "gang or concurrent")
        .default("gang")
        .describe(
          "What gangs of other rows do during a slot: gang stops them, concurrent runs them at low priority",
        ),
      cpus: z
        .array(whole(0, 65_535), CPUS)
        .min(1, CPUS)
        .refine((cpus) => new Set(cpus).size === cpus.length, CPUS)
        .optional()
        .meta({
          uniqueItems: true,
          description: "CPUs that jobs may use; default: one of each core, or all with smt",
        }),
      machine: machineSetting.default({ smt: false }).describe("The CPUs of this machine"),
      slotMs: whole(MIN_SLOT_MS, MAX_SLOT_MS).default(100).describe("Length of a slot in ms"),
      maxRows: whole(1, MAX_ROWS)
        .default(4)
        .describe("Maximum number of rows of the matrix; 1 is space sharing"),
      pack: z
        .enum(["cpus", "whole-node"], "cpus or whole-node")
        .default("cpus")
        .describe("What a gang is rounded up to on a cluster: single CPUs, or all CPUs of its nodes"),
      memoryBytes: whole(1, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe(
          "Memory that the jobs of all rows may request together, in bytes; default: the machine's memory",
        ),
      resources: resourceSettings
        .optional()
        .describe(
          "Countable resources of the machine, by kind: how many units there are, or a list of their names. A job holds its units from its start to its end. gpu: default: the GPUs that the machine has; []: Tutti does not manage them",
        ),
      features: z
        .array(z.string(FEATURES).regex(/^[\w.-]+$/, FEATURES), FEATURES)
        .default([])
        .describe("Words that every node has, for --constraint in scripts for Slurm"),
      graceMs: whole(0, 86_400_000).default(5000).describe("Time between SIGTERM and SIGKILL, in ms"),
      keepDays: whole(1, 36_500).default(30).describe("Days after which ended jobs and events are forgotten"),
      keepJobs: whole(1, 10_000_000).default(100_000).describe("Maximum number of ended jobs kept"),
      web: webSetting.default({ submit: false }).describe("What the page in the browser may do"),
      hooks: hooksSetting.default({ jobs: true }).describe("What runs when jobs start, end and fail"),
      shares: sharesSetting
        .optional()
        .describe("Who should get how much of the machine, for policies with the queue order fair-share"),
      limits: limitsSetting
        .default({})
        .describe("Limits on the jobs of each user, of single users, and of groups"),
      queues: z
        .array(queueSetting, QUEUES)
        .min(1, QUEUES)
        .max(127, QUEUES)
        .optional()
        .describe("Queue classes. A job that names no queue gets the tightest one that admits it"),
    },
    "an object",
  )
  .meta({ title: "Configuration of tutti serve" });

/** JSON schema (2020-12) of the configuration file. */
export function configSchema(): object {
  return z.toJSONSchema(configFile, { io: "input" });
}
