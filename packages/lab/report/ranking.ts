/** Ranks policies side by side: the columns of the ranking, its order, and the findings in words. */

import {
  columnFormatter,
  durationColumn,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
} from "@tutti/kernel/core/format.ts";
import { type MetricSummary, metricOf, type Summary } from "@tutti/kernel/metrics/summary.ts";
import type { ComparedPolicy, Comparison } from "../results/comparison.ts";

/**
 * The program that made a result, as people cite it. Outside a repository, there is no revision; local
 * changes are mentioned.
 */
export function programText({ version, revision }: Comparison["made"]): string {
  if (revision === "" || revision === "unknown") return `tutti ${version}`;
  const [, commit = "", changed] = /^(.*?)(-dirty)?$/.exec(revision)!;
  return `tutti ${version} (${commit.slice(0, 12)}${changed === undefined ? "" : " with local changes"})`;
}

type Measured = Pick<ComparedPolicy, "summary">;

/** How the values of a column are printed. */
interface Layout {
  /** The title, with the unit of the column in parentheses if it has one. */
  readonly heading: string;
  format(value: number): string;
}

interface RankingColumn extends ColumnSpec, Layout {}

/** A column of the ranking table. */
interface ColumnSpec {
  readonly title: string;
  readonly better: "low" | "high" | "neither";
  /**
   * When the column means the same for all policies; otherwise no value is marked as the best. Default:
   * always.
   */
  readonly comparable?: "without gangs" | "unless mixed";
  /** See TableColumn. */
  readonly dropOrder: number;
  value(summary: Summary): number;
  /** It gets all values of the column, to find a common unit. */
  layout(values: readonly number[]): Layout;
  /** Printed after the value. */
  remark?(summary: Summary): string;
}

const wait = (summary: Summary) => metricOf(summary, "wait").all;

const MAKESPAN = seconds("makespan", 5, (summary) => summary.machine.makespanS);

const COLUMNS: readonly ColumnSpec[] = [
  { ...seconds("mean wait", 0, (summary) => wait(summary).mean), comparable: "without gangs" },
  { ...seconds("median wait", 3, (summary) => wait(summary).median), comparable: "without gangs" },
  { ...seconds("p95 wait", 4, (summary) => wait(summary).p95), comparable: "without gangs" },
  {
    ...seconds("longest wait", 0, (summary) => wait(summary).max),
    comparable: "without gangs",
    remark: (summary) => (wait(summary).maxJobId < 0 ? "" : `job ${wait(summary).maxJobId}`),
  },
  seconds("mean response", 2, (summary) => metricOf(summary, "response").all.mean),
  {
    ...fact("bounded slowdown", 1, undefined, (summary) => metricOf(summary, "bounded-slowdown").all.mean),
    better: "low",
  },
  {
    ...fact("utilisation", 1, formatPercent, ({ machine }) => machine.utilisation),
    better: "high",
    comparable: "unless mixed",
  },
  MAKESPAN,
];

const GANG_COLUMNS: readonly ColumnSpec[] = [
  fact("mean rows", 6, undefined, ({ gang }) => gang?.meanRows),
  fact("most rows", 7, formatCount, ({ gang }) => gang?.maxRows),
];
const MIGRATIONS = fact("migrations", 6, formatCount, ({ gang }) => gang?.migrations);
const KILLED = fact("killed", 2, formatCount, ({ jobs }) => jobs.killed);

/**
 * The columns of the ranking. A makespan that is the same for all policies is left out. With gangs, waits are
 * not a measure, because gangs start early and run slowly; and their utilisation cannot be compared with that
 * of space sharing.
 */
export function rankingColumns(policies: readonly Measured[]): RankingColumn[] {
  const compared = `mean ${comparedMetric(policies)}`;
  const gangs = policies.filter(({ summary }) => summary.gang !== undefined).length;
  const isMixed = gangs > 0 && gangs < policies.length;
  const columns = COLUMNS.filter((column) => column !== MAKESPAN || !isAlike(column, policies)).map(
    (column): ColumnSpec => {
      const { comparable } = column;
      const isVoid =
        (comparable === "without gangs" && gangs > 0) || (comparable === "unless mixed" && isMixed);
      return {
        ...column,
        ...(isVoid && { better: "neither" }),
        ...(column.title === compared && { dropOrder: 0 }),
      };
    },
  );
  if (gangs > 0) columns.push(...GANG_COLUMNS);
  if (policies.some(({ summary }) => (summary.gang?.migrations ?? 0) > 0)) columns.push(MIGRATIONS);
  if (policies.some(({ summary }) => summary.jobs.killed > 0)) columns.push(KILLED);
  return columns.map((column) => ({ ...column, ...column.layout(valuesOf(column, policies)) }));
}

function valuesOf(column: ColumnSpec, policies: readonly Measured[]): number[] {
  return policies.map(({ summary }) => column.value(summary));
}

/** Whether there are several policies and all their values look the same when printed. */
function isAlike(column: ColumnSpec, policies: readonly Measured[]): boolean {
  const values = valuesOf(column, policies);
  const { format } = column.layout(values);
  return policies.length > 1 && values.every((value) => format(value) === format(values[0]));
}

/** A cell of the ranking table. */
interface RankingCell {
  readonly value: number;
  readonly text: string;
  /** Printed after the text; may be empty. */
  readonly remark: string;
  /**
   * Whether it is the best of its column. Values that look the same when printed are equal; if all are equal,
   * none is the best.
   */
  readonly isBest: boolean;
}

/** One cell per policy. */
export function rankingCells(column: RankingColumn, policies: readonly Measured[]): RankingCell[] {
  const values = valuesOf(column, policies);
  const best = bestText(column, values);
  return policies.map(({ summary }, i) => {
    const text = column.format(values[i]);
    return { value: values[i], text, remark: column.remark?.(summary) ?? "", isBest: text === best };
  });
}

function bestText(column: RankingColumn, values: readonly number[]): string | undefined {
  const { format } = column;
  const known = values.filter((value) => !Number.isNaN(value));
  if (column.better === "neither" || known.length < 2) return undefined;
  const best = format(known.reduce((a, b) => (column.better === "low" ? Math.min(a, b) : Math.max(a, b))));
  return known.every((value) => format(value) === best) ? undefined : best;
}

/**
 * The metric by which policies are compared: the wait; but the response if one of them is time sharing,
 * because its jobs start early and run slowly.
 */
export function comparedMetric(policies: readonly Measured[]): "wait" | "response" {
  return policies.some(({ summary }) => summary.gang !== undefined) ? "response" : "wait";
}

/** Indices of the policies by their mean of the compared metric, best first. Ties keep the given order. */
export function ranking(policies: readonly Measured[]): number[] {
  const metric = comparedMetric(policies);
  const means = policies.map(({ summary }) => metricOf(summary, metric).all.mean);
  const key = (row: number) => (Number.isNaN(means[row]) ? Number.POSITIVE_INFINITY : means[row]);
  return means.map((_, row) => row).sort((a, b) => (key(a) === key(b) ? a - b : key(a) - key(b)));
}

/**
 * The findings as sentences: which policy is best and by how much, and what its mean hides. Empty if there is
 * nothing to compare.
 */
export function findings(policies: readonly ComparedPolicy[]): string[] {
  const metric = comparedMetric(policies);
  const times = ({ summary }: ComparedPolicy) => metricOf(summary, metric).all;
  if (policies.length < 2 || policies.some((policy) => Number.isNaN(times(policy).mean))) return [];
  const order = ranking(policies).map((row) => policies[row]);
  const best = order[0];
  const worst = order.at(-1)!;
  if (times(worst).mean === times(best).mean) return [`All policies give the same mean ${metric}.`];
  const meanUnit = durationColumn(policies.map((policy) => times(policy).mean)).unit;
  const maxUnit = durationColumn(policies.map((policy) => times(policy).max)).unit;
  const mean = (seconds: number) => formatDuration(seconds, meanUnit);
  const longest = (seconds: number) => formatDuration(seconds, maxUnit);
  const sentences = [
    `${best.label} has the shortest mean ${metric}, ${mean(times(best).mean)}; ${worst.label} the longest, ${mean(times(worst).mean)}${timesAsLong(times(worst).mean / times(best).mean)}.`,
  ];
  const fair = policies.reduce((a, b) => (times(b).max < times(a).max ? b : a));
  if (times(best).max > times(fair).max) {
    sentences.push(
      `Means hide the extremes: under ${best.label} job ${times(best).maxJobId} has a ${metric} of ${longest(times(best).max)}, under ${fair.label} no job has more than ${longest(times(fair).max)}.`,
    );
  }
  return [...sentences, ...unlimitedRows(policies)];
}

/** The live scheduler's limit by default (docs/tutti.toml). */
const LIVE_ROWS = 4;

/** Live, a gang policy has a limit on rows even if its name states none. */
function unlimitedRows(policies: readonly ComparedPolicy[]): string[] {
  const many = policies.filter(
    ({ label, summary: { gang } }) => gang !== undefined && gang.maxRows > LIVE_ROWS && !/:rows=/.test(label),
  );
  if (many.length === 0) return [];
  const [{ label, summary }] = many;
  return [
    `${label} used up to ${summary.gang!.maxRows} rows, because it has no limit here; the live scheduler allows ${LIVE_ROWS}, as ${label}:rows=${LIVE_ROWS} does.`,
  ];
}

function timesAsLong(ratio: number): string {
  return ratio >= 1.5 && Number.isFinite(ratio) ? `, ${formatNumber(ratio)} times as long` : "";
}

/** The metrics that every policy of the comparison has. */
export function sharedMetrics(policies: readonly ComparedPolicy[]): readonly MetricSummary[] {
  return policies[0].summary.metrics.filter(({ name }) =>
    policies.every(({ summary }) => summary.metrics.some((metric) => metric.name === name)),
  );
}

function seconds(title: string, dropOrder: number, value: (summary: Summary) => number): ColumnSpec {
  return {
    title,
    better: "low",
    dropOrder,
    value,
    layout: (values) => {
      const { heading, format } = durationColumn(values);
      return { heading: heading(title), format };
    },
  };
}

/** @param format default: as many digits as the column needs */
function fact(
  title: string,
  dropOrder: number,
  format: ((value: number) => string) | undefined,
  value: (summary: Summary) => number | undefined,
): ColumnSpec {
  return {
    title,
    better: "neither",
    dropOrder,
    value: (summary) => value(summary) ?? Number.NaN,
    layout: (values) => ({ heading: title, format: format ?? columnFormatter(values) }),
  };
}
