/** What a report is made from: several policies over the same jobs on the same machine. */
import type { Instance } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import type { MetricSummary, Summary } from "../metrics/summary.ts";
import { metricOf } from "../metrics/summary.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "./format.ts";

export interface Comparison {
  readonly instance: Instance;
  readonly workloadHash: string;
  /** Seed of the workload; undefined for a trace. */
  readonly seed: number | undefined;
  /** The rules of the run in words. */
  readonly rules: readonly string[];
  readonly made: { readonly version: string; readonly revision: string };
  /** The command that makes the same result again, where there is one. */
  readonly command: string | undefined;
  /** At least one; summaries made with the same metrics, classes and window. */
  readonly policies: readonly ComparedPolicy[];
}

export interface ComparedPolicy {
  /** As written on the command line. */
  readonly label: string;
  readonly title: string;
  /** The policy's own rules in words. */
  readonly rules: readonly string[];
  readonly summary: Summary;
  readonly schedule: Schedule;
  readonly scheduleHash: string;
  /** Summaries of further seeds with the same policy, this one's first; undefined without replications. */
  readonly replications: readonly Summary[] | undefined;
}

/** A column of the ranking table. */
export interface RankingColumn {
  readonly title: string;
  readonly better: "low" | "high" | "neither";
  /** See TableColumn. */
  readonly dispensable: number;
  value(summary: Summary): number;
  format(value: number, summary: Summary): string;
}

const wait = (summary: Summary) => metricOf(summary, "wait").all;

const COLUMNS: readonly RankingColumn[] = [
  seconds("mean wait", 0, (summary) => wait(summary).mean),
  seconds("median wait", 3, (summary) => wait(summary).median),
  seconds("p95 wait", 4, (summary) => wait(summary).p95),
  {
    ...seconds("longest wait", 0, (summary) => wait(summary).max),
    format: (value, summary) =>
      wait(summary).maxJobId < 0 ? "–" : `${formatDuration(value)} (job ${wait(summary).maxJobId})`,
  },
  seconds("mean response", 2, (summary) => metricOf(summary, "response").all.mean),
  {
    title: "bounded slowdown",
    better: "low",
    dispensable: 1,
    value: (summary) => metricOf(summary, "bounded-slowdown").all.mean,
    format: formatNumber,
  },
  {
    title: "utilisation",
    better: "high",
    dispensable: 1,
    value: (summary) => summary.machine.utilisation,
    format: formatPercent,
  },
  seconds("makespan", 5, (summary) => summary.machine.makespanS),
];

const GANG_COLUMNS: readonly RankingColumn[] = [
  rowsColumn("mean rows", 6, (summary) => summary.gang?.meanRows),
  rowsColumn("most rows", 7, (summary) => summary.gang?.maxRows),
];

const KILLED: RankingColumn = {
  title: "killed",
  better: "neither",
  dispensable: 2,
  value: (summary) => summary.jobs.killed,
  format: formatCount,
};

/** The columns by which the policies are ranked; those that say something here. */
export function rankingColumns(policies: readonly { readonly summary: Summary }[]): RankingColumn[] {
  const columns = [...COLUMNS];
  if (policies.some(({ summary }) => summary.gang !== undefined)) columns.push(...GANG_COLUMNS);
  if (policies.some(({ summary }) => summary.jobs.killed > 0)) columns.push(KILLED);
  return columns;
}

/** Rows of the best values in a column. Values that print alike are alike; none is best when all are alike. */
export function bestRows(
  column: RankingColumn,
  policies: readonly { readonly summary: Summary }[],
): Set<number> {
  const values = policies.map(({ summary }) => column.value(summary));
  const known = values.filter((value) => !Number.isNaN(value));
  if (column.better === "neither" || known.length < 2) return new Set();
  const best = known.reduce((a, b) => (column.better === "low" ? Math.min(a, b) : Math.max(a, b)));
  const rows = values.flatMap((value, row) => (value === best ? [row] : []));
  return new Set(rows.length === known.length ? [] : rows);
}

/** Rows of the policies by mean wait, best first; ties in the order given. */
export function rankByMeanWait(policies: readonly { readonly summary: Summary }[]): number[] {
  const means = policies.map(({ summary }) => wait(summary).mean);
  const key = (row: number) => (Number.isNaN(means[row]!) ? Number.POSITIVE_INFINITY : means[row]!);
  return means.map((_, row) => row).sort((a, b) => (key(a) === key(b) ? a - b : key(a) - key(b)));
}

/** Two or three sentences that say what came out. */
export function findings(policies: readonly ComparedPolicy[]): string[] {
  if (policies.length < 2) return [];
  const order = rankByMeanWait(policies).map((row) => policies[row]!);
  const best = order[0]!;
  const worst = order.at(-1)!;
  const mean = (policy: ComparedPolicy) => wait(policy.summary).mean;
  const longest = (policy: ComparedPolicy) => wait(policy.summary).max;
  if (!(mean(worst) > mean(best))) return ["All policies give the same mean wait."];
  const sentences = [
    `${best.label} has the shortest mean wait, ${formatDuration(mean(best))}; ${worst.label} the longest, ${formatDuration(mean(worst))}.`,
  ];
  const fair = policies.reduce((a, b) => (longest(b) < longest(a) ? b : a));
  sentences.push(
    longest(best) > longest(fair)
      ? `Means hide the longest wait: under ${best.label} job ${wait(best.summary).maxJobId} waits ${formatDuration(longest(best))}, under ${fair.label} nobody waits longer than ${formatDuration(longest(fair))}.`
      : `No policy keeps its longest wait below that of ${best.label}, ${formatDuration(longest(best))}.`,
  );
  return sentences;
}

/** The metrics that every policy of the comparison has. */
export function sharedMetrics(policies: readonly ComparedPolicy[]): readonly MetricSummary[] {
  return policies[0]!.summary.metrics.filter(({ name }) =>
    policies.every(({ summary }) => summary.metrics.some((metric) => metric.name === name)),
  );
}

function seconds(title: string, dispensable: number, value: (summary: Summary) => number): RankingColumn {
  return { title, better: "low", dispensable, value, format: formatDuration };
}

function rowsColumn(
  title: string,
  dispensable: number,
  value: (summary: Summary) => number | undefined,
): RankingColumn {
  return {
    title,
    better: "neither",
    dispensable,
    value: (summary) => value(summary) ?? Number.NaN,
    format: formatNumber,
  };
}
