/** Builds what the charts have in common: axes, zooming, tooltips, legends, colours. */

import type { Value } from "../html/page-data.ts";
import { DASHES } from "../svg/palette.ts";
import { formatDuration, formatNumber, formatPercent, type TimeUnit } from "../text/format.ts";
import { momentLabel } from "./labels.ts";
import type { Theme } from "./theme.ts";

/** An ECharts option. The type of ECharts is a union over all kinds of charts, which does not help here. */
export type ChartOption = Record<string, unknown>;

export function valueAxis(theme: Theme, show: (value: number) => string): ChartOption {
  return {
    type: "value",
    axisLabel: { color: theme.muted, formatter: show, hideOverlap: true },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: theme.line } },
    nameTextStyle: { color: theme.muted },
  };
}

/** An axis of the time since the first submit, in the given unit. The bounds are in seconds. */
export function timeAxis(theme: Theme, unit: TimeUnit, fromS: number, toS: number): ChartOption {
  const show = (value: number) => `${formatNumber(Number(value.toPrecision(5)))} ${unit.name}`;
  return {
    ...valueAxis(theme, show),
    min: fromS / unit.seconds,
    max: toS / unit.seconds,
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: theme.line } },
    axisLabel: {
      color: theme.muted,
      hideOverlap: true,
      showMaxLabel: false,
      showMinLabel: fromS === 0,
      formatter: show,
    },
  };
}

/** Zooming by wheel and drag within the chart, and by a slider below it. */
export function zooms(theme: Theme, axes: ChartOption = { xAxisIndex: 0 }): ChartOption[] {
  return [
    { type: "inside", filterMode: "none", ...axes },
    {
      type: "slider",
      filterMode: "none",
      height: 18,
      bottom: 10,
      borderColor: theme.line,
      fillerColor: `${theme.series[0]}26`,
      handleStyle: { color: theme.surface, borderColor: theme.muted },
      moveHandleStyle: { color: theme.muted },
      dataBackground: { lineStyle: { color: theme.line }, areaStyle: { color: theme.line } },
      showDetail: false,
      brushSelect: false,
      ...axes,
    },
  ];
}

export function base(theme: Theme): ChartOption {
  return {
    animationDuration: 250,
    backgroundColor: "transparent",
    textStyle: { fontFamily: theme.font, color: theme.text },
  };
}

export function tooltip(theme: Theme): ChartOption {
  return {
    confine: true,
    backgroundColor: theme.surface,
    borderColor: theme.line,
    textStyle: { color: theme.text, fontSize: 13 },
  };
}

export function legend(theme: Theme, names: readonly string[]): ChartOption {
  return {
    type: "scroll",
    top: 0,
    left: 0,
    data: names,
    itemWidth: 26,
    textStyle: { color: theme.text },
    pageTextStyle: { color: theme.muted },
    inactiveColor: theme.muted,
  };
}

export function categoryAxis(theme: Theme, names: readonly string[]): ChartOption {
  return {
    type: "category",
    data: names,
    axisLabel: { color: theme.text, width: 150, overflow: "truncate" },
    axisLine: { lineStyle: { color: theme.line } },
    axisTick: { show: false },
  };
}

export function lineSeries(theme: Theme, name: string, i: number): ChartOption {
  return {
    type: "line",
    name,
    symbol: "none",
    lineStyle: { width: 2, type: DASHES[i % DASHES.length] },
    itemStyle: { color: colour(theme, i) },
    emphasis: { focus: "series" },
  };
}

export function spanLabel(sinceFirstS: number, lengthS: number): string {
  return `${momentLabel(sinceFirstS)} and the ${formatDuration(lengthS)} that follow`;
}

export function colour(theme: Theme, i: number): string {
  return theme.series[i % theme.series.length];
}

export function percent(value: Value): string {
  return value === null ? "–" : formatPercent(value);
}
