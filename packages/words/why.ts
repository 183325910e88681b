/** Says in words why a job waits, and when it is expected to start. */

import { formatDuration, limitText, plural } from "@tutti/kernel/core/format.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import type { Job, WhyAnswer } from "@tutti/protocol/answers.ts";
import { tasksText } from "@tutti/protocol/job-size.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { expectedPhrase, rangesText } from "./expected.ts";
import { pastErrorWords } from "./jobs.ts";
import { quotaText } from "./limits.ts";
import { drainText } from "./status.ts";
import { bytesText, clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";
import { windowObstacleText } from "./windows.ts";

/** Obstacles that forecasts do not know. */
const NOT_FORECAST: ReadonlySet<WhyAnswer["obstacles"][number]["kind"]> = new Set([
  "capacity-memory",
  "capacity-threads",
  "capacity-units",
  "capacity-time",
  "never",
  "policy-units",
  "drain",
  "drained",
  "handover",
  "quota",
]);

/**
 * Of a waiting job: how long and in which queue it has waited, what is in its way, and when it is expected to
 * start. Of a running job: where it runs. None for a job that has ended.
 */
export function whySentences(why: WhyAnswer, job: Job): string[] {
  const obstacles = why.obstacles.map((obstacle) => obstacleText(obstacle, why.job));
  const runs = why.obstacles.every(({ kind }) => kind !== "nodes" && kind !== "stopped");
  if (why.state !== "queued" && why.state !== "held")
    return [
      ...(why.state === "running" ? [runs ? runningText(job) : begunText(job)] : []),
      ...(why.state === "paused" ? [pausedText(job)] : []),
      ...obstacles,
    ];
  return [
    `Has waited ${formatDuration(why.waitedMs / 1000)} in queue ${visibleLine(job.queue)}${
      why.queueReason === undefined ? "" : ` (${visibleLine(why.queueReason)})`
    }.`,
    ...(why.queuedBefore === 0 ? [] : [`${jobCount(why.queuedBefore)} before it in the queue.`]),
    ...obstacles,
    ...(why.forecast === undefined || why.obstacles.some(({ kind }) => NOT_FORECAST.has(kind))
      ? []
      : [forecastText(why.forecast)]),
  ];
}

function pausedText({ pausedAtMs, reason, released, ranMs, limitMs }: Job): string {
  const by = reason === undefined ? "It is paused" : `It was ${visibleLine(reason)}`;
  const since = pausedAtMs === undefined ? "" : ` at ${clockText(pausedAtMs)}`;
  const cpus = released
    ? "Other jobs may use its CPUs, and it keeps its memory; when it is resumed, it waits for CPUs"
    : "It keeps its memory, and under space sharing its CPUs";
  return `${by}${since}, after it ran for ${ranText(ranMs, limitMs)}. ${cpus}. tutti resume continues it.`;
}

function ranText(ranMs: number, limitMs: number | undefined): string {
  const limit = limitMs === undefined ? "" : ` of its limit of ${limitText(limitMs)}`;
  return `${formatDuration(ranMs / 1000)}${limit}`;
}

/** Of a job that does not run now, for a reason that follows. */
function begunText({ startedAtMs, ranMs, limitMs }: Job): string {
  const at = startedAtMs === undefined ? "" : ` at ${clockText(startedAtMs)}`;
  return `Started${at}, and has run for ${ranText(ranMs, limitMs)}.`;
}

function runningText({ cpus, nodes, startedAtMs, ranMs, limitMs }: Job): string {
  const since = startedAtMs === undefined ? "" : ` since ${clockText(startedAtMs)}`;
  const where = `${cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(cpus, nodes)}`;
  return `Runs on ${where}${since}, and has run for ${ranText(ranMs, limitMs)}.`;
}

function obstacleText(obstacle: WhyAnswer["obstacles"][number], job: number): string {
  switch (obstacle.kind) {
    case "held":
      return `It is held: ${obstacle.reason === undefined ? "tutti release lets it start" : visibleLine(obstacle.reason)}.`;
    case "dependency":
      return `It starts after ${jobsText(obstacle.jobs)}.`;
    case "begin": {
      const { atMs, attempt, mostAttempts, reason } = obstacle;
      if (attempt === undefined) return `It begins no earlier than ${clockText(atMs)}.`;
      const why = reason === undefined ? "" : ` (${visibleLine(reason)})`;
      return `Attempt ${attempt - 1} ended${why}; attempt ${attempt} of at most ${mostAttempts} begins no earlier than ${clockText(atMs)}.`;
    }
    case "array":
      return `At most ${plural(obstacle.atOnce, "job")} of array ${obstacle.array} may run at a time.`;
    case "limit":
      return limitObstacleText(obstacle);
    case "quota": {
      const { of, name, usedCpuMs, cpuHours, halfLifeMs, againAtMs } = obstacle;
      const whose = `${of === "user" ? "User" : "Group"} ${visibleLine(name)}`;
      const halfLife = `usage counts half after ${limitText(halfLifeMs)}`;
      return `${whose} has used ${quotaText({ usedCpuMs, cpuHours })}; ${halfLife}. Jobs start again at about ${clockText(againAtMs)}, if nothing more is used. There is no forecast while it waits for this.`;
    }
    case "cpus": {
      const { needed, free, rows, mostRows, nodes } = obstacle;
      // With space sharing, all jobs are in one row, so rows are not mentioned.
      const needs = `It needs ${plural(needed, nodes ? "whole node" : "CPU")}`;
      const freeText = free === 0 ? "none" : free;
      if (rows <= 1 && mostRows <= 1) return `${needs}; ${freeText} ${free <= 1 ? "is" : "are"} free.`;
      const emptiest = rows === 1 ? "the only row" : `the emptiest of ${rows} rows`;
      const limit =
        mostRows === 0 || rows < mostRows ? "" : `, and no more than ${plural(mostRows, "row")} may exist`;
      return `${needs}; ${emptiest} has ${freeText} free${limit}.`;
    }
    case "memory":
      return `It needs ${bytesText(obstacle.neededBytes)} of memory; the other rows leave ${bytesText(obstacle.freeBytes)} free.`;
    case "units": {
      const { resource, needed, free, holders, others } = obstacle;
      const held = [
        ...holders.map(({ job, units }) => `, job ${job} holds ${units}`),
        ...(others === 0 ? [] : [`, jobs of other users hold ${others}`]),
      ];
      return `It needs ${plural(needed, "unit")} of ${visibleLine(resource)}; ${free === 0 ? "none" : free} ${free <= 1 ? "is" : "are"} free${held.join("")}.`;
    }
    case "order":
      return `In the policy's order it comes after ${jobsText(obstacle.behind)}.`;
    case "shares": {
      const others = plural(obstacle.jobs, "job");
      return `${others} of users who have used less of their share ${obstacle.jobs === 1 ? "goes" : "go"} first (tutti usage --shares).`;
    }
    case "reservation":
      return `It would delay job ${obstacle.holder}, which is promised a start at ${clockText(obstacle.startAtMs)}.`;
    case "launch":
      return `It keeps its place, but cannot begin yet: ${visibleLine(obstacle.message)}.`;
    case "capacity": {
      const { needed, present, most, next } = obstacle;
      const then = next === undefined ? "" : `: ${visibleLine(next)}`;
      const later = most > present ? `; there can be ${most}${then}` : "";
      return `It needs ${plural(needed, "CPU")}${hereText(obstacle, present === 0 ? "none" : `only ${present}`, present === 1)}${later}.`;
    }
    case "capacity-threads": {
      const { present, parts } = obstacle;
      const whose = parts === undefined ? "the nodes have" : "those of the largest pilot have";
      return `It needs ${tasksText(obstacle)}, and the threads of a task need CPUs on one node; ${whose} room for ${present === 0 ? "none" : `only ${present}`} of the tasks now.`;
    }
    case "capacity-memory":
      return `It needs ${bytesText(obstacle.neededBytes)} of memory${hereText(obstacle, `only ${bytesText(obstacle.presentBytes)}`, true)}.`;
    case "capacity-units": {
      const { resource, needed, present, configured = needed } = obstacle;
      if (configured < needed) {
        const named = configured === 0 ? "no longer names any" : `now names only ${configured}`;
        const use = configured === 0 ? "" : `tutti update --use ${visibleLine(resource)}:${configured} or `;
        return `It cannot start: it needs ${plural(needed, "unit")} of ${visibleLine(resource)}, and the configuration ${named}. It waits until an administrator names more; ${use}tutti cancel ends the wait.`;
      }
      return `It needs ${plural(needed, "unit")} of ${visibleLine(resource)}, but ${present === 0 ? "none" : `only ${present}`} can be given to jobs now.`;
    }
    case "policy-units":
      return `It needs countable resources, but policy ${visibleLine(obstacle.policy)} counts only processors; it waits for another policy.`;
    case "capacity-time": {
      const { limitMs, mostMs } = obstacle;
      return `It cannot start: its limit is ${limitText(limitMs)}, and CPUs are there for at most ${limitText(mostMs)}. tutti update --time gives it another limit; tutti cancel ends the wait.`;
    }
    case "never":
      return `It cannot start: ${visibleLine(obstacle.message)}. tutti update asks for less; tutti cancel ends the wait.`;
    case "drain": {
      const { stopAtMs, limitMs, restarts } = obstacle;
      if (restarts !== undefined) {
        const then = restarts > 0 ? "starts again" : "fails: it has had its restarts (--retries allows more)";
        return `The CPUs are taken away at ${clockText(stopAtMs)}: if it has not ended by then, it is stopped and ${then}.`;
      }
      const why = limitMs === undefined ? "it has no time limit" : `its limit is ${limitText(limitMs)}`;
      return `The CPUs are taken away at ${clockText(stopAtMs)}, and ${why}, so it waits for the next ones${obstacle.next === undefined ? "" : `: ${visibleLine(obstacle.next)}`}.`;
    }
    case "drained":
      return `${drainText(obstacle)}.`;
    case "window":
      return windowObstacleText(obstacle, job);
    case "handover":
      return `Nothing starts until ${jobsText(obstacle.jobs)} ${obstacle.jobs.length === 1 ? "has" : "have"} ended: policy ${visibleLine(obstacle.policy)} cannot take over ${obstacle.jobs.length === 1 ? "its place" : "their places"} in the matrix. There is no forecast until then.`;
    case "stopped":
      return "It is stopped: the policy has no room for it now. It continues when its CPUs are free.";
    case "nodes":
      return `${sentence(visibleLine(obstacle.message))} (no answer since ${clockText(obstacle.sinceMs)}).`;
    case "executor":
      return `${visibleLine(obstacle.message)}.`;
    case "conductor":
      return `Nothing can start or end now: ${visibleLine(obstacle.message)}.`;
  }
}

function sentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

/** How much there is, as the rest of a sentence about a need: all nodes have it, or the largest pilot. */
function hereText(
  { parts }: { readonly parts?: number | undefined },
  amount: string,
  isOne: boolean,
): string {
  if (parts !== undefined) return ` on one pilot, and the largest of ${parts} has ${amount} now`;
  return `, but there ${isOne ? "is" : "are"} ${amount} now`;
}

function limitObstacleText({
  of,
  name,
  counts,
  most,
  needed,
  running,
  next,
  others,
  isKept,
  keptFor,
}: Extract<WhyAnswer["obstacles"][number], { readonly kind: "limit" }>): string {
  const whose = `Jobs ${of === "queue" ? "in queue" : `of ${of}`} ${visibleLine(name)}`;
  const may = `${whose} may run ${counts === "cpus" ? `on ${plural(most, "CPU")} at once` : `${most} at once`}`;
  if (needed > most)
    return `${may}, and this one needs ${needed}: it cannot start until an administrator raises the limit; tutti update -n or tutti cancel ends the wait.`;
  const uses = [
    ...(running === 0 && (next > 0 || others) ? [] : [`${running} ${running === 1 ? "runs" : "run"}`]),
    ...(next === 0 ? [] : [`${next} may start before this one`]),
    ...(others ? ["jobs of other users use some"] : []),
  ].join(", ");
  if (isKept)
    return `${may}; ${uses}; what is free is kept for ${keptFor === undefined ? "an earlier job" : `job ${keptFor}`}.`;
  return `${may}; ${uses}, this one needs ${needed}.`;
}

function forecastText(forecast: NonNullable<WhyAnswer["forecast"]>): string {
  const remarks = [rangesText([forecast]), pastErrorWords(forecast)].filter((words) => words !== "");
  return `Expected to start ${[expectedPhrase(forecast), ...remarks].join("; ")}.`;
}

function jobsText(jobs: readonly number[]): string {
  const maxShown = 5;
  const more = jobs.length > maxShown ? ` and ${jobs.length - maxShown} more` : "";
  return `${jobs.length === 1 ? "job" : "jobs"} ${jobs.slice(0, maxShown).join(", ")}${more}`;
}

function jobCount(count: number): string {
  return count === 1 ? "There is 1 job" : `There are ${count} jobs`;
}

/** What a job that has started gets of its CPUs; empty before. */
export function shareText({ share, state }: WhyAnswer): string {
  if (share === undefined) return "";
  const { slots, ofSlots, ranMs, elapsedMs } = share;
  const got = `It ran ${formatDuration(ranMs / 1000)} of the ${formatDuration(elapsedMs / 1000)}`;
  const part = elapsedMs > 0 ? `: ${Math.min(100, Math.round((100 * ranMs) / elapsedMs))} %` : "";
  if (isEnded(state)) return `${got} from its start to its end${part}.`;
  const asked =
    slots === 0 ? "It has no slot now" : `It has ${slots} of ${plural(ofSlots, "slot")} of each round`;
  return `${asked}. ${got} since its start${part}.`;
}
