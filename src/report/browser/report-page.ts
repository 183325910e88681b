/**
 * Draws the charts of the report page from the JSON in the page. scripts/build-report-page.ts bundles this
 * script with the parts of ECharts that it needs. Every report contains the bundle, so a report needs no
 * network. This is the only source file that uses the DOM: tsconfig.browser.json checks it, tsconfig.json
 * checks the rest.
 */
import { BarChart, CustomChart, LineChart } from "echarts/charts";
import {
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  LegendScrollComponent,
  TitleComponent,
  TooltipComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import type { PageData, Statistic } from "../html/page-data.ts";
import type { ChartOption } from "./chart-parts.ts";
import { barsOption, classesOption, overTimeOption, stripsOption, survivalOption } from "./charts.ts";
import { ganttOption } from "./gantt-chart.ts";
import { matrixOption } from "./matrix-chart.ts";
import type { Theme } from "./theme.ts";

echarts.use([
  BarChart,
  CustomChart,
  LineChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  LegendScrollComponent,
  TitleComponent,
  TooltipComponent,
  CanvasRenderer,
]);

/** Makes the option of a chart. `choice` returns the present choice of one of its selects by name. */
type Draw = (
  data: PageData,
  theme: Theme,
  choice: (name: string) => string,
  canvas: { readonly clientWidth: number; readonly clientHeight: number },
) => ChartOption | undefined;

const CHARTS: Readonly<Record<string, Draw>> = {
  bars: (data, theme, choice) =>
    barsOption(data, theme, data.metrics[Number(choice("metric"))], choice("statistic") as Statistic),
  survival: (data, theme) => survivalOption(data, theme),
  classes: (data, theme, choice, { clientWidth }) =>
    classesOption(data, theme, data.metrics[Number(choice("metric"))], clientWidth),
  utilisation: (data, theme, _choice, { clientHeight }) => stripsOption(data, theme, clientHeight),
  queue: (data, theme, choice) =>
    overTimeOption(data, theme, choice("value") === "max" ? data.queueMax : data.queueMean, "jobs"),
  rows: (data, theme) => overTimeOption(data, theme, data.rows, "rows"),
  gantt: (data, theme, choice) => {
    const chart = data.gantt?.charts[Number(choice("policy"))];
    return chart == null ? undefined : ganttOption(data, theme, chart);
  },
  matrix: (data, theme, choice) =>
    matrixOption(data, theme, Number(choice("policy")), Number(choice("time")) / 1000),
};

/** Charts with the same time axis, which zoom together. */
const TOGETHER = new Set(["utilisation", "queue", "rows"]);

start();

function start(): void {
  const source = document.getElementById("report-data")?.textContent;
  if (source == null) return;
  const data = JSON.parse(source) as PageData;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redrawAll = Array.from(document.querySelectorAll<HTMLElement>("[data-chart]"), (figure) =>
    mount(figure, data),
  );
  dark.addEventListener("change", () => {
    for (const redraw of redrawAll) redraw();
  });
  sortableTables();
}

/** Sets up one chart. Returns a function that redraws it with the present theme. */
function mount(figure: HTMLElement, data: PageData): () => void {
  const kind = figure.dataset.chart!;
  const canvas = figure.querySelector<HTMLElement>(".canvas")!;
  const chart = echarts.init(canvas, undefined, { renderer: "canvas" });
  if (TOGETHER.has(kind)) {
    chart.group = "time";
    echarts.connect("time");
  }
  const choice = (name: string) =>
    figure.querySelector<HTMLSelectElement | HTMLInputElement>(`[name="${name}"]`)?.value ?? "0";
  const redraw = () => {
    const option = CHARTS[kind]?.(data, readTheme(), choice, canvas);
    if (option !== undefined) chart.setOption(option, { notMerge: true });
  };
  figure.addEventListener("input", redraw);
  new ResizeObserver(() => chart.resize()).observe(canvas);
  redraw();
  return redraw;
}

/** A click on a heading sorts the table by that column; a second click reverses the order. */
function sortableTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) {
    const headings = Array.from(table.querySelectorAll<HTMLElement>("thead th"));
    headings.forEach((heading, column) => {
      heading.querySelector("button")?.addEventListener("click", () => {
        const falling = heading.getAttribute("aria-sort") === "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sortRows(table, column, falling);
      });
    });
  }
}

function sortRows(table: HTMLTableElement, column: number, falling: boolean): void {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const key = (row: HTMLTableRowElement) => row.cells[column]?.dataset.value ?? "";
  rows.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const order =
      x === "" || y === "" || Number.isNaN(Number(x)) ? x.localeCompare(y) : Number(x) - Number(y);
    return falling ? -order : order;
  });
  body.append(...rows);
}

/** Reads the theme from the style sheet, so that the charts follow the reader's light or dark mode. */
function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const list = (name: string) => {
    const colours: string[] = [];
    for (let i = 0; value(`--${name}-${i}`) !== ""; i++) colours.push(value(`--${name}-${i}`));
    return colours;
  };
  return {
    text: value("--text"),
    muted: value("--muted"),
    line: value("--line"),
    surface: value("--surface"),
    font: getComputedStyle(document.body).fontFamily,
    series: list("series"),
    waits: list("waits"),
  };
}
