/**
 * `tutti why JOBS` explains why jobs wait, and when they are expected to start. `tutti why --starts [JOBS]`
 * only shows when, one line per job.
 */

import { NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, PolicyAnswer, WhatIfAnswer, WhyAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, type JobState } from "@tutti/protocol/states.ts";
import { isRange, rangesText } from "@tutti/words/expected.ts";
import { outcomeText, pastErrorText, stateText } from "@tutti/words/jobs.ts";
import { clockText, elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { whySentences } from "@tutti/words/why.ts";
import type { Command } from "commander";
import { NotFoundError, UsageError } from "../errors.ts";
import { jobPages } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { bold, commandName, hint, left, right, tableOf, wrap, writeJson, writeOut } from "../text/text.ts";

/** Maximum number of paragraphs. The jobs of an array all have almost the same text. */
const MAX_PARAGRAPHS = 20;

type Forecast = WhatIfAnswer["policies"][number];
type JobForecast = Forecast["jobs"][number];

const WAITING = ["queued", "held"] as const;

interface Options {
  readonly starts?: boolean;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `${SELECTOR_HELP} (default with --starts: all waiting jobs)`)
    .option("--starts", "only show when waiting jobs are expected to start, one line each")
    .option("--json", "print as JSON")
    .action((words: readonly string[], { starts, json }: Options) => {
      if (starts) return showStarts(words, json);
      if (words.length > 0) return explain(words, json);
      throw new UsageError("Cannot explain without a job: expected one, such as tutti why last, or --starts");
    });
}

async function explain(words: readonly string[], json = false): Promise<void> {
  const client = new Client();
  const numbers = await chosen(client, words);
  for (const number of json ? numbers : numbers.slice(0, MAX_PARAGRAPHS)) {
    const why = await client.ask<WhyAnswer>(`/v1/jobs/${number}/why`);
    if (json) writeJson(why);
    else writeOut(whyText(why, (await client.job(number)).job));
  }
  const more = numbers.length - MAX_PARAGRAPHS;
  if (!json && more > 0) writeOut(`and ${plural(more, "job")} more; tutti why NUMBER explains one\n`);
}

/** The selected jobs that wait; if there are none, those that run; if there are none either, all of them. */
async function chosen(client: Client, words: readonly string[]): Promise<readonly number[]> {
  const among: (readonly JobState[] | undefined)[] = [WAITING, ACTIVE_STATES];
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
function whyText(why: WhyAnswer, job: Job): string {
  if (job.endedAtMs !== undefined) return `${wrap(outcomeText(job), 2)}\n`;
  const sentences = whySentences(why, job);
  const text = sentences.length === 0 ? "" : `\n  ${wrap(sentences.join(" "), 2)}`;
  return `${bold(`job ${job.job} (${visibleLine(job.name)})`)}: ${stateText(why.state)}${text}\n`;
}

async function showStarts(words: readonly string[], json = false): Promise<void> {
  const client = new Client();
  const chosen = words.length === 0 ? undefined : new Set(await selectJobs(client, words, WAITING));
  const waiting: Job[] = [];
  for await (const { jobs } of jobPages(client, { states: WAITING }))
    waiting.push(...jobs.filter(({ job }) => chosen?.has(job) ?? true));
  const { policy } = await client.ask<PolicyAnswer>("/v1/policy");
  const body = { policies: [policy] };
  const answer = await client.ask<WhatIfAnswer>("/v1/whatif", { method: "POST", body });
  const isWanted = new Set(waiting.map(({ job }) => job));
  const [present] = answer.policies.map((forecast) => ({
    ...forecast,
    jobs: forecast.jobs.filter(({ job }) => isWanted.has(job)),
  }));
  if (json) writeJson({ ...answer, policies: [present] });
  else if (waiting.length === 0) writeOut("No jobs are waiting.\n");
  else {
    writeOut(startsTable(waiting, present!, answer.atMs));
    if (present!.jobs.length < waiting.length) {
      hint(
        `${NO_VALUE}: no forecast yet, or not possible; ${commandName()} why NUMBER says what the job waits for`,
      );
    }
  }
}

function startsTable(jobs: readonly Job[], present: Forecast, nowMs: number): string {
  const forecasts = new Map(present.jobs.map((forecast) => [forecast.job, forecast]));
  const known = (textOf: (forecast: JobForecast) => string) => (job: Job) => {
    const forecast = forecasts.get(job.job);
    return forecast === undefined ? NO_VALUE : textOf(forecast);
  };
  const range = ({ p10Ms, p90Ms }: JobForecast, text: (ms: number) => string) =>
    `${text(p10Ms)} to ${text(p90Ms)}`;
  const away = (ms: number) => elapsedText(ms - nowMs);
  const rows = tableOf<Job>(jobs, [
    right("job", ({ job }) => String(job)),
    left("name", ({ name }) => visibleLine(name), 1),
    right(
      "starts in",
      known((one) => (isRange(one) ? range(one, away) : away(one.p50Ms))),
    ),
    left(
      "at",
      known((one) => (isRange(one) ? NO_VALUE : clockText(one.p50Ms))),
    ),
    left(
      "80 % range",
      known((one) => range(one, clockText)),
      2,
    ),
  ]);
  const ranges = rangesText(present.jobs);
  return `${rows}\n${ranges === "" ? "" : `O${ranges.slice(1)}.\n`}${pastErrorText(present)}`;
}
