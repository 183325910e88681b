/**
 * The Gantt chart: a box per job and run of processors, time to the right, processors upwards; the colour says how long the
 * job had waited. One custom series per colour, so that the legend switches them.
 */
import { formatCount, formatDuration, timeUnit } from "../format.ts";
import type { GanttChart } from "../gantt.ts";
import type { PageData } from "../page-data.ts";
import type { ChartOption } from "./charts.ts";
import { base, legend, timeAxis, tooltip, valueAxis, zooms } from "./charts.ts";
import { hint, momentLabel } from "./labels.ts";
import type { Theme } from "./theme.ts";

/** Upper bounds of the waits of each colour. */
const WAITS: readonly { readonly name: string; readonly maxS: number }[] = [
  { name: "no wait", maxS: 0 },
  { name: "waited up to 10 min", maxS: 600 },
  { name: "up to 2 h", maxS: 7200 },
  { name: "up to 1 d", maxS: 86400 },
  { name: "longer than 1 d", maxS: Number.POSITIVE_INFINITY },
];

/** Per cent of the span shown at first when it holds many jobs. */
const MIDDLE = { start: 30, end: 70 };

/** What `renderItem` is handed; the part of ECharts' interface that is used. */
interface RenderApi {
  value(dimension: number): number;
  coord(point: [number, number]): [number, number];
  style(): Record<string, unknown>;
}

interface RenderParameters {
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
  const isLong = chart.id.length > 500;
  return {
    ...base(theme),
    animation: false,
    grid: { left: 8, right: 24, top: 60, bottom: 62, containLabel: true },
    legend: {
      ...legend(
        theme,
        WAITS.map(({ name }) => name),
      ),
      itemWidth: 14,
    },
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: ({ value }: { value: readonly number[] }) => jobHint(chart, value[4]!, firstS),
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
      { ...inside, ...(isLong ? MIDDLE : {}) },
      { ...slider, ...(isLong ? MIDDLE : {}) },
      {
        type: "inside",
        filterMode: "none",
        yAxisIndex: 0,
        zoomOnMouseWheel: "shift",
        moveOnMouseMove: "shift",
      },
    ],
    series: WAITS.map(({ name }, i) => ({
      type: "custom",
      name,
      renderItem: renderBox,
      itemStyle: { color: theme.waits[i], borderColor: theme.surface, borderWidth: 0.5 },
      dimensions: ["start", "end", "first", "size", "job"],
      encode: { x: [0, 1], y: [2, 3] },
      data: boxesOf(chart, i, firstS, unit.seconds),
      clip: true,
    })),
  };
}

function boxesOf(chart: GanttChart, colour: number, firstS: number, unitS: number): number[][] {
  const boxes: number[][] = [];
  for (let box = 0; box < chart.boxJob.length; box++) {
    const job = chart.boxJob[box]!;
    const waitS = chart.startS[job]! - chart.submitS[job]!;
    if (WAITS.findIndex(({ maxS }) => waitS <= maxS) !== colour) continue;
    const first = chart.boxFirst[box]!;
    const start = (chart.startS[job]! - firstS) / unitS;
    const end = (chart.endS[job]! - firstS) / unitS;
    boxes.push([start, end, first, first + chart.boxSize[box]!, job]);
  }
  return boxes;
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

function jobHint(chart: GanttChart, job: number, firstS: number): string {
  const start = chart.startS[job]!;
  return hint(`job ${chart.id[job]}`, [
    ["processors", formatCount(chart.size[job]!)],
    ["submitted", momentLabel(chart.submitS[job]! - firstS)],
    ["waited", formatDuration(start - chart.submitS[job]!)],
    ["started", momentLabel(start - firstS)],
    ["ran", formatDuration(chart.endS[job]! - start)],
  ]);
}
