/**
 * `tutti whatif [POLICY…] [--job OPTIONS]… [--without-cpus N]`: shows when each waiting job would start under
 * other policies, with jobs that are not submitted, or with fewer CPUs, and who gains and loses. It simulates
 * the future from the current state and changes nothing.
 */

import { formatDuration, NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import { MAX_TASKS } from "@tutti/protocol/limits.ts";
import type { PolicyAnswer, StatusAnswer, WhatIfAnswer, WhatIfBody } from "@tutti/protocol/schema.ts";
import { expectedText, isRange, rangesText } from "@tutti/words/expected.ts";
import { pastErrorText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { changesText, changeText, hypotheticalText } from "@tutti/words/what-if.ts";
import type { Command } from "commander";
import { type Asked, show } from "../live/show.ts";
import { integer } from "../options/parse.ts";
import { hypotheticalJob } from "../options/submit-options.ts";
import { bold, left, leftColumn, right, table, tableOf, wrap } from "../text/text.ts";

const JOBS_SHOWN = 30;

type PolicyForecast = WhatIfAnswer["policies"][number];

interface Options {
  readonly job?: readonly string[];
  readonly withoutCpus?: number;
}

type AskedForecast = Asked<Options, [readonly string[]]>;

export function configure(command: Command): void {
  command
    .argument("[policies...]", "policies to compare with the current one, such as easy fcfs gang")
    .option(
      "--job <options>",
      'a job that you might submit, such as "-n 4 --time 2h"; may be repeated',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option(
      "--without-cpus <n>",
      "take this many CPUs away, those with the highest numbers",
      integer(1, MAX_TASKS),
    )
    .addHelpText(
      "after",
      `
Examples:
  tutti whatif gang easy                 starts under these policies
  tutti whatif --job '-n 4 --time 2h'    when this job starts, whom it delays
  tutti whatif --without-cpus 8          who gains and loses with 8 CPUs fewer`,
    );
  show(command, { ask, text });
}

const isMoreThanPolicies = ({ job = [], withoutCpus }: Options) =>
  job.length > 0 || withoutCpus !== undefined;

async function ask(asked: AskedForecast): Promise<WhatIfAnswer> {
  const { words, options } = asked;
  const jobs = (options.job ?? []).map(hypotheticalJob);
  const { client } = asked;
  const { policy } = await client.ask<PolicyAnswer>("/v1/policy");
  const others = words[0].flatMap((word) => word.split(",")).filter((word) => word !== "");
  const isMore = isMoreThanPolicies(options);
  const policies = [...new Set(isMore && others.length > 0 ? others : [policy, ...others])];
  const body: WhatIfBody = {
    policies,
    ...(jobs.length > 0 && { jobs }),
    withoutCpus: options.withoutCpus,
  };
  return client.ask("/v1/whatif", { method: "POST", body });
}

async function text(answer: WhatIfAnswer, { client, options }: AskedForecast): Promise<string> {
  const { policies, atMs } = answer;
  if (isMoreThanPolicies(options))
    return policies.map((then) => thenNowText(then, atMs, options.job ?? [])).join("\n");
  if (policies.some(({ jobs }) => jobs.length > 0)) return whatIfText(answer);
  return `${nothingText((await client.ask<StatusAnswer>("/v1/status")).counts)}\n`;
}

/** Why there is no forecast. */
function nothingText({ queued, held }: StatusAnswer["counts"]): string {
  if (queued + held === 0) return "No jobs are waiting.";
  if (queued === 0) return `${plural(held, "job")} held: tutti release lets them start.`;
  return `No forecast for ${plural(queued, "queued job")}: just submitted, waiting for other jobs to end, or behind a job that waits for memory. tutti why all says which.`;
}

/** What happens under one policy: the sentence, jobs that are not submitted, and a table of now and then. */
function thenNowText(policy: PolicyForecast, nowMs: number, texts: readonly string[]): string {
  const isOther = policy.base !== undefined && policy.base.policy !== policy.policy;
  const name = isOther ? `Under ${visibleLine(policy.policy)}: ` : "";
  const { changes, hypothetical = [] } = policy;
  const sentence = changes === undefined ? [] : [bold(wrap(`${name}${changesText(changes)}`, 0))];
  const paragraphs = hypothetical.map((forecast, i) => wrap(hypotheticalText(texts[i], forecast, nowMs), 0));
  const rows = thenText(policy);
  const next = isOther || texts.length === 0 ? [] : [`Submit it: tutti submit ${texts[0]} -- COMMAND`];
  const past = pastErrorText(policy).trimEnd();
  const parts = [...sentence, ...paragraphs, ...(rows === "" ? [] : [rows]), ...(past === "" ? [] : [past])];
  return `${[...parts, ...next].join("\n")}\n`;
}

/** A table of your jobs, now and then, the largest loss first; empty if there are none. */
function thenText({ jobs, base }: PolicyForecast): string {
  if (base === undefined || base.jobs.length === 0) return "";
  const then = new Map(jobs.map((forecast) => [forecast.job, forecast]));
  const rows = base.jobs
    .map((before) => ({ before, after: then.get(before.job) }))
    .map(({ before, after }) => ({ before, after, ms: after && after.p50Ms - before.p50Ms }))
    .sort((a, b) => (b.ms ?? Infinity) - (a.ms ?? Infinity) || a.before.job - b.before.job);
  const shown = tableOf<(typeof rows)[number]>(rows.slice(0, JOBS_SHOWN), [
    right("job", ({ before }) => String(before.job)),
    left("starts now", ({ before }) => expectedText(before)),
    left("then", ({ after }) => (after === undefined ? NO_VALUE : expectedText(after))),
    right("change", ({ ms }) => (ms === undefined ? NO_VALUE : changeText(ms))),
  ]);
  const more = rows.length > JOBS_SHOWN ? `\nand ${rows.length - JOBS_SHOWN} more; --json has all` : "";
  return `${shown}${more}`;
}

/** A table of jobs × policies: the median start, and the range from p10 to p90. */
function whatIfText({ atMs, policies }: WhatIfAnswer): string {
  const jobs = [...new Set(policies.flatMap(({ jobs: own }) => own.map(({ job }) => job)))].sort(
    (a, b) => a - b,
  );
  const starts = policies.map(({ jobs: own }) => new Map(own.map((forecast) => [forecast.job, forecast])));
  const cell = (job: number, i: number) => {
    const forecast = starts[i].get(job);
    return forecast === undefined ? NO_VALUE : expectedText(forecast);
  };
  // Means over the jobs that all forecasts have in common: a forecast may be older than the last submit.
  const common = jobs.filter((job) => starts.every((startOf) => startOf.has(job)));
  const means = starts.map((startOf) => {
    const forecasts = common.map((job) => startOf.get(job)!);
    const mean = (name: "p10Ms" | "p50Ms" | "p90Ms") =>
      formatDuration(
        forecasts.reduce((sum, { [name]: ms }) => sum + Math.max(0, ms - atMs), 0) / forecasts.length / 1000,
      );
    if (forecasts.length === 0) return NO_VALUE;
    return forecasts.some(isRange) ? `${mean("p10Ms")} to ${mean("p90Ms")}` : mean("p50Ms");
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
  const sentences = policies.flatMap(({ policy, changes }) =>
    changes === undefined ? [] : [`${wrap(`Under ${visibleLine(policy)}: ${changesText(changes)}`, 0)}\n`],
  );
  const why = rangesText(policies.flatMap(({ jobs: own }) => own));
  const heading = why === "" ? "in parentheses: 10 % to 90 % of the forecasts" : why;
  return `${bold(`Expected starts (${heading})`)}\n${starting}\n${more}${sentences.join("")}${pastErrorText(policies[0])}`;
}
