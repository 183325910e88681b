/** Says in words why a job waits, and when it is expected to start. */
import { cpusText } from "../core/machine.ts";
import type { Job, WhyAnswer } from "../protocol/answers.ts";
import { isEnded } from "../protocol/states.ts";
import { formatDuration, plural } from "../report/text/format.ts";
import { pastErrorWords, startText } from "./jobs.ts";
import { bytesText, clockText, limitText } from "./times.ts";
import { visibleLine } from "./visible.ts";

/**
 * Of a waiting job: how long and in which queue it has waited, what is in its way, and when it is expected to
 * start. Of a running job: where it runs. None for a job that has ended.
 * @param isStopped the job has started, but the matrix has no room for it now
 */
export function whySentences(why: WhyAnswer, job: Job, isStopped = false): string[] {
  const obstacles = why.obstacles.map(obstacleText);
  if (why.state !== "queued" && why.state !== "held")
    return [...(why.state === "running" ? [runningText(job, isStopped)] : []), ...obstacles];
  return [
    `Has waited ${formatDuration(why.waitedMs / 1000)} in queue ${visibleLine(job.queue)}${
      why.queueReason === undefined ? "" : ` (${visibleLine(why.queueReason)})`
    }.`,
    ...(why.queuedBefore === 0 ? [] : [`${jobCount(why.queuedBefore)} before it in the queue.`]),
    ...obstacles,
    // The forecast ignores memory.
    ...(why.forecast === undefined || why.obstacles.some(({ kind }) => kind === "memory")
      ? []
      : [forecastText(why.forecast)]),
  ];
}

function runningText({ cpus, nodes, startedAtMs, ranMs, limitMs }: Job, isStopped: boolean): string {
  const since = startedAtMs === undefined ? "" : ` since ${clockText(startedAtMs)}`;
  const had = `has run for ${formatDuration(ranMs / 1000)}${limitMs === undefined ? "" : ` of its limit of ${limitText(limitMs)}`}`;
  return isStopped
    ? `Started${since.replace(" since", " at")}, but is stopped: the policy has no room for it now. It continues when its CPUs are free, and ${had}.`
    : `Runs on ${cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(cpus, nodes)}${since}, and ${had}.`;
}

function obstacleText(obstacle: WhyAnswer["obstacles"][number]): string {
  switch (obstacle.kind) {
    case "held":
      return `It is held: ${obstacle.reason === undefined ? "tutti release lets it start" : visibleLine(obstacle.reason)}.`;
    case "dependency":
      return `It starts after ${jobsText(obstacle.jobs)}.`;
    case "array":
      return `At most ${plural(obstacle.atOnce, "job")} of array ${obstacle.array} may run at a time.`;
    case "cpus": {
      const { needed, free, rows, mostRows } = obstacle;
      // With space sharing, all jobs are in one row, so rows are not mentioned.
      const needs = `It needs ${plural(needed, "CPU")}`;
      const freeText = free === 0 ? "none" : free;
      if (rows <= 1 && mostRows <= 1) return `${needs}; ${freeText} ${free <= 1 ? "is" : "are"} free.`;
      const emptiest = rows === 1 ? "the only row" : `the emptiest of ${rows} rows`;
      const limit =
        mostRows === 0 || rows < mostRows ? "" : `, and no more than ${plural(mostRows, "row")} may exist`;
      return `${needs}; ${emptiest} has ${freeText} free${limit}.`;
    }
    case "memory":
      return `It needs ${bytesText(obstacle.neededBytes)} of memory; the other rows leave ${bytesText(obstacle.freeBytes)} free.`;
    case "order":
      return `In the policy's order it comes after ${jobsText(obstacle.behind)}.`;
    case "reservation":
      return `It would delay job ${obstacle.holder}, which is promised a start at ${clockText(obstacle.startAtMs)}.`;
    case "conductor":
      return `Nothing can start or end now: ${visibleLine(obstacle.message)}.`;
  }
}

function forecastText(forecast: NonNullable<WhyAnswer["forecast"]>): string {
  const past = pastErrorWords(forecast);
  return `Expected to start at ${startText(forecast)}${past === "" ? "" : `; ${past}`}.`;
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
