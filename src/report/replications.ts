/**
 * The columns of a table of replications: means over the seeds with intervals, and the longest wait of all
 * seeds. There is no mean of the maxima, because it would look like a longest wait without being one.
 */
import { confidenceInterval, type Interval, pairedDifference } from "../metrics/statistics.ts";
import { metricOf, type Summary } from "../metrics/summary.ts";
import type { ComparedPolicy } from "../results/comparison.ts";
import { formatDuration, formatNumber, timeUnit } from "./text/format.ts";

interface ReplicatedColumn {
  readonly title: string;
  readonly unit: "s" | "1";
  value(summary: Summary): number;
}

export const REPLICATED: readonly ReplicatedColumn[] = [
  { title: "mean wait", unit: "s", value: (summary) => metricOf(summary, "wait").all.mean },
  { title: "mean response", unit: "s", value: (summary) => metricOf(summary, "response").all.mean },
  {
    title: "bounded slowdown",
    unit: "1",
    value: (summary) => metricOf(summary, "bounded-slowdown").all.mean,
  },
];

/** Title of the column of `longestWaitText`. */
export const MAX_WAIT = "longest wait of all seeds";

/** Means over the seeds with intervals, one text per column. */
export function meanTexts(policy: ComparedPolicy): string[] {
  return REPLICATED.map((column) => intervalText(confidenceInterval(valuesOf(policy, column)), column.unit));
}

/** Differences from another policy, paired by seed, one text per column. */
export function differenceTexts(policy: ComparedPolicy, from: ComparedPolicy): string[] {
  return REPLICATED.map((column) =>
    intervalText(pairedDifference(valuesOf(policy, column), valuesOf(from, column)), column.unit),
  );
}

/** The longest wait of any job under any seed, with the seed and the job. */
export function longestWaitText({ replications = [], replicationHashes }: ComparedPolicy): string {
  let longest = -1;
  const waits = replications.map((summary) => metricOf(summary, "wait").all);
  for (let r = 0; r < waits.length; r++) {
    if (waits[r].maxJobId >= 0 && !(waits[r].max <= (waits[longest]?.max ?? -1))) longest = r;
  }
  if (longest === -1) return formatDuration(Number.NaN);
  const { max, maxJobId } = waits[longest];
  const seed = replicationHashes?.[longest]?.seed;
  return `${formatDuration(max)} (${seed === undefined ? "" : `seed ${seed}, `}job ${maxJobId})`;
}

/** Mean and half width, in one unit if it suits both. */
export function intervalText({ mean, half }: Interval, unit: "s" | "1"): string {
  if (unit === "1") return `${formatNumber(mean)} ± ${formatNumber(half)}`;
  const shared = timeUnit(mean);
  const isTiny = half > 0 && half < 0.05 * shared.seconds;
  return isTiny
    ? `${formatDuration(mean)} ± ${formatDuration(half)}`
    : `${formatNumber(mean / shared.seconds)} ± ${formatDuration(half, shared)}`;
}

function valuesOf({ replications = [] }: ComparedPolicy, { value }: ReplicatedColumn): number[] {
  return replications.map(value);
}
