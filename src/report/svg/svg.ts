/**
 * Draws static figures as SVG, such as those of a paper: our values as solid lines, the published ones dashed
 * in the same colour, or groups of bars if the x axis has names. ECharts draws them without a browser. This
 * file loads ECharts, so import it only for a figure: `await import("./svg.ts")`.
 */
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { ReproducedFigure } from "../../results/reproduction.ts";
import { escapeHtml, withoutControls } from "../html/escape.ts";
import { formatNumber } from "../text/format.ts";
import { LIGHT } from "./palette.ts";

echarts.use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

type Series = ReproducedFigure["series"][number];

/** Colours and sizes of a figure on a white background. */
const FILE = {
  width: 720,
  height: 460,
  text: "#16202b",
  muted: "#566373",
  line: "#dde2e8",
  ground: "#ffffff",
  series: LIGHT.series,
  /** Title and legend are part of the picture. */
  isComplete: true,
};

type Look = typeof FILE;

/**
 * Colours and sizes of a figure in a page. The colours are those of the page, so that light and dark follow
 * the reader.
 */
const INLINE: Look = {
  width: 460,
  height: 290,
  text: "var(--text)",
  muted: "var(--muted)",
  line: "var(--line)",
  ground: "transparent",
  series: LIGHT.series.map((_, i) => `var(--series-${i})`),
  isComplete: false,
};

const SYMBOLS = ["circle", "rect", "triangle", "diamond"];
const DASH = [6, 4];
/** The title of a file's figure, in pixels. A character of this bold font is at most about `charWidth`. */
const TITLE = { left: 16, fontSize: 16, charWidth: 9.2, lineHeight: 20 };

/** The figure as an SVG document on a white background. The same figure gives the same bytes. */
export function lineFigureSvg(figure: ReproducedFigure): string {
  return `${draw(figure, FILE, "tutti")}\n`;
}

/**
 * The figure without title and legend, for a page with the report's style sheet.
 * @param id unique within the page
 */
export function inlineFigureSvg(figure: ReproducedFigure, id: string): string {
  return draw(figure, INLINE, id).replace(/ (?:xmlns(?::xlink)?|version|baseProfile)="[^"]*"/g, "");
}

/** The mark of a series as `inlineFigureSvg` draws it, for a legend. */
export function legendMark(series: number, kind: "line" | "published" | "bar"): string {
  const colour = INLINE.series[series % INLINE.series.length];
  if (kind === "bar")
    return `<svg class="mark" viewBox="0 0 34 12" aria-hidden="true"><rect x="9" y="1" width="16" height="10" fill="${colour}"/></svg>`;
  const isPublished = kind === "published";
  const fill = `fill="${isPublished ? "var(--surface)" : colour}" stroke="${colour}"`;
  const mark = [
    `<circle cx="17" cy="6" r="3.5" ${fill}/>`,
    `<rect x="13.5" y="2.5" width="7" height="7" ${fill}/>`,
    `<path d="M17 2.5L20.5 9.5L13.5 9.5Z" ${fill}/>`,
    `<path d="M17 2L21 6L17 10L13 6Z" ${fill}/>`,
  ][series % SYMBOLS.length];
  return `<svg class="mark" viewBox="0 0 34 12" aria-hidden="true"><path d="M1 6H33" fill="none" stroke="${colour}" stroke-width="2"${isPublished ? ` stroke-dasharray="${DASH}"` : ""}/>${mark}</svg>`;
}

/** The figure's number in the paper and its title. */
export function figureTitle({ id, title }: Pick<ReproducedFigure, "id" | "title">): string {
  return `${id}. ${title}`;
}

function draw(figure: ReproducedFigure, look: Look, id: string): string {
  const { width, height } = look;
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  chart.setOption(figureOption(figure, look));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return withStableIds(svg, id).replace(
    "<svg ",
    `<svg role="img" aria-label="${escapeHtml(figureTitle(figure))}" `,
  );
}

function figureOption(figure: ReproducedFigure, look: Look): echarts.EChartsCoreOption {
  const { xAxis, yAxis, categories, yScale = "linear" } = figure;
  const series = figure.series.flatMap((line, i): (object & { readonly name: string })[] => {
    const mark = { symbol: SYMBOLS[i % SYMBOLS.length], color: look.series[i % look.series.length] };
    if (categories !== undefined) return [barSeries(line, mark.color, categories.length)];
    const ours = lineSeries(line.name, line.ours, mark, false);
    return line.published === undefined
      ? [ours]
      : [ours, lineSeries(`${line.name}, published`, line.published, mark, true)];
  });
  const { text, isComplete } = look;
  const titleLines = linesOf(
    withoutControls(figureTitle(figure)),
    (look.width - 2 * TITLE.left) / TITLE.charWidth,
  );
  const top = (first: number) => first + (titleLines.length - 1) * TITLE.lineHeight;
  return {
    animation: false,
    backgroundColor: look.ground,
    textStyle: { fontFamily: "system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif" },
    ...(isComplete && {
      title: {
        text: titleLines.join("\n"),
        left: TITLE.left,
        top: 12,
        textStyle: {
          fontSize: TITLE.fontSize,
          color: text,
          ...(titleLines.length > 1 && { lineHeight: TITLE.lineHeight }),
        },
      },
      legend: {
        data: series.map(({ name }) => name),
        orient: "vertical",
        right: 12,
        top: top(48),
        itemWidth: 34,
        textStyle: { color: text },
      },
    }),
    grid: isComplete
      ? { left: 72, right: 200, top: top(56), bottom: 56 }
      : { left: 66, right: 14, top: 12, bottom: 50 },
    xAxis:
      categories === undefined
        ? { ...axis(xAxis, 32, look), type: "value", scale: true }
        : { ...axis(xAxis, 32, look), ...categoryAxis(categories, look) },
    yAxis: {
      ...axis(yAxis, isComplete ? 52 : 50, look),
      type: yScale === "log" ? "log" : "value",
      logBase: 10,
    },
    series,
  };
}

/** Breaks a text between words, because without a screen ECharts cannot measure where it must break. */
function linesOf(text: string, maxLength: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > maxLength) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function lineSeries(
  name: string,
  points: readonly (readonly [number, number])[],
  { symbol, color }: { symbol: string; color: string },
  isPublished: boolean,
) {
  return {
    type: "line",
    name: withoutControls(name),
    data: points.map(([x, y]) => [x, y]),
    symbol: isPublished ? `empty${symbol[0].toUpperCase()}${symbol.slice(1)}` : symbol,
    symbolSize: 7,
    lineStyle: { width: isPublished ? 1.5 : 2, type: isPublished ? DASH : "solid", color },
    itemStyle: { color },
  };
}

/**
 * Bars by category. A category without a point, or with a value that a logarithmic axis cannot show, has no
 * bar.
 */
function barSeries({ name, ours }: Series, color: string, categories: number) {
  const data: (number | null)[] = new Array(categories).fill(null);
  for (const [x, y] of ours) data[x - 1] = y > 0 ? y : null;
  return { type: "bar", name: withoutControls(name), data, itemStyle: { color }, barGap: "6%" };
}

function axis(name: string, nameGap: number, { muted, line }: Look): object {
  return {
    name: withoutControls(name),
    nameLocation: "middle",
    nameGap,
    nameTextStyle: { color: muted },
    axisLabel: { color: muted, formatter: tickText },
    axisLine: { show: true, lineStyle: { color: muted } },
    splitLine: { lineStyle: { color: line } },
  };
}

function categoryAxis(categories: readonly string[], { muted }: Look): object {
  return {
    type: "category",
    data: categories.map(withoutControls),
    axisLabel: { color: muted, interval: 0 },
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

function tickText(value: number): string {
  return Math.abs(value) >= 1000 ? formatNumber(value) : String(Number(value.toPrecision(4)));
}

/**
 * ECharts counts its ids over the life of the program; here they count from 0 in every figure. Its style
 * sheet only has hover effects, so it is removed together with the class names.
 */
function withStableIds(svg: string, prefix: string): string {
  const names = new Map<string, string>();
  return svg
    .replace(/<style[\s\S]*?<\/style>\s*/g, "")
    .replace(/ class="[^"]*"/g, "")
    .replace(/\bzr\d+-[a-z]+-?\d+/g, (id) => {
      const name = names.get(id) ?? `${prefix}-${names.size}`;
      names.set(id, name);
      return name;
    });
}
