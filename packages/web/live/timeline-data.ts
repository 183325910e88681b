/** The scheduler's answers about time as a timeline shows them. */
import { THIS_NODE } from "@tutti/kernel/core/machine.ts";
import type { StatusAnswer } from "@tutti/protocol/answers.ts";
import type { TimelineAnswer } from "@tutti/protocol/forecasts.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { cpuRanges, type TimelineData, type TimelineJob } from "../timeline/data.ts";

type Own = TimelineAnswer["jobs"][number];
type Other = TimelineAnswer["others"][number];

/** @param nowMs by the scheduler's clock; jobs run until then, also if the answer is older */
export function timelineData(
  answer: TimelineAnswer,
  nowMs: number,
  windows: StatusAnswer["windows"] = [],
): TimelineData {
  const cpus = new CpuNames(answer);
  return {
    jobs: [
      ...answer.jobs.map((job) => ownJob(job, cpus, answer.atMs)),
      ...answer.others.map((other) => otherJob(other, cpus, nowMs)),
    ],
    cpus: answer.cpus.length,
    cpuName: (index) => cpus.names[index],
    clock: "calendar",
    nowMs,
    bands: windows.map(({ name, fromMs, untilMs }) => ({
      fromMs,
      toMs: untilMs,
      label: visibleLine(name),
    })),
  };
}

/** CPUs of all nodes in one order. */
class CpuNames {
  readonly names: readonly string[];
  readonly #index: ReadonlyMap<string, number>;

  constructor({ cpus, nodes = [{ node: THIS_NODE, cpus }] }: TimelineAnswer) {
    const keys = nodes.flatMap(keysOf);
    this.names = nodes.length > 1 ? keys : cpus.map(String);
    this.#index = new Map(keys.map((key, index) => [key, index]));
  }

  rangesOf({ cpus, nodes = [{ node: THIS_NODE, cpus }] }: Pick<Own, "cpus" | "nodes">) {
    // CPUs that were taken away since then have no place.
    return cpuRanges(nodes.flatMap(keysOf).flatMap((key) => this.#index.get(key) ?? []));
  }
}

function keysOf({ node, cpus }: NonNullable<Own["nodes"]>[number]): string[] {
  return cpus.map((cpu) => `${node}:${cpu}`);
}

function ownJob(job: Own, cpus: CpuNames, atMs: number): TimelineJob {
  const { startedAtMs, endedAtMs = atMs, ranMs, rows, start, end, promisedAtMs } = job;
  return {
    job: job.job,
    name: job.name,
    user: job.user,
    queue: job.queue,
    state: job.state,
    tasks: processorsOf(job),
    cpus: cpus.rangesOf(job),
    row: rows?.[0],
    submittedMs: job.submittedAtMs,
    startMs: startedAtMs,
    ...(job.endedAtMs !== undefined && { endMs: endedAtMs }),
    ...(startedAtMs !== undefined &&
      endedAtMs > startedAtMs && { share: Math.min(1, ranMs / (endedAtMs - startedAtMs)) }),
    expectedStart: start,
    expectedEnd: end,
    promisedMs: promisedAtMs,
  };
}

function otherJob(
  { job, cpus: own, nodes, rows, fromMs, toMs }: Other,
  cpus: CpuNames,
  nowMs: number,
): TimelineJob {
  const isRunning = toMs === undefined;
  return {
    job,
    name: "",
    state: isRunning ? "running" : "ended",
    tasks: own.length,
    cpus: cpus.rangesOf({ cpus: own, nodes }),
    row: rows?.[0],
    startMs: fromMs,
    ...(toMs !== undefined && { endMs: Math.min(toMs, nowMs) }),
  };
}
