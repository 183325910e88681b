/**
 * `tutti whatif POLICY…`: shows when each waiting job would start under other policies. It simulates the
 * future from the current state and changes nothing.
 */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { PolicyAnswer, StatusAnswer, WhatIfAnswer } from "../../protocol/schema.ts";
import { formatDuration, NO_VALUE, plural } from "../../report/text/format.ts";
import { pastErrorText, startText } from "../../words/jobs.ts";
import { visibleLine } from "../../words/visible.ts";
import { bold, leftColumn, table, writeJson, writeOut } from "../text/text.ts";

const JOBS_SHOWN = 30;

export function configure(command: Command): void {
  command
    .argument("[policies...]", "policies to compare with the current one, such as easy fcfs gang")
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const { policy } = await client.ask<PolicyAnswer>("/v1/policy");
      const policies = [
        ...new Set([policy, ...words.flatMap((word) => word.split(",")).filter((word) => word !== "")]),
      ];
      const answer = await client.ask<WhatIfAnswer>("/v1/whatif", { method: "POST", body: { policies } });
      if (json) writeJson(answer);
      else if (answer.policies.some(({ jobs }) => jobs.length > 0)) writeOut(whatIfText(answer));
      else writeOut(`${nothingText((await client.ask<StatusAnswer>("/v1/status")).counts)}\n`);
    });
}

/** Why there is no forecast. */
function nothingText({ queued, held }: StatusAnswer["counts"]): string {
  if (queued + held === 0) return "No jobs are waiting.";
  if (queued === 0) return `${plural(held, "job")} held: tutti release lets them start.`;
  return `No forecast for ${plural(queued, "queued job")}: just submitted, waiting for other jobs to end, or behind a job that waits for memory. tutti why all says which.`;
}

/** A table of jobs × policies: the median start, and the range from p10 to p90. */
function whatIfText({ atMs, policies }: WhatIfAnswer): string {
  const jobs = [...new Set(policies.flatMap(({ jobs: own }) => own.map(({ job }) => job)))].sort(
    (a, b) => a - b,
  );
  const starts = policies.map(({ jobs: own }) => new Map(own.map((forecast) => [forecast.job, forecast])));
  const cell = (job: number, i: number) => {
    const forecast = starts[i].get(job);
    return forecast === undefined ? NO_VALUE : startText(forecast);
  };
  // Means over the jobs that all forecasts have in common: a forecast may be older than the last submit.
  const common = jobs.filter((job) => starts.every((startOf) => startOf.has(job)));
  const means = starts.map((startOf) => {
    const waits = common.map((job) => Math.max(0, startOf.get(job)!.p50Ms - atMs));
    return waits.length === 0
      ? NO_VALUE
      : formatDuration(waits.reduce((a, b) => a + b, 0) / waits.length / 1000);
  });
  const starting = table(
    [
      leftColumn("job"),
      ...policies.map(({ policy }, i) => leftColumn(`${visibleLine(policy)}${i === 0 ? " (now)" : ""}`, i)),
    ],
    [
      ["mean wait", ...means],
      ...jobs.slice(0, JOBS_SHOWN).map((job) => [String(job), ...policies.map((_, i) => cell(job, i))]),
    ],
  );
  const more = jobs.length > JOBS_SHOWN ? `and ${jobs.length - JOBS_SHOWN} more; --json has all\n` : "";
  return `${bold("Expected starts (in parentheses: 10 % to 90 % of the forecasts)")}\n${starting}\n${more}${pastErrorText(policies[0])}`;
}
