/**
 * Computes the data of a report's charts as plain JSON. html.ts writes the JSON into the page, and
 * browser/report-page.ts reads it there. Series have only the points that a screen can show, and numbers only
 * the digits that a chart can show.
 */
import { exp, ln } from "../../core/elementary.ts";
import type { Instance } from "../../core/jobs.ts";
import type { Schedule } from "../../core/schedule.ts";
import type { Distribution } from "../../metrics/distribution.ts";
import type { BucketSeries, StepFunction } from "../../metrics/over-time.ts";
import { processorsInUse, queueLength, resample, rowsOverTime } from "../../metrics/over-time.ts";
import { type MetricSummary, metricOf } from "../../metrics/summary.ts";
import { lastEndS } from "../../metrics/window.ts";
import type { ComparedPolicy, Comparison } from "../../results/comparison.ts";
import type { MatrixRecord, MatrixSnapshot } from "../../results/matrix-record.ts";
import { comparedMetric, ranking, sharedMetrics } from "../ranking.ts";
import { withoutControls } from "../text/escape.ts";
import { durationColumn, formatCount, formatDuration, formatNumber, type TimeUnit } from "../text/format.ts";
import { type GanttChart, gangChart, ganttChart, ganttSpan, type TimeSpan } from "./gantt.ts";

/** Statistics of a distribution that the bars can show. */
export const STATISTIC_TITLES = {
  mean: "mean",
  median: "median",
  p90: "90th percentile",
  p95: "95th percentile",
  p99: "99th percentile",
  max: "longest",
};
export type Statistic = keyof typeof STATISTIC_TITLES;
export const STATISTICS = Object.keys(STATISTIC_TITLES) as readonly Statistic[];

/** Maximum number of points per line over time and per curve, and of jobs per Gantt chart. */
const BUCKETS = 500;
const CURVE_POINTS = 120;
const GANTT_JOBS = 1500;
/** With more jobs than this, a Gantt chart at first shows only the middle of its span. */
const GANTT_JOBS_SHOWN = 500;
/**
 * With more jobs than this, there is no Gantt chart: assigning processors to all of them is not worth a chart
 * of a thousandth.
 */
const GANTT_MAX_RUN_JOBS = 2_000_000;

/** A number, or null if there is none. */
export type Value = number | null;

export interface PageData {
  readonly policies: readonly string[];
  readonly processors: number;
  readonly metrics: readonly MetricBars[];
  /** Labels of the classes that have jobs. */
  readonly classes: readonly string[];
  /** Share of the jobs (0 … 1) whose wait, or response, is longer than each of `atS`. */
  readonly survival: {
    readonly metric: "wait" | "response";
    readonly atS: readonly number[];
    readonly share: readonly (readonly Value[])[];
  };
  readonly time: TimeSpan & { readonly firstS: number };
  /** Per policy, the mean per bucket of equal length. Utilisation is a share of the machine. */
  readonly utilisation: readonly (readonly Value[])[];
  readonly queueMean: readonly (readonly Value[])[];
  readonly queueMax: readonly (readonly Value[])[];
  /** Rows of the matrix; null for space sharing. */
  readonly rows: readonly (readonly Value[] | null)[];
  readonly gantt:
    | (TimeSpan & {
        readonly charts: readonly (GanttChart | null)[];
        readonly first: number;
        /** The part that the chart shows before the reader zooms. */
        readonly shown: TimeSpan;
      })
    | null;
  /** Per policy, null if nothing was recorded. Jobs have their numbers in the source. */
  readonly matrices: readonly (Pick<MatrixRecord, "snapshots" | "busiest"> | null)[];
}

/** The unit in which a chart shows these values of a metric; undefined for numbers without a unit. */
export function chartUnit({ unit }: MetricBars, values: readonly Value[]): TimeUnit | undefined {
  return unit === "s" ? durationColumn(values.map((value) => value ?? Number.NaN)).unit : undefined;
}

/** A value of a chart with its unit. */
export function chartText(value: Value, unit: TimeUnit | undefined): string {
  const number = value ?? Number.NaN;
  return unit === undefined ? formatNumber(number) : formatDuration(number, unit);
}

export interface MetricBars extends Pick<MetricSummary, "name" | "title" | "unit"> {
  /** Per statistic and policy. */
  readonly values: Readonly<Record<Statistic, readonly Value[]>>;
  /** Means per policy and class. */
  readonly byClass: readonly (readonly Value[])[];
}

/** Reduces a comparison to the data of its charts. */
export function pageData(comparison: Comparison): PageData {
  const { instance, policies } = comparison;
  const schedules = policies.map(({ schedule }) => schedule);
  const span = wholeSpan(instance, schedules);
  const series = (steps: StepFunction) => resample(steps, span.fromS, span.toS, BUCKETS);
  const queues = schedules.map((schedule) => series(queueLength(instance, schedule)));
  const busy = schedules.map((schedule) => series(processorsInUse(instance, schedule)));
  return {
    policies: policies.map(({ label }) => withoutControls(label)),
    processors: instance.processors,
    metrics: sharedMetrics(policies).map(({ name }) => metricBars(name, policies)),
    classes: policies[0].summary.classes
      .filter(({ jobs }) => jobs > 0)
      .map(({ label, jobs }) => `${label}: ${formatCount(jobs)} jobs`),
    survival: survivalCurves(instance, policies),
    time: { ...span, firstS: instance.count === 0 ? 0 : instance.submitS[0] },
    utilisation: busy.map(({ mean }) => Array.from(mean, (value) => digits(value / instance.processors))),
    queueMean: queues.map(({ mean }) => Array.from(mean, digits)),
    queueMax: queues.map(({ max }) => Array.from(max, digits)),
    rows: schedules.map((schedule) => rowSeries(schedule, series)),
    gantt: gantt(comparison),
    matrices: matrices(comparison),
  };
}

function metricBars(name: string, policies: readonly ComparedPolicy[]): MetricBars {
  const metrics = policies.map(({ summary }) => metricOf(summary, name));
  const { title, unit } = metrics[0];
  const values = STATISTICS.map((statistic) => [statistic, metrics.map(({ all }) => orNull(all[statistic]))]);
  return {
    name,
    title,
    unit,
    values: Object.fromEntries(values) as MetricBars["values"],
    byClass: policies.map(({ summary: { classes } }, i) =>
      metrics[i].byClass.flatMap(({ mean }: Distribution, c) => (classes[c].jobs > 0 ? [orNull(mean)] : [])),
    ),
  };
}

/** Survival functions on a logarithmic axis from one second to the longest time. */
function survivalCurves(instance: Instance, policies: readonly ComparedPolicy[]): PageData["survival"] {
  const metric = comparedMetric(policies);
  const longestS = Math.max(60, ...policies.map(({ summary }) => metricOf(summary, metric).all.max || 0));
  const step = ln(longestS) / (CURVE_POINTS - 1);
  const atS = Array.from({ length: CURVE_POINTS }, (_, i) =>
    i === CURVE_POINTS - 1 ? longestS : Number(exp(i * step).toPrecision(5)),
  );
  return {
    metric,
    atS,
    share: policies.map((policy) => shareAbove(sortedTimes(instance, policy, metric), atS)),
  };
}

function sortedTimes(
  instance: Instance,
  { summary, schedule }: ComparedPolicy,
  metric: "wait" | "response",
): Float64Array {
  const untilS = metric === "wait" ? schedule.startS : schedule.endS;
  const { firstJob, endJob } = summary.window;
  const times = new Float64Array(endJob - firstJob);
  let count = 0;
  for (let job = firstJob; job < endJob; job++) {
    const timeS = untilS[job] - instance.submitS[job];
    if (!Number.isNaN(timeS)) times[count++] = timeS;
  }
  return times.subarray(0, count).sort();
}

/** For each of the ascending limits, the share of the sorted values above it. */
function shareAbove(sorted: Float64Array, limits: readonly number[]): Value[] {
  let below = 0;
  return limits.map((limit) => {
    while (below < sorted.length && sorted[below] <= limit) below++;
    return sorted.length === 0 ? null : digits((sorted.length - below) / sorted.length);
  });
}

function rowSeries(schedule: Schedule, series: (steps: StepFunction) => BucketSeries): Value[] | null {
  const rows = rowsOverTime(schedule);
  return rows === undefined ? null : Array.from(series(rows).mean, digits);
}

/**
 * From the first submit to the last end under any policy. It is at least a second, so that it can be divided
 * into buckets.
 */
function wholeSpan(instance: Instance, schedules: readonly Schedule[]): TimeSpan {
  const fromS = instance.count === 0 ? 0 : instance.submitS[0];
  return { fromS, toS: Math.max(fromS + 1, ...schedules.map((schedule) => lastEndS(instance, schedule))) };
}

/**
 * For numbers that are printed. They keep all digits: rounded twice, they would differ from those of the
 * tables.
 */
function orNull(value: number): Value {
  return Number.isNaN(value) ? null : value;
}

/** Five significant digits, for numbers that are only drawn; null for NaN. */
function digits(value: number): Value {
  return Number.isNaN(value) ? null : Number(value.toPrecision(5));
}

/**
 * Boxes of every policy whose placements are known: those of gangs are recorded, those of space sharing are
 * assigned here.
 */
function gantt({ instance, policies }: Comparison): PageData["gantt"] {
  const order = ranking(policies).filter((row) => {
    const { schedule, matrix } = policies[row];
    return schedule.gang === undefined || matrix !== undefined;
  });
  if (order.length === 0 || instance.count === 0 || instance.count > GANTT_MAX_RUN_JOBS) return null;
  const schedules = order.map((row) => policies[row].schedule);
  const span = ganttSpan(instance, schedules, GANTT_JOBS);
  const charts = policies.map(({ schedule, matrix }) => {
    if (matrix !== undefined) return gangChart(instance, schedule, matrix, span);
    return schedule.gang === undefined ? ganttChart(instance, schedule, span) : null;
  });
  const isCrowded = charts.some((chart) => chart !== null && chart.id.length > GANTT_JOBS_SHOWN);
  const lengthS = span.toS - span.fromS;
  return {
    ...span,
    shown: isCrowded
      ? { fromS: span.fromS + 0.3 * lengthS, toS: span.fromS + 0.7 * lengthS }
      : { fromS: span.fromS, toS: span.toS },
    first: order.find((row) => policies[row].schedule.gang === undefined) ?? order[0],
    charts,
  };
}

function matrices({ instance, policies }: Comparison): PageData["matrices"] {
  const ids = (snapshot: MatrixSnapshot) => snapshot.job.map((job) => instance.id[job]);
  return policies.map(({ matrix }) =>
    matrix === undefined || matrix.snapshots.length === 0
      ? null
      : {
          busiest: matrix.busiest,
          snapshots: matrix.snapshots.map((snapshot) => ({ ...snapshot, job: ids(snapshot) })),
        },
  );
}
