/**
 * Writes the report's figures as HTML. Each chart gets a frame with its choices, a description, and the same
 * data as a table.
 */
import type { Comparison } from "../../results/comparison.ts";
import { escapeHtml } from "../text/escape.ts";
import {
  type DurationColumn,
  durationColumn,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  timeUnit,
} from "../text/format.ts";
import type { TimeSpan } from "./gantt.ts";
import { dataTable } from "./html-tables.ts";
import { type MetricBars, type PageData, STATISTIC_TITLES, STATISTICS, type Value } from "./page-data.ts";

/** Rows of the table of a chart over time or over waits. */
const TABLE_ROWS = 12;

interface Figure {
  /** Key of the chart in browser/report-page.ts. */
  readonly chart: string;
  readonly title: string;
  readonly note: string;
  /** HTML of the controls that choose what the chart shows; none by default. */
  readonly selects?: string;
  readonly table: string;
  /** Height of the chart in pixels. */
  readonly height?: number;
}

export function chartFigures(comparison: Comparison, data: PageData): string {
  const gantt = ganttFigure(data);
  return [
    `<div class="pair">${frame(barsFigure(data))}${frame(survivalFigure(data))}</div>`,
    frame(classesFigure(comparison, data)),
    frame(utilisationFigure(comparison, data)),
    frame(queueFigure(data)),
    data.rows.some((rows) => rows !== null) ? frame(rowsFigure(data)) : "",
    gantt === undefined ? "" : frame(gantt),
    data.matrices.some((matrix) => matrix !== null) ? frame(matrixFigure(data)) : "",
  ].join("\n");
}

function frame({ chart, title, note, selects = "", table, height = 340 }: Figure): string {
  return `<figure data-chart="${chart}">
<figcaption><h2>${title}</h2><span class="controls">${selects}</span></figcaption>
<p class="note">${note}</p>
<div class="canvas" style="height:${height}px" role="img" aria-label="${title}. ${note}"></div>
<noscript><p class="note">This chart needs JavaScript; the table below has its numbers.</p></noscript>
${table}
</figure>`;
}

function barsFigure(data: PageData): Figure {
  const times = timesOf(data, ({ values }) => Object.values(values).flat());
  const rows = data.metrics.flatMap((metric) =>
    data.policies.map((policy, i) => [
      `${titleOf(metric, times)}, ${policy}`,
      ...STATISTICS.map((statistic) => cellText(metric, metric.values[statistic][i], times)),
    ]),
  );
  const isOne = data.policies.length === 1;
  return {
    chart: "bars",
    title: isOne ? "From the mean to the longest" : "Policies side by side",
    note: "Hover over a bar for the whole distribution.",
    selects:
      metricSelect(data, data.survival.metric) +
      (isOne ? "" : select("statistic", "statistic", Object.entries(STATISTIC_TITLES), "mean")),
    table: dataTable(["", ...Object.values(STATISTIC_TITLES)], rows),
  };
}

function survivalFigure(data: PageData): Figure {
  const { metric, atS, share } = data.survival;
  const rows = everyNth(atS.length).map((k) => [
    `longer than ${formatDuration(atS[k])}`,
    ...share.map((values) => shown(values[k], formatPercent)),
  ]);
  return {
    chart: "survival",
    title: metric === "wait" ? "How long jobs wait" : "How long jobs take",
    note: `Share of the jobs whose ${metric} is longer than a given time; lower is better. The time axis is logarithmic and starts at one second.`,
    table: dataTable([metric, ...data.policies], rows),
  };
}

function classesFigure({ policies }: Comparison, data: PageData): Figure {
  const { classScheme, classes } = policies[0].summary;
  const times = timesOf(data, ({ byClass }) => byClass.flat());
  const rows = data.metrics.flatMap((metric) =>
    data.classes.map((label, c) => [
      `${titleOf(metric, times)}, ${label}`,
      ...metric.byClass.map((means) => cellText(metric, means[c], times)),
    ]),
  );
  const empty = classes.flatMap(({ label, jobs }) => (jobs === 0 ? [label] : [])).join("; ");
  return {
    chart: "classes",
    title: "Which jobs pay: means by class",
    note: `Classes: ${escapeHtml(classScheme)}. ${empty === "" ? "" : `Classes without jobs: ${escapeHtml(empty)}. `}The axis is logarithmic if the means differ by more than a factor of 50.`,
    selects: metricSelect(data, "bounded-slowdown"),
    table: dataTable(["mean of", ...data.policies], rows),
  };
}

function utilisationFigure({ policies }: Comparison, data: PageData): Figure {
  const gang = policies.some(({ summary }) => summary.gang !== undefined);
  return {
    chart: "utilisation",
    height: 62 + 84 * Math.max(2, data.policies.length),
    title: gang ? "Demand of the running jobs over time" : "Utilisation over time",
    note: `Processors of the running jobs, as a share of the machine.${gang ? " If rows take turns, it exceeds 100 % as soon as there is more than one full row." : ""} Scroll or drag to zoom; the charts over time zoom together.`,
    table: timeTable(data, data.utilisation, formatPercent),
  };
}

function queueFigure(data: PageData): Figure {
  return {
    chart: "queue",
    title: "Queue length over time",
    note: "Jobs that are submitted but not yet started. Click a name to hide its line; the axis adapts.",
    selects: select("value", "per interval", Object.entries({ mean: "mean", max: "longest" }), "mean"),
    table: timeTable(data, data.queueMean, formatNumber),
  };
}

function rowsFigure(data: PageData): Figure {
  return {
    chart: "rows",
    title: "Rows of the matrix over time",
    note: "Each row gets one slot per round, so a job in one row runs at 1/rows of its speed. The chart shows only policies with time sharing.",
    table: timeTable(data, data.rows, formatNumber),
  };
}

function ganttFigure(data: PageData): Figure | undefined {
  const { gantt } = data;
  if (gantt === null) return undefined;
  const drawn = data.policies.flatMap((policy, i) => {
    const chart = gantt.charts[i];
    return chart === null ? [] : [{ i: String(i), policy, chart }];
  });
  const unit = timeUnit(gantt.toS - data.time.firstS);
  const stretch = ({ fromS, toS }: TimeSpan) =>
    `from ${formatDuration(fromS - data.time.firstS, unit)} to ${formatDuration(toS - data.time.firstS, unit)} after the first submit`;
  const whole = gantt.fromS <= data.time.firstS && gantt.toS >= data.time.toS;
  const isZoomed = gantt.shown.fromS > gantt.fromS || gantt.shown.toS < gantt.toS;
  const about = whole ? "the whole run" : `the time around the longest queue, ${stretch(gantt)}`;
  const span = isZoomed
    ? `At first, the chart shows the time ${stretch(gantt.shown)}; zoom out for ${about}`
    : `${about[0].toUpperCase()}${about.slice(1)}`;
  const gangs = drawn.some(({ chart }) => chart.boxRow !== null)
    ? "; gangs that share processors overlap, and their colour shows in which row they were placed"
    : "";
  const isDealt = drawn.some(({ chart }) => chart.boxRow === null);
  const dealt = isDealt ? "Jobs get the free processors with the lowest numbers." : "";
  const policies = drawn.map(({ i, policy }) => [i, policy] as const);
  const longest = drawn.map(({ chart }) => {
    const waits = chart.id.map((_, job) => chart.startS[job] - chart.submitS[job]);
    const job = waits.reduce((a, _, job) => (waits[job] > (waits[a] ?? -1) ? job : a), 0);
    return { waitS: waits[job] ?? Number.NaN, id: chart.id[job] };
  });
  const waits = durationColumn(longest.map(({ waitS }) => waitS));
  const rows = drawn.map(({ policy, chart }, row) => {
    const { waitS, id } = longest[row];
    return [
      policy,
      formatCount(chart.id.length),
      id === undefined ? "–" : `${waits.format(waitS)} (job ${id})`,
    ];
  });
  return {
    chart: "gantt",
    title: "Which job ran where",
    note: `${span}. A box is a job on consecutive processors; the colour shows how long it had waited${gangs}. Scroll to zoom in time, with Shift in processors; hover over a box to see its job. ${dealt}`,
    selects: select("policy", "policy", policies, String(gantt.first)),
    table: dataTable(["policy", "jobs shown", waits.heading("longest wait among them")], rows),
    height: 540,
  };
}

function matrixFigure(data: PageData): Figure {
  const recorded = data.policies.flatMap((policy, i) => {
    const matrix = data.matrices[i];
    return matrix === null
      ? []
      : [{ i: String(i), policy, matrix, fullest: matrix.snapshots[matrix.busiest] }];
  });
  const times = durationColumn(recorded.map(({ fullest }) => fullest.atS - data.time.firstS));
  const rows = recorded.map(({ policy, matrix, fullest: { atS, rows, job } }) => [
    policy,
    times.format(atS - data.time.firstS),
    ...[rows, new Set(job).size, matrix.snapshots.length].map(formatCount),
  ]);
  const { snapshots, busiest } = recorded[0].matrix;
  const maxRows = Math.max(...recorded.map(({ fullest }) => fullest.rows));
  const share = snapshots.length < 2 ? 0 : busiest / (snapshots.length - 1);
  const policies = recorded.map(({ i, policy }) => [i, policy] as const);
  return {
    chart: "matrix",
    title: "The matrix",
    note: "Each line is a row of the matrix, and each box is a gang. Gangs in the same line run at the same time, and the lines take turns. At first, the chart shows the instant with the most rows; the slider moves through the run.",
    selects: `${select("policy", "policy", policies, policies[0][0])}<label>time <input type="range" name="time" min="0" max="1000" value="${Math.round(1000 * share)}"></label>`,
    table: dataTable(
      ["policy", times.heading("most rows after"), "rows", "gangs in these rows", "instants kept"],
      rows,
    ),
    height: Math.min(640, Math.max(220, 70 + 28 * maxRows)),
  };
}

function timeTable(
  data: PageData,
  values: readonly (readonly Value[] | null)[],
  format: (value: number) => string,
): string {
  const { fromS, toS, firstS } = data.time;
  const shownPolicies = data.policies.flatMap((_, i) => (values[i] === null ? [] : [i]));
  const buckets = values[shownPolicies[0]!]!.length;
  const unit = timeUnit(toS - fromS);
  const rows = Array.from({ length: TABLE_ROWS }, (_, row) => {
    const from = Math.floor((row * buckets) / TABLE_ROWS);
    const to = Math.floor(((row + 1) * buckets) / TABLE_ROWS);
    const at = (bucket: number) => formatDuration(fromS - firstS + ((toS - fromS) * bucket) / buckets, unit);
    return [
      `${at(from)} – ${at(to)}`,
      ...shownPolicies.map((i) => {
        const part = values[i]!.slice(from, to) as readonly number[];
        return format(part.reduce((sum, value) => sum + value, 0) / part.length);
      }),
    ];
  });
  return dataTable(["mean over", ...shownPolicies.map((i) => data.policies[i])], rows);
}

function metricSelect(data: PageData, chosen: string): string {
  const options = data.metrics.map(({ title }, i): [string, string] => [String(i), title]);
  const index = data.metrics.findIndex(({ name }) => name === chosen);
  return select("metric", "metric", options, String(Math.max(0, index)));
}

function select(
  name: string,
  label: string,
  options: readonly (readonly [string, string])[],
  chosen: string,
): string {
  const items = options.map(
    ([value, text]) =>
      `<option value="${escapeHtml(value)}"${value === chosen ? " selected" : ""}>${escapeHtml(text)}</option>`,
  );
  return `<label>${label} <select name="${name}">${items.join("")}</select></label>`;
}

/** All times of a table of several metrics: they have one unit. */
function timesOf(data: PageData, valuesOf: (metric: MetricBars) => readonly Value[]): DurationColumn {
  const times = data.metrics.filter(({ unit }) => unit === "s").flatMap(valuesOf);
  return durationColumn(times.map((value) => value ?? Number.NaN));
}

function titleOf({ title, unit }: MetricBars, times: DurationColumn): string {
  return unit === "s" ? times.heading(title) : title;
}

function cellText({ unit }: MetricBars, value: Value, times: DurationColumn): string {
  return shown(value, unit === "s" ? times.format : formatNumber);
}

function shown(value: Value, format: (value: number) => string): string {
  return format(value ?? Number.NaN);
}

function everyNth(length: number): number[] {
  return Array.from({ length: TABLE_ROWS }, (_, i) => Math.round((i * (length - 1)) / (TABLE_ROWS - 1)));
}
