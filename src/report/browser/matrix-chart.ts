/**
 * Draws an Ousterhout matrix at one instant: a line per row of the round, processors to the right, and a box
 * per gang, with the job's number if there is room. Rows take turns, so gangs in one line run at the same
 * time.
 */

import type { MatrixSnapshot } from "../../results/matrix-record.ts";
import type { PageData } from "../html/page-data.ts";
import { formatCount, formatNumber } from "../text/format.ts";
import { base, type ChartOption, categoryAxis, tooltip, valueAxis } from "./chart-parts.ts";
import type { RenderApi, RenderParameters } from "./gantt-chart.ts";
import { hint, momentLabel } from "./labels.ts";
import type { Theme } from "./theme.ts";

/** Share of a line's height that its boxes take. */
const FULL = 0.82;
/** Width of a digit of a job's number in pixels. */
const DIGIT_PX = 7;

/** @param share selects the snapshot: 0 the first, 1 the last */
export function matrixOption(
  data: PageData,
  theme: Theme,
  policy: number,
  share: number,
): ChartOption | undefined {
  const snapshots = data.matrices[policy]?.snapshots ?? [];
  const snapshot = snapshots[Math.round(share * (snapshots.length - 1))];
  if (snapshot === undefined) return undefined;
  const busy = snapshot.end.reduce((sum, end, i) => sum + end - snapshot.first[i], 0);
  const slots = snapshot.rows * data.processors;
  const filled = slots === 0 ? "" : `, ${formatNumber((100 * busy) / slots)} % full`;
  return {
    ...base(theme),
    animation: false,
    title: {
      text: `${capital(momentLabel(snapshot.atS - data.time.firstS))}: ${formatCount(snapshot.rows)} ${snapshot.rows === 1 ? "row" : "rows"}${filled}`,
      left: 0,
      top: 0,
      textStyle: { color: theme.text, fontSize: 13, fontWeight: 600 },
    },
    grid: { left: 8, right: 24, top: 34, bottom: 30, containLabel: true },
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: ({ value }: { value: readonly number[] }) => gangHint(value),
    },
    xAxis: {
      ...valueAxis(theme, formatCount),
      min: 0,
      max: data.processors,
      name: "processor",
      nameLocation: "middle",
      nameGap: 26,
      splitLine: { show: false },
    },
    yAxis: {
      ...categoryAxis(
        theme,
        Array.from({ length: snapshot.rows }, (_, row) => String(row + 1)),
      ),
      inverse: true,
    },
    series: [
      {
        type: "custom",
        renderItem: (parameters: RenderParameters, api: RenderApi) => renderGang(theme, parameters, api),
        dimensions: ["first", "row", "end", "job"],
        encode: { x: [0, 2], y: 1 },
        data: boxesOf(snapshot),
        clip: true,
      },
    ],
  };
}

function boxesOf({ job, first, end, row }: MatrixSnapshot): number[][] {
  return job.map((id, i) => [first[i], row[i], end[i], id]);
}

/** A gang has the same colour in all of its rows and at all instants. */
function renderGang(theme: Theme, _: RenderParameters, api: RenderApi): ChartOption {
  const [x, middle] = api.coord([api.value(0), api.value(1)]);
  const [right] = api.coord([api.value(2), api.value(1)]);
  const lineHeight = api.size([0, 1])[1];
  const height = Math.max(1, lineHeight * FULL);
  const id = api.value(3);
  const colour = theme.series[id % theme.series.length];
  const hasRoom = right - x > DIGIT_PX * (String(id).length + 1) && height >= 12;
  return {
    type: "rect",
    shape: { x, y: middle - height / 2, width: Math.max(1, right - x), height },
    style: { fill: colour, fillOpacity: 0.4, stroke: height < 4 ? "none" : colour, lineWidth: 1 },
    ...(hasRoom && {
      textContent: { style: { text: String(id), fill: theme.text, fontSize: Math.min(12, height - 2) } },
      textConfig: { position: "inside" },
    }),
  };
}

function gangHint([first, row, end, id]: readonly number[]): string {
  return hint(`job ${id}`, [
    ["row", formatCount(row! + 1)],
    ["processors", `${formatCount(end! - first!)}, from ${formatCount(first!)}`],
  ]);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
