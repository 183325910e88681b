/** A timeline in words: the tables next to its picture, and what a pointer shows. */

import { formatDuration, formatPercent, NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import { isRange, expectedText as textOf } from "@tutti/words/expected.ts";
import { spreadsheetCell } from "@tutti/words/spreadsheet.ts";
import { clockText, isoText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Area, sumsOf } from "./area.ts";
import { type Interval, jobTitle, type TimelineData, type TimelineJob } from "./data.ts";
import { offsetText } from "./ticks.ts";

/** A time by the clock of the data. */
export function timeTextOf({ clock }: Pick<TimelineData, "clock">, ms: number): string {
  return clock === "calendar" ? clockText(ms) : offsetText(ms, false);
}

export function startText(data: TimelineData, { startMs, expectedStart }: TimelineJob): string {
  return startMs === undefined ? expectedText(data, expectedStart) : timeTextOf(data, startMs);
}

export function endText(data: TimelineData, { endMs, expectedEnd }: TimelineJob): string {
  return endMs === undefined ? expectedText(data, expectedEnd) : timeTextOf(data, endMs);
}

function expectedText(data: TimelineData, interval: Interval | undefined): string {
  if (interval === undefined) return NO_VALUE;
  const text = textOf(interval, (ms) => timeTextOf(data, ms));
  return isRange(interval) ? text : `about ${text}`;
}

/** Its CPUs as the machine names them: `0-3,8`. */
export function cpusOf({ cpuName = String }: TimelineData, { cpus }: TimelineJob): string {
  const names = cpus.map(({ first, end }) =>
    end - first === 1 ? cpuName(first) : `${cpuName(first)}-${cpuName(end - 1)}`,
  );
  return names.length === 0 ? NO_VALUE : names.join(",");
}

/** What a job is, in lines. */
export function detailLines(data: TimelineData, job: TimelineJob): string[] {
  const { user, queue, state, tasks, promisedMs, submittedMs, startMs } = job;
  const who = [user, queue === undefined ? undefined : `queue ${queue}`, state].filter(
    (part) => part !== undefined,
  );
  return [
    jobTitle(job),
    ...(who.length === 0 ? [] : [visibleLine(who.join(" · "))]),
    `${plural(tasks, "CPU")}${job.cpus.length === 0 ? "" : `: ${cpusOf(data, job)}`}`,
    `start ${startText(data, job)}`,
    `end ${endText(data, job)}`,
    // A simulation shows only what happened: how long jobs waited is what it is about.
    ...(data.clock === "elapsed" && submittedMs !== undefined && startMs !== undefined
      ? [`waited ${formatDuration((startMs - submittedMs) / 1000)}`]
      : []),
    ...(promisedMs === undefined ? [] : [`promised start ${timeTextOf(data, promisedMs)}`]),
  ];
}

const MOST_NAMED = 8;

/** What is at a pixel where several jobs are drawn. */
export function severalLines(jobs: readonly TimelineJob[]): string[] {
  const named = jobs.slice(0, MOST_NAMED).map(jobTitle);
  const rest = jobs.length - named.length;
  return [`${plural(jobs.length, "job")} here: zoom in`, ...named, ...(rest > 0 ? [`and ${rest} more`] : [])];
}

/** `3 jobs in 2.00 h: 12.0 min of CPU time used and 1.00 h expected, 45.0 % of the CPUs`. */
export function sumsText(
  { jobs, usedCpuMs, expectedCpuMs, capacityCpuMs }: ReturnType<typeof sumsOf>,
  { fromMs, toMs }: Area,
): string {
  const share = (usedCpuMs + expectedCpuMs) / capacityCpuMs;
  const expected = expectedCpuMs > 0 ? ` and ${formatDuration(expectedCpuMs / 1000)} expected` : "";
  const of = capacityCpuMs > 0 ? `, ${formatPercent(share)} of the CPUs` : "";
  return `${plural(jobs.length, "job")} in ${formatDuration((toMs - fromMs) / 1000)}: ${formatDuration(usedCpuMs / 1000)} of CPU time used${expected}${of}`;
}

const CSV_HEADING =
  "job,name,user,queue,state,cpus,on_cpus,submitted,start,end,start_p10,start_p50,start_p90,end_p10,end_p50,end_p90\n";

/** Times are ISO 8601 in UTC, or seconds from the beginning. */
export function jobsCsv(data: TimelineData, jobs: readonly TimelineJob[]): string {
  const time = (ms: number | undefined) =>
    ms === undefined ? "" : data.clock === "calendar" ? isoText(ms) : String(ms / 1000);
  const quantiles = (interval: Interval | undefined) =>
    [interval?.p10Ms, interval?.p50Ms, interval?.p90Ms].map(time);
  const lines = jobs.map((job) =>
    csvLine([
      job.job,
      ...[job.name, job.user ?? "", job.queue ?? ""].map(spreadsheetCell),
      ...[job.state ?? "", job.tasks],
      job.cpus.length === 0 ? "" : cpusOf(data, job),
      ...[job.submittedMs, job.startMs, job.endMs].map(time),
      ...quantiles(job.expectedStart),
      ...quantiles(job.expectedEnd),
    ]),
  );
  return CSV_HEADING + lines.join("");
}
