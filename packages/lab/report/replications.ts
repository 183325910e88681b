/**
 * Builds the columns of a table of replications: means over the seeds with intervals, and the longest wait of
 * all seeds. There is no mean of the longest waits, because it would look like a longest wait without being
 * one.
 */

import { columnFormatter, durationColumn } from "@tutti/kernel/core/format.ts";
import { confidenceInterval, type Interval, pairedDifference } from "@tutti/kernel/metrics/statistics.ts";
import { metricOf, type Summary } from "@tutti/kernel/metrics/summary.ts";
import type { ComparedPolicy } from "../results/comparison.ts";

interface ReplicatedMetric {
  readonly title: string;
  readonly unit: "s" | "1";
  value(summary: Summary): number;
}

const REPLICATED: readonly ReplicatedMetric[] = [
  { title: "mean wait", unit: "s", value: (summary) => metricOf(summary, "wait").all.mean },
  { title: "mean response", unit: "s", value: (summary) => metricOf(summary, "response").all.mean },
  {
    title: "bounded slowdown",
    unit: "1",
    value: (summary) => metricOf(summary, "bounded-slowdown").all.mean,
  },
];

/** A column as text, with one unit for all of its cells. */
export interface TextColumn {
  readonly heading: string;
  readonly texts: readonly string[];
}

/** Means over the seeds with intervals, one text per policy. */
export function meanColumns(policies: readonly ComparedPolicy[]): TextColumn[] {
  return REPLICATED.map((metric) => {
    const intervals = policies.map((policy) => confidenceInterval(valuesOf(policy, metric)));
    return intervalColumn(metric, intervals);
  });
}

/**
 * Differences from the first policy, paired by seed, one text for each of the others, in the units of the
 * means.
 */
export function differenceColumns(policies: readonly ComparedPolicy[]): TextColumn[] {
  const [first, ...others] = policies;
  return REPLICATED.map((metric) => {
    const intervals = others.map((policy) =>
      pairedDifference(valuesOf(policy, metric), valuesOf(first, metric)),
    );
    const means = policies.map((policy) => confidenceInterval(valuesOf(policy, metric)));
    return intervalColumn(metric, intervals, means);
  });
}

/** The longest wait of any job under any seed, one text per policy, with seed and job as remarks. */
export function longestWaitColumn(
  policies: readonly ComparedPolicy[],
): TextColumn & { readonly remarks: readonly string[] } {
  const longest = policies.map(longestWait);
  const { heading, format } = durationColumn(longest.map(({ waitS }) => waitS));
  return {
    heading: heading("longest wait of all seeds"),
    texts: longest.map(({ waitS }) => format(waitS)),
    remarks: longest.map(({ remark }) => remark),
  };
}

function longestWait({ replications = [], replicationHashes }: ComparedPolicy) {
  let longest = -1;
  const waits = replications.map((summary) => metricOf(summary, "wait").all);
  for (let r = 0; r < waits.length; r++) {
    if (waits[r].maxJobId >= 0 && !(waits[r].max <= (waits[longest]?.max ?? -1))) longest = r;
  }
  if (longest === -1) return { waitS: Number.NaN, remark: "" };
  const { max, maxJobId } = waits[longest];
  const seed = replicationHashes?.[longest]?.seed;
  return { waitS: max, remark: `${seed === undefined ? "" : `seed ${seed}, `}job ${maxJobId}` };
}

/** Hours are node-hours: their titles name them, and no other unit suits them better. */
type ShownUnit = "s" | "h" | "1";

/**
 * Means and half widths in one unit.
 * @param next intervals next to which these stand; they decide the unit
 */
export function intervalColumn(
  { title, unit }: { readonly title: string; readonly unit: ShownUnit },
  intervals: readonly (Interval | undefined)[],
  next = intervals,
): TextColumn {
  const of = (key: "mean" | "half") => intervals.map((interval) => interval?.[key] ?? Number.NaN);
  const nextMeans = next.map((interval) => interval?.mean ?? Number.NaN);
  const means = of("mean");
  // The means decide the digits. Whole means do not suffice where half widths have digits after the point.
  const shown = means.every(Number.isInteger) ? [...means, ...of("half")] : means;
  const { heading, format } = layoutOf(unit, title, shown, nextMeans);
  const halves = of("half").map(format);
  const width = Math.max(...halves.map(({ length }) => length));
  return { heading, texts: means.map((mean, i) => `${format(mean)} ± ${halves[i].padStart(width)}`) };
}

/**
 * How the values of a column with this unit are printed.
 * @param next values that decide the unit of time
 */
export function layoutOf(unit: ShownUnit, title: string, values: readonly number[], next = values) {
  if (unit !== "s") return { heading: title, format: columnFormatter(values) };
  const { heading, format } = durationColumn(values, durationColumn(next).unit);
  return { heading: heading(title), format };
}

function valuesOf({ replications = [] }: ComparedPolicy, { value }: ReplicatedMetric): number[] {
  return replications.map(value);
}
