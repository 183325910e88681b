/** Defines the answers about the future as schemas: forecasts, what-if and timeline. */
import { z } from "zod";
import {
  answer,
  count,
  durationMs,
  jobNumber,
  jobState,
  nodes,
  optional,
  unixMs,
  type Value,
} from "./atoms.ts";
import { FEWEST_PAST_JOBS } from "./limits.ts";

const time = (description: string) => z.number().describe(description);
const learned = {
  onlyRange: optional(
    z.literal(true),
    `Fewer than ${FEWEST_PAST_JOBS} jobs have ended that tell running times: only the range from p10 to p90 says something, and the median is little more than what time limits give`,
  ),
};
const quantiles = z
  .object({
    p10Ms: time("Unix time in ms"),
    p50Ms: time("The median"),
    p90Ms: time("Unix time in ms"),
    ...learned,
  })
  .describe(
    "Unix times in ms: a tenth of the simulated futures is before p10, half before p50, a tenth after p90",
  );

const start = {
  p10Ms: time("Unix time in ms of the start: earlier in a tenth of the simulated futures"),
  p50Ms: time("Median start"),
  p90Ms: time("Later in a tenth of the simulated futures"),
};
const end = {
  endP10Ms: time("Unix time in ms of the end: earlier in a tenth of the simulated futures"),
  endP50Ms: time("Median end"),
  endP90Ms: time("Later in a tenth of the simulated futures"),
  ...learned,
};
/** How well past forecasts have come true. */
const record = {
  pastErrorP50Ms: optional(z.number(), "Median error of past forecasts, in ms"),
  pastForecasts: optional(count, "Number of past forecasts that this is about, at most the last 1,000"),
  pastWithinShare: optional(z.number(), "Share of the jobs that started between p10 and p90"),
  uncounted: optional(
    count,
    "Jobs of all users that wait for a limit on users, groups or queues: forecasts do not count them, so times may be too early; left out: there are none",
  ),
};

export const forecast = z
  .object({ ...start, ...end, ...record })
  .describe("When the job is expected to start and to end: Unix times in ms");

const waitingJob = z.object({ job: jobNumber, ...start, ...end });
const runningJob = z.object({ job: jobNumber, ...end });

const NO_FORECAST = ["memory", "cpus", "queue", "limit", "drained", "window", "never", "failed"] as const;
const hypotheticalForecast = z
  .object({
    queue: z.string().describe("The queue that the job would be in"),
    estimateMs: durationMs.describe("Its limit, or the default limit of its queue"),
    p10Ms: start.p10Ms.exactOptional(),
    p50Ms: start.p50Ms.exactOptional(),
    p90Ms: start.p90Ms.exactOptional(),
    endP10Ms: end.endP10Ms.exactOptional(),
    endP50Ms: end.endP50Ms.exactOptional(),
    endP90Ms: end.endP90Ms.exactOptional(),
    ...learned,
    noForecast: optional(
      z.enum(NO_FORECAST),
      "Why there is no forecast. memory: it waits for memory, or is behind a job that does; cpus: fewer CPUs are left than it needs; queue: too many jobs are before it; limit: a limit on its user, a group or its queue has no room for it; drained: nothing starts until an administrator undoes it; window: a window keeps jobs from starting, and the policy cannot be simulated with one; never: the policy would never start it; failed: the simulation failed",
    ),
  })
  .describe("Forecast for a job that is not submitted; either all times are present, or noForecast is");

const shift = z
  .object({
    earlier: count.describe("Jobs whose median time is more than a second earlier than now"),
    later: count.describe("Jobs whose median time is more than a second later than now"),
    mostEarlierMs: durationMs.describe("The largest gain; 0 if there is none"),
    mostLaterMs: durationMs.describe("The largest loss; 0 if there is none"),
  })
  .describe("How times change");
const change = z.object({
  starts: shift.describe("Of jobs that wait now"),
  ends: shift.describe("Of jobs that wait or run now"),
  never: count.describe("Jobs that have a forecast now, and would have none"),
});

export const whatIfAnswer = answer("tutti.whatif/1", {
  atMs: unixMs,
  policies: z.array(
    z.object({
      policy: z.string(),
      ...record,
      jobs: z.array(waitingJob).describe("Your waiting jobs for which a forecast could be made"),
      running: z.array(runningJob).describe("Your running jobs, with their expected ends"),
      hypothetical: optional(
        z.array(hypotheticalForecast),
        "The jobs of the request, in the same order; present if it has any",
      ),
      base: optional(
        z.object({ policy: z.string(), jobs: z.array(waitingJob), running: z.array(runningJob) }),
        "The same simulated futures as they are now: under the current policy, with all CPUs and without hypothetical jobs. Left out if the question changes nothing",
      ),
      changes: optional(
        z.object({ yours: change, others: change }),
        "Who gains and who loses, compared with base. For an administrator, others is about no job",
      ),
    }),
  ),
});

export const dryRunAnswer = answer("tutti.dry-run/1", {
  jobs: count.describe("How many jobs the submit would make"),
  queue: z.string(),
  estimateMs: durationMs.describe("The limit, or the default limit of the queue"),
  never: optional(z.string(), "Why the job would be cancelled at once"),
  waitsFor: optional(z.array(jobNumber), "Jobs that must end first; then there is no forecast"),
  window: optional(
    z.object({ name: z.string(), fromMs: unixMs, untilMs: unixMs, reason: z.string().exactOptional() }),
    "The window that would keep the first job from starting now: it might still run in it",
  ),
  uncounted: record.uncounted,
  forecast: optional(
    hypotheticalForecast,
    "Of the first job, if it waits for nothing but CPUs; as in the answer about what would happen",
  ),
});

const timelineJob = z.object({
  job: jobNumber,
  name: z.string(),
  user: z.string(),
  queue: z.string(),
  state: jobState,
  tasks: z.int().min(1),
  threads: optional(z.int().min(1), "CPUs for the threads of each task; default: 1"),
  cpus: z.array(count).describe("Its CPUs, or the last ones; empty if it has not started"),
  nodes: optional(nodes, "The nodes of its CPUs; default: all are on the machine that runs the scheduler"),
  rows: optional(z.array(count), "Under time sharing: the rows of the matrix that it has now"),
  submittedAtMs: unixMs,
  startedAtMs: unixMs.exactOptional(),
  endedAtMs: unixMs.exactOptional(),
  ranMs: durationMs,
  limitMs: durationMs.exactOptional(),
  start: optional(quantiles, "Expected start of a waiting job, if a forecast could be made"),
  end: optional(quantiles, "Expected end of a waiting or running job, if a forecast could be made"),
  promisedAtMs: optional(
    z.number(),
    "The start that the policy has promised to a waiting job, Unix time in ms",
  ),
});
const occupied = z
  .object({
    job: jobNumber,
    cpus: z.array(count),
    nodes: nodes.exactOptional(),
    rows: z.array(count).exactOptional(),
    fromMs: z.number().describe("Unix time in ms"),
    toMs: optional(z.number(), "Unix time in ms; left out while the job has its CPUs"),
  })
  .describe("CPUs that a job of another user has or had");

export const timelineAnswer = answer("tutti.timeline/1", {
  atMs: unixMs.describe("Now, by the scheduler's clock"),
  fromMs: z.number().describe("Unix time in ms from which the answer is complete"),
  toMs: z.number(),
  truncated: optional(
    z.literal(true),
    "There were too many jobs, so the answer begins later than asked: ask again with its fromMs as to",
  ),
  waitingLeftOut: optional(
    count,
    "Number of your waiting jobs that are not in the answer, because it has 2,500 others; those with a forecast come first",
  ),
  policy: z.string(),
  sharing: z.enum(["space", "time"]),
  cpus: z.array(count).describe("All CPUs"),
  nodes: optional(nodes, "All CPUs by node, in the same order"),
  rows: count.describe("Rows of the matrix now"),
  forecastAtMs: optional(z.number(), "Unix time in ms at which the forecasts were made, if there are any"),
  jobs: z
    .array(timelineJob)
    .describe(
      "Your jobs: running ones, then waiting ones in the order of their expected starts, then ended ones, the last end first",
    ),
  others: z.array(occupied).describe("Jobs of other users, without names: running ones, then ended ones"),
});

export type DryRunAnswer = Value<typeof dryRunAnswer>;
export type WhatIfAnswer = Value<typeof whatIfAnswer>;
export type TimelineAnswer = Value<typeof timelineAnswer>;
