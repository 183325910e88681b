/**
 * `tutti eta [JOBS]`: shows when waiting jobs are expected to start, one line per job. `tutti why` shows why
 * they wait.
 */

import { NO_VALUE } from "@tutti/kernel/core/format.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, PolicyAnswer, WhatIfAnswer } from "@tutti/protocol/schema.ts";
import { isRange, rangesText } from "@tutti/words/expected.ts";
import { pastErrorText } from "@tutti/words/jobs.ts";
import { clockText, elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { jobPages } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { commandName, hint, left, right, tableOf, writeJson, writeOut } from "../text/text.ts";

type Forecast = WhatIfAnswer["policies"][number];
type JobForecast = Forecast["jobs"][number];

const WAITING = ["queued", "held"] as const;

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `${SELECTOR_HELP} (default: all waiting jobs)`)
    .option("--json", "print as JSON")
    .action(run);
}

async function run(words: readonly string[], { json }: { readonly json?: boolean }): Promise<void> {
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
    writeOut(etaTable(waiting, present!, answer.atMs));
    if (present!.jobs.length < waiting.length) {
      hint(
        `${NO_VALUE}: no forecast yet, or not possible; ${commandName()} why NUMBER says what the job waits for`,
      );
    }
  }
}

function etaTable(jobs: readonly Job[], present: Forecast, nowMs: number): string {
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
  const why = rangesText(present.jobs);
  return `${rows}\n${why === "" ? "" : `O${why.slice(1)}.\n`}${pastErrorText(present)}`;
}
