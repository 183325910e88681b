/** Defines what answers say about a job, about limits on jobs, and about what jobs have used. */
import { z } from "zod";
import { answer, count, durationMs, jobNumber, optional, unixMs, type Value } from "./atoms.ts";
import { job } from "./job-schemas.ts";

export { job };

export const stray = z
  .object({
    job: jobNumber,
    attempt: z.int().min(1),
    uid: count,
    user: z.string(),
    state: z.enum(["running", "ending"]),
    command: z.array(z.string()).describe("Long commands are cut and end with …"),
    cwd: z.string(),
    folder: z.string().describe("Folder of the attempt; the output is next to it"),
    nodes: optional(z.array(z.string()), "Names of its nodes; default: this machine"),
    startedAtMs: unixMs.exactOptional(),
    ranMs: durationMs,
  })
  .describe(
    "A running attempt that the store does not know, because the store is older than the attempt. Cancelling its job ends it",
  );

const usageRow = z.object({
  user: optional(z.string(), "If `by` has user"),
  queue: optional(z.string(), "If `by` has queue"),
  done: count,
  failed: count,
  cancelled: count,
  started: count.describe("Jobs that were started at least once"),
  waitMs: durationMs.describe(
    "Sum over the started jobs: from the submit, or the requested begin if that was later, to the first start",
  ),
  heldMs: durationMs.describe("Sum over all attempts: running time times CPUs"),
  countedMs: durationMs.describe("The part of heldMs of attempts whose CPU time was counted"),
  cpuMs: durationMs.describe("CPU time that these attempts used"),
});

export const usageAnswer = answer("tutti.usage/1", {
  fromMs: unixMs,
  toMs: unixMs,
  keptSinceMs: optional(
    unixMs,
    "All jobs that ended after this Unix time are counted; of earlier ones, some are forgotten. Default: none is",
  ),
  rows: z.array(usageRow),
});

export const queueLimits = z.object({
  runningCpus: optional(count, "Maximum number of CPUs of jobs that run or may start"),
  runningJobs: optional(count, "Maximum number of such jobs"),
  waitingJobs: optional(count, "Maximum number of jobs that wait, also held ones"),
});

const cpuHours = z.number().describe("Quota: no job starts while the CPU time used counts this much");
const usedCpuMs = durationMs.describe("CPU time held by jobs, as it counts now: after a half-life, half");

export const ownLimits = queueLimits.extend({
  of: z.enum(["user", "group"]),
  name: z.string().describe("Yours, or of one of your groups"),
  usedCpus: count.describe("CPUs of your own jobs that run or may start"),
  usedJobs: count.describe("These jobs"),
  waiting: count.describe("Your own jobs that wait for CPUs, for a limit, or because they are held"),
  cpuHours: cpuHours.exactOptional(),
  usedCpuMs: optional(durationMs, "CPU time that your own jobs used, as it counts for the quota now"),
});

/** A quota, and what was used of it. */
const quota = z.object({
  of: z.enum(["user", "group"]),
  name: z.string().describe("Of the user or the group"),
  cpuHours,
  usedCpuMs,
});

export const quotaObstacle = quota
  .extend({
    kind: z.literal("quota"),
    halfLifeMs: durationMs,
    againAtMs: unixMs.describe("When less than the quota counts, if nothing more is used"),
  })
  .describe("The jobs of the user or the group have used up the quota");

const shareValues = {
  shares: z.number().describe("As configured, relative to others in the same place"),
  share: z.number().describe("Share of the machine, 0 to 1"),
  usedCpuMs: durationMs.describe("CPU time held by jobs, as it counts now: after a half-life, half"),
  usage: z.number().describe("That, as a part of everybody's"),
  factor: z
    .number()
    .describe("Fair-share factor, 0 to 1; 0.5: used exactly the share; the largest goes first"),
};
export const sharesAnswer = answer("tutti.shares/1", {
  policy: z.string(),
  isUsed: z.boolean().describe("Whether the policy orders its queue by fair share"),
  halfLifeMs: durationMs,
  rank: optional(count, "Your place among the users, from 1: how many have a larger factor, plus one"),
  ofUsers: count.describe("Users who have a share or usage"),
  users: z
    .array(
      z.object({
        user: z.string(),
        group: optional(z.string(), "Left out: none"),
        rank: count,
        ...shareValues,
        effectiveUsage: z.number().describe("With what others of the group used"),
      }),
    )
    .describe("You; for an administrator, all users, the largest factor first"),
  groups: optional(
    z.array(z.object({ group: z.string(), ...shareValues })),
    "Only for administrators, and if there are groups",
  ),
  quotas: optional(
    z.array(quota),
    "Your own quota of CPU time; for administrators, those of all users and groups who have used some",
  ),
});
export type SharesAnswer = Value<typeof sharesAnswer>;
export type UsageAnswer = Value<typeof usageAnswer>;
export type UsageRow = UsageAnswer["rows"][number];

const LISTED_COMMAND_LENGTH = 1000;
const LISTED_VALUE_LENGTH = 200;

/**
 * A job as shown in lists: long commands and values are cut, since thousands could exceed the maximum string
 * length.
 */
export function brief<
  T extends { readonly command: readonly string[]; readonly values?: Readonly<Record<string, string>> },
>(job: T): T {
  const { command, values = {} } = job;
  let remaining = LISTED_COMMAND_LENGTH;
  const end = command.findIndex((word) => {
    remaining -= word.length + 1;
    return remaining < 0;
  });
  const rest = command[end] ?? "";
  const cut = rest.slice(0, Math.max(0, remaining + rest.length));
  const isLong = Object.values(values).some(({ length }) => length > LISTED_VALUE_LENGTH);
  if (end < 0 && !isLong) return job;
  return {
    ...job,
    ...(end >= 0 && { command: [...command.slice(0, end), `${cut}…`] }),
    ...(isLong && { values: Object.fromEntries(Object.entries(values).map(cutValue)) }),
  };
}

function cutValue([name, value]: [string, string]): [string, string] {
  return [name, value.length > LISTED_VALUE_LENGTH ? `${value.slice(0, LISTED_VALUE_LENGTH)}…` : value];
}
