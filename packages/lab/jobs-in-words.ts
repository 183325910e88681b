/**
 * Says in words what a workload is like and what its reader did: the same on the command line and in a page.
 */
import type { Diagnostic } from "@tutti/kernel/core/diagnostics.ts";
import { formatCount, formatNumber, NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import type { describeWorkload, Spread } from "@tutti/kernel/workload/describe.ts";

type Facts = ReturnType<typeof describeWorkload>;

/** Jobs, load, sizes and estimates in sentences. */
export function workloadSentences({ jobs, processors, spanS, users, ...facts }: Facts): string[] {
  const days = spanS === undefined ? "an unknown time" : `${(spanS / 86400).toFixed(1)} days`;
  return [
    `${plural(jobs, "job")} over ${days}, on ${processors === undefined ? "an unknown number of processors" : plural(processors, "processor")}, offered load ${share(facts.offeredLoad)}`,
    `${formatCount(facts.zeroRunJobs)} with run time 0, left out of the numbers below`,
    `${share(facts.serialShare)} of the jobs are serial, ${share(facts.powerOfTwoShare)} use a power of two above 1${users === undefined ? "" : `, ${formatCount(users)} users`}`,
    `${formatCount(facts.estimates)} with an estimate, ${formatCount(facts.overruns)} ran past it`,
  ];
}

export const SPREAD_HEADINGS = ["min", "median", "mean", "max"] as const;

/** Rows of a table with these columns, each with its name in front. */
export function spreadRows({ runS, size, waitS }: Facts): string[][] {
  return [
    spreadRow("run time, s", runS),
    spreadRow("processors", size),
    spreadRow("wait in the log, s", waitS),
  ];
}

/** What was repaired, dropped or noted, in one line. */
export function diagnosticText({ action, count, message, examples }: Diagnostic): string {
  const [first] = examples;
  const place = first?.line === undefined ? first?.job && `job ${first.job}` : `line ${first.line}`;
  // What is kept although it is not used has no field, only a text.
  const isText = action === "kept" && first?.field === undefined && first?.value !== undefined;
  const where = isText ? `${place}, "${first.value}"` : place;
  return `${action} ${formatCount(count)}: ${message}${place ? ` (first: ${where})` : ""}`;
}

function spreadRow(name: string, spread: Spread | undefined): string[] {
  if (spread === undefined) return [name, ...SPREAD_HEADINGS.map(() => NO_VALUE)];
  return [name, ...SPREAD_HEADINGS.map((heading) => formatNumber(spread[heading]))];
}

function share(value: number | undefined): string {
  return value === undefined ? "unknown" : `${(100 * value).toFixed(1)} %`;
}
