/**
 * Draws the Gantt chart: a box per job and run of processors (consecutive ones), time to the right,
 * processors upwards. The colour shows how long the job had waited. Gangs share processors, so their boxes
 * overlap and are transparent, and the colour shows in which row they were placed. Each colour is a custom
 * series, so that the legend can switch it off.
 */

import type { GanttChart } from "../html/gantt.ts";
import type { PageData } from "../html/page-data.ts";
import { formatCount, formatDuration, timeUnit } from "../text/format.ts";
import { base, type ChartOption, legend, timeAxis, tooltip, valueAxis, zooms } from "./chart-parts.ts";
import { hint, momentLabel } from "./labels.ts";
import type { Theme } from "./theme.ts";

/** Names and upper bounds of the waits of each colour. */
const WAITS: readonly { readonly name: string; readonly maxS: number }[] = [
  { name: "no wait", maxS: 0 },
  { name: "waited up to 10 min", maxS: 600 },
  { name: "up to 2 h", maxS: 7200 },
  { name: "up to 1 d", maxS: 86400 },
  { name: "longer than 1 d", maxS: Number.POSITIVE_INFINITY },
];

/** Names and last rows, counted from 1, of each colour. */
const ROWS: readonly { readonly name: string; readonly last: number }[] = [
  { name: "row 1", last: 1 },
  { name: "row 2", last: 2 },
  { name: "rows 3 and 4", last: 4 },
  { name: "rows 5 to 8", last: 8 },
  { name: "beyond row 8", last: Number.POSITIVE_INFINITY },
];

/** The part of the interface of ECharts' `renderItem` that we use. */
export interface RenderApi {
  value(dimension: number): number;
  coord(point: [number, number]): [number, number];
  /** Size in pixels of a difference on each axis. */
  size(difference: [number, number]): [number, number];
  style(): Record<string, unknown>;
}

export interface RenderParameters {
  readonly coordSys: {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  };
}

export function ganttOption(data: PageData, theme: Theme, chart: GanttChart): ChartOption {
  const { firstS } = data.time;
  const fromS = data.gantt!.fromS - firstS;
  const toS = data.gantt!.toS - firstS;
  const unit = timeUnit(toS);
  const [inside, slider] = zooms(theme) as [ChartOption, ChartOption];
  const { shown } = data.gantt!;
  const share = (timeS: number) => (100 * (timeS - firstS - fromS)) / (toS - fromS);
  const zoomed = { start: share(shown.fromS), end: share(shown.toS) };
  const isGang = chart.boxRow !== null;
  const groups = isGang ? ROWS : WAITS;
  return {
    ...base(theme),
    animation: false,
    grid: { left: 8, right: 24, top: 60, bottom: 62, containLabel: true },
    legend: {
      ...legend(
        theme,
        groups.map(({ name }) => name),
      ),
      itemWidth: 14,
    },
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: ({ value }: { value: readonly number[] }) => jobHint(chart, value[4], value[5], firstS),
    },
    xAxis: timeAxis(theme, unit, fromS, toS),
    yAxis: {
      ...valueAxis(theme, formatCount),
      min: 0,
      max: data.processors,
      name: "processor",
      nameTextStyle: { color: theme.muted, align: "left" },
      splitLine: { show: false },
    },
    dataZoom: [
      { ...inside, ...zoomed },
      { ...slider, ...zoomed },
      {
        type: "inside",
        filterMode: "none",
        yAxisIndex: 0,
        zoomOnMouseWheel: "shift",
        moveOnMouseMove: "shift",
      },
    ],
    series: groups.map(({ name }, i) => ({
      type: "custom",
      name,
      renderItem: renderBox,
      itemStyle: {
        color: theme.waits[i],
        opacity: isGang ? 0.3 : 1,
        borderColor: theme.surface,
        borderWidth: 0.5,
      },
      dimensions: ["start", "end", "first", "size", "job", "box"],
      encode: { x: [0, 1], y: [2, 3] },
      data: boxesOf(chart, i, firstS, unit.seconds),
      clip: true,
    })),
  };
}

function boxesOf(chart: GanttChart, colour: number, firstS: number, unitS: number): number[][] {
  const boxes: number[][] = [];
  for (let box = 0; box < chart.boxJob.length; box++) {
    const job = chart.boxJob[box];
    if (colourOf(chart, box) !== colour) continue;
    const first = chart.boxFirst[box];
    const start = (chart.startS[job] - firstS) / unitS;
    const end = (chart.endS[job] - firstS) / unitS;
    boxes.push([start, end, first, first + chart.boxSize[box], job, box]);
  }
  return boxes;
}

function colourOf({ boxRow, boxJob, startS, submitS }: GanttChart, box: number): number {
  if (boxRow !== null) return ROWS.findIndex(({ last }) => boxRow[box] < last);
  const job = boxJob[box];
  return WAITS.findIndex(({ maxS }) => startS[job] - submitS[job] <= maxS);
}

function renderBox({ coordSys }: RenderParameters, api: RenderApi): ChartOption | null {
  const [left, bottom] = api.coord([api.value(0), api.value(2)]);
  const [right, top] = api.coord([api.value(1), api.value(3)]);
  const x = Math.max(left, coordSys.x);
  const y = Math.max(top, coordSys.y);
  const width = Math.min(right, coordSys.x + coordSys.width) - x;
  const height = Math.min(bottom, coordSys.y + coordSys.height) - y;
  if (width < 0 || height <= 0) return null;
  const style = api.style();
  const isSmall = width < 3 || height < 3;
  return {
    type: "rect",
    shape: { x, y, width: Math.max(width, 1), height },
    style: isSmall ? { ...style, lineWidth: 0 } : style,
  };
}

function jobHint(chart: GanttChart, job: number, box: number, firstS: number): string {
  const start = chart.startS[job];
  const row = chart.boxRow?.[box];
  return hint(`job ${chart.id[job]}`, [
    ["processors", formatCount(chart.size[job])],
    ...(row === undefined ? [] : [["placed in row", formatCount(row + 1)] as const]),
    ["submitted", momentLabel(chart.submitS[job] - firstS)],
    ["waited", formatDuration(start - chart.submitS[job])],
    ["started", momentLabel(start - firstS)],
    [row === undefined ? "ran" : "ended after", formatDuration(chart.endS[job] - start)],
  ]);
}
