/** Turns page data and a theme into ECharts options, with one function per chart. */

import type { MetricBars, PageData, Statistic, Value } from "../html/page-data.ts";
import { chartText, chartUnit, STATISTIC_TITLES, STATISTICS } from "../html/page-data.ts";
import { formatDuration, formatNumber, largestTimeUnit, timeUnit } from "../text/format.ts";
import {
  base,
  type ChartOption,
  categoryAxis,
  colour,
  legend,
  lineSeries,
  percent,
  spanLabel,
  timeAxis,
  tooltip,
  valueAxis,
  zooms,
} from "./chart-parts.ts";
import { hint } from "./labels.ts";
import type { Theme } from "./theme.ts";

/** One statistic of one metric, with a bar per policy. If there is only one policy, a bar per statistic. */
export function barsOption(
  data: PageData,
  theme: Theme,
  metric: MetricBars,
  statistic: Statistic,
): ChartOption {
  const isOne = data.policies.length === 1;
  const names = isOne ? STATISTICS.map((name) => STATISTIC_TITLES[name]) : data.policies;
  const values = isOne ? STATISTICS.map((name) => metric.values[name][0]) : metric.values[statistic];
  const unit = chartUnit(metric, values);
  return {
    ...base(theme),
    grid: { left: 8, right: 84, top: 8, bottom: 28, containLabel: true },
    tooltip: {
      ...tooltip(theme),
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const policy = isOne ? 0 : dataIndex;
        return hint(
          `${metric.title}, ${data.policies[policy]}`,
          STATISTICS.map((name) => [STATISTIC_TITLES[name], chartText(metric.values[name][policy], unit)]),
        );
      },
    },
    xAxis: {
      ...valueAxis(theme, (value) => `${formatNumber(value)}${unit === undefined ? "" : ` ${unit.name}`}`),
      splitNumber: 3,
    },
    yAxis: { ...categoryAxis(theme, names), inverse: true },
    series: [
      {
        type: "bar",
        barMaxWidth: 26,
        data: values.map((value, i) => ({
          value: value === null ? null : value / (unit?.seconds ?? 1),
          itemStyle: { color: colour(theme, isOne ? 0 : i), borderRadius: [0, 3, 3, 0] },
        })),
        label: {
          show: true,
          position: "right",
          color: theme.text,
          formatter: ({ dataIndex }: { dataIndex: number }) => chartText(values[dataIndex], unit),
        },
      },
    ],
  };
}

/** Share of the jobs whose wait or response is longer than a given time. */
export function survivalOption(data: PageData, theme: Theme): ChartOption {
  const { metric, atS, share } = data.survival;
  return {
    ...base(theme),
    grid: { left: 8, right: 24, top: 40, bottom: 36, containLabel: true },
    legend: legend(theme, data.policies),
    tooltip: {
      ...tooltip(theme),
      trigger: "axis",
      formatter: (points: readonly { dataIndex: number; seriesName: string; marker: string }[]) =>
        hint(
          `${metric} above ${formatDuration(atS[points[0].dataIndex])}`,
          points.map(({ seriesName, marker, dataIndex }) => [
            seriesName,
            percent(share[data.policies.indexOf(seriesName)][dataIndex]),
            marker,
          ]),
        ),
    },
    xAxis: {
      ...valueAxis(theme, formatDuration),
      type: "log",
      logBase: 10,
      min: 1,
      max: atS.at(-1),
      name: metric,
      nameLocation: "middle",
      nameGap: 26,
      axisLabel: {
        color: theme.muted,
        formatter: (value: number) => formatDuration(value, largestTimeUnit(value)),
        customValues: roundTimes(atS.at(-1)!),
        hideOverlap: true,
      },
      axisTick: { show: true, customValues: roundTimes(atS.at(-1)!), lineStyle: { color: theme.line } },
      splitLine: { show: false },
    },
    yAxis: { ...valueAxis(theme, (value) => `${Math.round(100 * value)} %`), min: 0, max: maxShare(share) },
    series: share.map((values, i) => ({
      ...lineSeries(theme, data.policies[i], i),
      data: values.map((value, k) => [atS[k], value]),
    })),
  };
}

/**
 * Means of one metric by class, one bar per policy.
 * @param width of the chart in pixels; long names of classes are broken into lines
 */
export function classesOption(data: PageData, theme: Theme, metric: MetricBars, width: number): ChartOption {
  const room = Math.max(40, Math.min(150, (width - 90) / data.classes.length));
  const values = metric.byClass.flat().filter((value) => value !== null && value > 0) as number[];
  const isWide = values.length > 0 && Math.max(...values) > 50 * Math.min(...values);
  const unit = chartUnit(metric, values);
  const unitS = unit?.seconds ?? 1;
  return {
    ...base(theme),
    grid: { left: 8, right: 16, top: 60, bottom: 8, containLabel: true },
    legend: legend(theme, data.policies),
    tooltip: {
      ...tooltip(theme),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (
        points: readonly { seriesName: string; marker: string; value: Value; axisValue: string }[],
      ) =>
        hint(
          points[0].axisValue,
          points.map(({ seriesName, marker, value }) => [
            seriesName,
            chartText(value === null || value === undefined ? null : value * unitS, unit),
            marker,
          ]),
        ),
    },
    xAxis: {
      ...categoryAxis(theme, data.classes),
      axisLabel: {
        color: theme.text,
        interval: 0,
        overflow: "break",
        width: room,
        lineHeight: 15,
        fontSize: room < 110 ? 10 : 12,
      },
    },
    yAxis: {
      ...valueAxis(theme, (value) => chartText(value * unitS, unit)),
      ...(isWide ? { type: "log", logBase: 10 } : {}),
      name: isWide ? "logarithmic" : undefined,
      nameTextStyle: { color: theme.muted, align: "left" },
    },
    series: data.policies.map((name, i) => ({
      type: "bar",
      name,
      barMaxWidth: 34,
      barGap: "8%",
      itemStyle: { color: colour(theme, i), borderRadius: [3, 3, 0, 0] },
      data: metric.byClass[i].map((value) =>
        value === null || (isWide && value === 0) ? null : value / unitS,
      ),
    })),
  };
}

/** Lines over the time of the run, one per policy that has values. */
export function overTimeOption(
  data: PageData,
  theme: Theme,
  values: readonly (readonly Value[] | null)[],
  unit: "jobs" | "rows",
): ChartOption {
  const { fromS, toS, firstS } = data.time;
  const axis = timeUnit(toS - fromS);
  const buckets = values.find((series) => series !== null)?.length ?? 1;
  const lengthS = (toS - fromS) / buckets;
  const shown = data.policies.flatMap((name, i) => (values[i] === null ? [] : [{ name, i }]));
  return {
    ...base(theme),
    grid: { left: 8, right: 24, top: 40, bottom: 62, containLabel: true },
    legend: legend(
      theme,
      shown.map(({ name }) => name),
    ),
    tooltip: {
      ...tooltip(theme),
      trigger: "axis",
      formatter: (points: readonly { seriesName: string; marker: string; value: [number, Value] }[]) =>
        hint(
          spanLabel(points[0].value[0] * axis.seconds, lengthS),
          points.map(({ seriesName, marker, value }) => [
            seriesName,
            value[1] === null ? "–" : `${formatNumber(value[1])} ${unit}`,
            marker,
          ]),
        ),
    },
    xAxis: timeAxis(theme, axis, fromS - firstS, toS - firstS),
    yAxis: valueAxis(theme, formatNumber),
    dataZoom: zooms(theme),
    series: shown.map(({ name, i }) => ({
      ...lineSeries(theme, name, i),
      step: "end",
      data: values[i]!.map((value, k) => [(fromS - firstS + k * lengthS) / axis.seconds, value]),
    })),
  };
}

/** Shares of the machine over time, in a separate strip for each policy. All strips zoom together. */
export function stripsOption(data: PageData, theme: Theme, height: number): ChartOption {
  const { fromS, toS, firstS } = data.time;
  const axis = timeUnit(toS - fromS);
  const count = data.policies.length;
  const strip = (height - 62) / count;
  const all = data.policies.map((_, i) => i);
  const lengthS = (toS - fromS) / data.utilisation[0].length;
  // Each strip has its own scale: on that of a gang policy, 100 % would be a line at the bottom.
  const tops = data.utilisation.map((values) => Math.ceil(Math.max(1, ...values.map((value) => value ?? 0))));
  const shareText = (share: number) => `${formatNumber(Math.round(100 * share))} %`;
  // All strips have the room that the longest label needs: otherwise, their times would not be in line.
  const left = 13 + 7 * Math.max(...tops.map((top) => shareText(top).length));
  return {
    ...base(theme),
    title: data.policies.map((text, i) => ({
      text,
      left: 0,
      top: i * strip + 6,
      padding: 0,
      textStyle: { color: theme.text, fontSize: 12, fontWeight: 600 },
    })),
    grid: all.map((i) => ({ left, right: 24, top: i * strip + 30, height: strip - 42 })),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: {
      ...tooltip(theme),
      trigger: "axis",
      formatter: (points: readonly { dataIndex: number }[]) => {
        const bucket = points[0].dataIndex;
        return hint(
          spanLabel(fromS - firstS + bucket * lengthS, lengthS),
          data.policies.map((name, i) => [name, percent(data.utilisation[i][bucket])]),
        );
      },
    },
    xAxis: all.map((i) => ({
      ...timeAxis(theme, axis, fromS - firstS, toS - firstS),
      gridIndex: i,
      ...(i < count - 1 ? { axisLabel: { show: false } } : {}),
    })),
    yAxis: all.map((i) => ({
      ...valueAxis(theme, shareText),
      gridIndex: i,
      min: 0,
      max: tops[i],
      interval: tops[i] / 2,
    })),
    dataZoom: zooms(theme, { xAxisIndex: all }),
    series: all.map((i) => ({
      ...lineSeries(theme, data.policies[i], i),
      xAxisIndex: i,
      yAxisIndex: i,
      step: "end",
      lineStyle: { width: 1 },
      areaStyle: { opacity: 0.35 },
      data: data.utilisation[i].map((value, k) => [(fromS - firstS + k * lengthS) / axis.seconds, value]),
    })),
  };
}

/** Ticks at 1 s, 10 s, 1 min, 10 min, 1 h, 10 h, 1 d, 10 d, …, up to the largest time. */
function roundTimes(largestS: number): number[] {
  const times = [1, 10, 60, 600, 3600, 36000, 86400];
  while (times.at(-1)! < largestS) times.push(10 * times.at(-1)!);
  return times.filter((timeS) => timeS <= largestS);
}

/** Top of the axis: the largest share of jobs that take longer than a second, rounded up to tenths. */
function maxShare(share: readonly (readonly Value[])[]): number {
  const largest = Math.max(0, ...share.map(([first]) => first ?? 0));
  return Math.min(1, Math.max(0.1, Math.ceil(10 * largest) / 10));
}
