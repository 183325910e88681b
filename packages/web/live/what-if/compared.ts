/** Two futures of the same jobs, as it is and as it would be, as timelines and as differences. */
import type { Job } from "@tutti/protocol/answers.ts";
import type { WhatIfAnswer } from "@tutti/protocol/forecasts.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { endOf } from "@tutti/words/expected.ts";
import { hasTimes } from "@tutti/words/what-if.ts";
import type { TimelineData, TimelineJob } from "../../timeline/data.ts";

type Policy = WhatIfAnswer["policies"][number];
type Waiting = Policy["jobs"][number];
type Running = Policy["running"][number];
type Times = Partial<Waiting> & Running;
type KnownJobs = ReadonlyMap<
  number,
  Pick<Job, "name" | "tasks" | "threads" | "startedAtMs" | "submittedAtMs">
>;

/** Numbers of jobs that are not submitted count down from here. */
const FIRST_HYPOTHETICAL = -1;

export interface Difference {
  readonly job: number;
  readonly before?: Times;
  readonly after?: Times;
  /** How much later it starts; for a running job, ends. Undefined if there is no forecast then. */
  readonly changeMs?: number;
}

interface Compared {
  readonly before: TimelineData;
  readonly after: TimelineData;
  /** Of all jobs that are there before, the largest loss first. */
  readonly differences: readonly Difference[];
}

/** @param known what the page knows of the jobs */
export function compare(
  { jobs, running, hypothetical = [], base }: Policy,
  known: KnownJobs,
  atMs: number,
): Compared {
  const now = base ?? { jobs, running };
  const data = (list: readonly TimelineJob[]): TimelineData => ({
    jobs: list,
    cpus: 0,
    clock: "calendar",
    nowMs: atMs,
  });
  const drawn = (waiting: readonly Waiting[], runs: readonly Running[], title: string) => [
    ...runs.map((times) => timelineJob(times, known, title)),
    ...waiting.map((times) => timelineJob(times, known, title)),
  ];
  const imagined = hypothetical.flatMap((times, i) => hypotheticalJob(times, FIRST_HYPOTHETICAL - i) ?? []);
  const later = new Map<number, Times>([...running, ...jobs].map((times) => [times.job, times]));
  const differences = [...now.running, ...now.jobs].map((before: Times) => {
    const after = later.get(before.job);
    const changeMs = after === undefined ? undefined : startOrEnd(after) - startOrEnd(before);
    return { ...{ job: before.job, before }, after, changeMs };
  });
  differences.sort((a, b) => (b.changeMs ?? Infinity) - (a.changeMs ?? Infinity) || a.job - b.job);
  return {
    before: data(drawn(now.jobs, now.running, "as it is")),
    after: data([...drawn(jobs, running, "then"), ...imagined]),
    differences,
  };
}

function startOrEnd({ p50Ms, endP50Ms }: Times): number {
  return p50Ms ?? endP50Ms;
}

function timelineJob(times: Times, known: KnownJobs, queue: string): TimelineJob {
  const { job } = times;
  const { name = "", tasks = 1, threads, startedAtMs } = known.get(job) ?? {};
  const isWaiting = hasTimes(times);
  return {
    ...{ job, name, tasks: processorsOf({ tasks, threads }), queue, cpus: [] },
    ...(!isWaiting && startedAtMs !== undefined && { startMs: startedAtMs }),
    ...(isWaiting && { expectedStart: times }),
    expectedEnd: endOf(times),
  };
}

/** Undefined if there is no forecast. */
function hypotheticalJob(
  times: NonNullable<Policy["hypothetical"]>[number],
  job: number,
): TimelineJob | undefined {
  if (!hasTimes(times)) return undefined;
  const yours = { job, name: "your job", tasks: 1, queue: "then", cpus: [] };
  return { ...yours, expectedStart: times, expectedEnd: endOf(times) };
}
