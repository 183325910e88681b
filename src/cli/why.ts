/** `tutti why JOB`: why a job waits, and when it is expected to start. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { Job, WhyAnswer } from "../api/contract.ts";
import { formatDuration } from "../report/format.ts";
import { clockText, outcomeText, stateText } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { SELECTOR_HELP, selectJobs } from "./selectors.ts";
import { bytesText } from "./size-text.ts";
import { bold, wrap, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      for (const number of await selectJobs(client, words, ["queued", "held"])) {
        const why = await client.ask<WhyAnswer>(`/v1/jobs/${number}/why`);
        if (json) writeJson(why);
        else writeOut(whyText(why, (await client.job(number)).job));
      }
    });
}

/** One paragraph: since when and where, what is in the way, when it is expected to start. */
export function whyText(why: WhyAnswer, job: Job): string {
  const head = bold(`job ${job.job} (${visibleLine(job.name)})`);
  if (!["queued", "held"].includes(why.state)) {
    const state = job.endedAtMs === undefined ? `${head}: ${stateText(job.state)}` : outcomeText(job);
    return `${state}\n`;
  }
  const sentences = [
    `Waits for ${formatDuration(why.waitedMs / 1000)} in queue ${visibleLine(job.queue)}${
      why.queueReason === undefined ? "" : ` (${visibleLine(why.queueReason)})`
    }.`,
    ...(why.queuedBefore === 0 ? [] : [`${jobCount(why.queuedBefore)} of the queue before it.`]),
    ...why.obstacles.map(obstacleText),
    ...(why.forecast === undefined ? [] : [forecastText(why.forecast)]),
  ];
  return `${head}: ${stateText(why.state)}\n  ${wrap(sentences.join(" "), 2)}\n`;
}

function obstacleText(obstacle: WhyAnswer["obstacles"][number]): string {
  switch (obstacle.kind) {
    case "held":
      return "It is held: tutti release lets it start.";
    case "dependency":
      return `It starts after ${jobsText(obstacle.jobs)}.`;
    case "cpus": {
      const { needed, free, rows, mostRows } = obstacle;
      const row = rows === 0 ? "" : ` in the emptiest of ${rows} ${rows === 1 ? "row" : "rows"}`;
      const limit = mostRows === 0 || rows < mostRows ? "" : `; there may be no more than ${mostRows}`;
      return `It needs ${needed} ${needed === 1 ? "CPU" : "CPUs"}, ${free} ${free === 1 ? "is" : "are"} free${row}${limit}.`;
    }
    case "memory":
      return `It needs ${bytesText(obstacle.neededBytes)} of memory, ${bytesText(obstacle.freeBytes)} are free beside the other rows.`;
    case "order":
      return `By the policy's order it is behind ${jobsText(obstacle.behind)}.`;
    case "reservation":
      return `It would delay job ${obstacle.holder}, which is promised a start at ${clockText(obstacle.startAtMs)}.`;
    case "conductor":
      return `Nothing can start now: ${visibleLine(obstacle.message)}.`;
  }
}

export function forecastText({
  p10Ms,
  p50Ms,
  p90Ms,
  pastErrorP50Ms,
}: NonNullable<WhyAnswer["forecast"]>): string {
  const past =
    pastErrorP50Ms === undefined
      ? ""
      : `; forecasts so far were off by ${formatDuration(pastErrorP50Ms / 1000)} at the median`;
  return `Expected to start at ${clockText(p50Ms)} (${clockText(p10Ms)} to ${clockText(p90Ms)})${past}.`;
}

function jobsText(jobs: readonly number[]): string {
  const most = 5;
  const more = jobs.length > most ? ` and ${jobs.length - most} more` : "";
  return `${jobs.length === 1 ? "job" : "jobs"} ${jobs.slice(0, most).join(", ")}${more}`;
}

function jobCount(count: number): string {
  return count === 1 ? "There is 1 job" : `There are ${count} jobs`;
}
