/**
 * Static line figures as SVG, such as those of a paper: our values solid, the published ones dashed in the same colour. Drawn by
 * ECharts without a browser. Loads ECharts, so it is imported only where a figure is wanted: `await import("../report/svg.ts")`.
 */
import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { escapeHtml, withoutControls } from "./escape.ts";
import { formatNumber } from "./format.ts";
import { LIGHT } from "./palette.ts";

echarts.use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

export interface LineFigure {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** In the order of the legend; points in ascending x. */
  readonly lines: readonly FigureLine[];
  /** Default linear. */
  readonly yScale?: "linear" | "log";
}

export interface FigureLine {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Published values, drawn dashed with open marks; undefined where none are known. */
  readonly published?: readonly (readonly [x: number, y: number])[] | undefined;
}

const WIDTH = 720;
const HEIGHT = 460;
const SYMBOLS = ["circle", "rect", "triangle", "diamond"];
const GREY = "#566373";

/** The figure as an SVG document on white ground; the same bytes for the same figure. */
export function lineFigureSvg(figure: LineFigure): string {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: HEIGHT });
  chart.setOption(figureOption(figure));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${withStableIds(svg).replace("<svg ", `<svg role="img" aria-label="${escapeHtml(figure.title)}" `)}\n`;
}

function figureOption({
  title,
  xTitle,
  yTitle,
  lines,
  yScale = "linear",
}: LineFigure): echarts.EChartsCoreOption {
  const series = lines.flatMap((line, i) => {
    const look = { symbol: SYMBOLS[i % SYMBOLS.length], color: LIGHT.series[i % LIGHT.series.length]! };
    const ours = lineSeries(line.name, line.points, look, false);
    return line.published === undefined
      ? [ours]
      : [ours, lineSeries(`${line.name}, published`, line.published, look, true)];
  });
  return {
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: "system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif" },
    title: { text: withoutControls(title), left: 16, top: 12, textStyle: { fontSize: 16, color: "#16202b" } },
    legend: {
      data: series.map(({ name }) => name),
      orient: "vertical",
      right: 12,
      top: 48,
      itemWidth: 34,
      textStyle: { color: "#16202b" },
    },
    grid: { left: 72, right: 200, top: 56, bottom: 56 },
    xAxis: { ...axis(xTitle, 32), type: "value", scale: true },
    yAxis: { ...axis(yTitle, 52), type: yScale === "log" ? "log" : "value" },
    series,
  };
}

function lineSeries(
  name: string,
  points: readonly (readonly [number, number])[],
  { symbol, color }: { symbol: string | undefined; color: string },
  isPublished: boolean,
) {
  return {
    type: "line",
    name: withoutControls(name),
    data: points.map(([x, y]) => [x, y]),
    symbol:
      isPublished && symbol !== undefined ? `empty${symbol[0]!.toUpperCase()}${symbol.slice(1)}` : symbol,
    symbolSize: 7,
    lineStyle: { width: isPublished ? 1.5 : 2, type: isPublished ? [6, 4] : "solid", color },
    itemStyle: { color },
  };
}

function axis(name: string, nameGap: number): object {
  return {
    name: withoutControls(name),
    nameLocation: "middle",
    nameGap,
    nameTextStyle: { color: GREY },
    axisLabel: { color: GREY, formatter: tickText },
    axisLine: { show: true, lineStyle: { color: GREY } },
    splitLine: { lineStyle: { color: "#dde2e8" } },
  };
}

function tickText(value: number): string {
  return Math.abs(value) >= 1000 ? formatNumber(value) : String(Number(value.toPrecision(4)));
}

/**
 * ECharts counts its ids over the life of the program; here they count from 0 in every figure. Its style sheet holds effects of
 * hovering only and goes, with the class names it is for.
 */
function withStableIds(svg: string): string {
  const names = new Map<string, string>();
  return svg
    .replace(/<style[\s\S]*?<\/style>\s*/g, "")
    .replace(/ class="[^"]*"/g, "")
    .replace(/\bzr\d+-[a-z]+-?\d+/g, (id) => {
      const name = names.get(id) ?? `tutti-${names.size}`;
      names.set(id, name);
      return name;
    });
}
