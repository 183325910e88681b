/** `tutti whatif POLICY…`: when each waiting job would start under other policies, by running the present state forward. Changes nothing. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { PolicyAnswer, StatusAnswer, WhatIfAnswer } from "../../protocol/schema.ts";
import { formatDuration, NO_VALUE } from "../../report/text/format.ts";
import { renderTable } from "../../report/text/table.ts";
import { clockText } from "../text/job-text.ts";
import { writeJson } from "../text/json.ts";
import { bold, isColourful, plural, tableWidth, writeOut } from "../text/text.ts";
import { visibleLine } from "../text/visible.ts";

const JOBS_SHOWN = 30;

export function configure(command: Command): void {
  command
    .argument("[policies...]", "policies to compare with the present one, such as easy fcfs gang")
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
  if (queued + held === 0) return "No job waits.";
  if (queued === 0) return `${plural(held, "job")} held: tutti release lets them start.`;
  return `No forecast for the ${plural(queued, "job")} queued: they have only just come, wait for other jobs to end, or are behind one that waits for memory; tutti why all tells.`;
}

/** A table of jobs × policies: the median start, and the range from p10 to p90. */
function whatIfText({ atMs, policies }: WhatIfAnswer): string {
  const jobs = [...new Set(policies.flatMap(({ jobs: own }) => own.map(({ job }) => job)))].sort(
    (a, b) => a - b,
  );
  const starts = policies.map(({ jobs: own }) => new Map(own.map((forecast) => [forecast.job, forecast])));
  const cell = (job: number, i: number) => {
    const forecast = starts[i].get(job);
    if (forecast === undefined) return NO_VALUE;
    const { p10Ms, p50Ms, p90Ms } = forecast;
    const range = p90Ms - p10Ms < 1000 ? "" : ` (${clockText(p10Ms)} to ${clockText(p90Ms)})`;
    return `${clockText(p50Ms)}${range}`;
  };
  // Of the same jobs under each policy: a forecast may be older than the last submit.
  const common = jobs.filter((job) => starts.every((of) => of.has(job)));
  const means = starts.map((of) => {
    const waits = common.map((job) => Math.max(0, of.get(job)!.p50Ms - atMs));
    return waits.length === 0
      ? NO_VALUE
      : formatDuration(waits.reduce((a, b) => a + b, 0) / waits.length / 1000);
  });
  const table = renderTable(
    [
      { title: "job", align: "left", dispensable: 0 },
      ...policies.map(({ policy }, i) => ({
        title: `${visibleLine(policy)}${i === 0 ? " (now)" : ""}`,
        align: "left" as const,
        dispensable: i,
      })),
    ],
    [
      ["mean wait", ...means],
      ...jobs.slice(0, JOBS_SHOWN).map((job) => [String(job), ...policies.map((_, i) => cell(job, i))]),
    ],
    { width: tableWidth(), colour: isColourful() },
  );
  const more = jobs.length > JOBS_SHOWN ? `and ${jobs.length - JOBS_SHOWN} more; --json has all\n` : "";
  const error = policies[0]?.pastErrorP50Ms;
  const past =
    error === undefined
      ? ""
      : `Forecasts so far were off by ${formatDuration(error / 1000)} at the median.\n`;
  return `${bold("Expected starts (10 % to 90 % of the forecasts)")}\n${table}${more}${past}`;
}
