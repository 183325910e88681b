/** `tutti why JOBS`: explains why jobs wait, and when they are expected to start. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import { cpusText } from "../../core/machine.ts";
import type { Job, WhyAnswer } from "../../protocol/schema.ts";
import { ACTIVE_STATES, type JobState } from "../../protocol/states.ts";
import { formatDuration, plural } from "../../report/text/format.ts";
import { NotFoundError } from "../errors.ts";
import { stoppedJobs } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../options/selectors.ts";
import { clockText, limitText, outcomeText, startText, stateText } from "../text/job-text.ts";
import { bold, bytesText, visibleLine, wrap, writeJson, writeOut } from "../text/text.ts";

/** Maximum number of paragraphs. The jobs of an array all have almost the same text. */
const MAX_PARAGRAPHS = 20;

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const numbers = await chosen(client, words);
      for (const number of json ? numbers : numbers.slice(0, MAX_PARAGRAPHS)) {
        const why = await client.ask<WhyAnswer>(`/v1/jobs/${number}/why`);
        if (json) {
          writeJson(why);
          continue;
        }
        const { job } = await client.job(number);
        writeOut(whyText(why, job, (await stoppedJobs(client, [job])).size > 0));
      }
      if (!json && numbers.length > MAX_PARAGRAPHS) {
        writeOut(
          `and ${plural(numbers.length - MAX_PARAGRAPHS, "job")} more; tutti why NUMBER explains one\n`,
        );
      }
    });
}

/** The selected jobs that wait; if there are none, those that run; if there are none either, all of them. */
async function chosen(client: Client, words: readonly string[]): Promise<readonly number[]> {
  const among: (readonly JobState[] | undefined)[] = [["queued", "held"], ACTIVE_STATES];
  if (!words.includes("all")) among.push(undefined);
  for (const states of among.slice(0, -1)) {
    try {
      return await selectJobs(client, words, states);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  return selectJobs(client, words, among.at(-1));
}

/**
 * One paragraph: how long and in which queue the job has waited, what is in its way, and when it is expected
 * to start.
 */
function whyText(why: WhyAnswer, job: Job, isStopped = false): string {
  const head = bold(`job ${job.job} (${visibleLine(job.name)})`);
  if (!["queued", "held"].includes(why.state)) {
    if (job.endedAtMs !== undefined) return `${wrap(outcomeText(job), 2)}\n`;
    const details = [
      ...(job.state === "running" ? [runningText(job, isStopped)] : []),
      ...why.obstacles.map(obstacleText),
    ];
    const text = details.length === 0 ? "" : `\n  ${wrap(details.join(" "), 2)}`;
    return `${head}: ${stateText(job.state)}${text}\n`;
  }
  const sentences = [
    `Has waited ${formatDuration(why.waitedMs / 1000)} in queue ${visibleLine(job.queue)}${
      why.queueReason === undefined ? "" : ` (${visibleLine(why.queueReason)})`
    }.`,
    ...(why.queuedBefore === 0 ? [] : [`${jobCount(why.queuedBefore)} before it in the queue.`]),
    ...why.obstacles.map(obstacleText),
    // The forecast ignores memory.
    ...(why.forecast === undefined || why.obstacles.some(({ kind }) => kind === "memory")
      ? []
      : [forecastText(why.forecast)]),
  ];
  return `${head}: ${stateText(why.state)}\n  ${wrap(sentences.join(" "), 2)}\n`;
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
  const { pastErrorP50Ms: errorMs } = forecast;
  const past =
    errorMs === undefined
      ? ""
      : `; half of the latest forecasts were off by at most ${formatDuration(errorMs / 1000)}`;
  return `Expected to start at ${startText(forecast)}${past}.`;
}

function jobsText(jobs: readonly number[]): string {
  const maxShown = 5;
  const more = jobs.length > maxShown ? ` and ${jobs.length - maxShown} more` : "";
  return `${jobs.length === 1 ? "job" : "jobs"} ${jobs.slice(0, maxShown).join(", ")}${more}`;
}

function jobCount(count: number): string {
  return count === 1 ? "There is 1 job" : `There are ${count} jobs`;
}
