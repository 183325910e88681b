/** A chart of lines as data, and as an SVG file. */
import { escapeHtml } from "../../../report/html/escape.ts";
import { formatNumber } from "../../../report/text/format.ts";
import { colourOf, dashOf, LIGHT_COLOURS } from "./theme.ts";

interface Axis {
  readonly label: string;
  /** A value with its unit. */
  format(value: number): string;
  /** A value at a tick; default: as `format`. */
  readonly tick?: (value: number) => string;
  readonly isLogarithmic?: boolean;
  /** Where the ticks are, if not at round numbers. */
  readonly ticks?: readonly number[];
}

export interface Lines {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis & { readonly max?: number };
  /** Ascending. */
  readonly at: readonly number[];
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[];
}

/** For the ticks of an axis. */
export function wholePercent(share: number): string {
  return `${formatNumber(Math.round(100 * share))} %`;
}

const WIDTH = 860;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 20;
const TOP = 40;
const LINE_HEIGHT = 20;

/** The chart as an SVG document on a white background, with its legend. */
export function linesSvg({ title, x, y, at, series }: Lines): string {
  const bottom = 50 + LINE_HEIGHT * Math.ceil(series.length / 4);
  const [fromX, toX] = [at[0] ?? 0, at.at(-1) ?? 1];
  const highest =
    y.max ?? Math.max(0, ...series.flatMap(({ values }) => values.filter((value) => value > 0)));
  const place = (value: number, from: number, to: number, isLogarithmic = false) =>
    isLogarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
  const px = (value: number) => LEFT + place(value, fromX, toX, x.isLogarithmic) * (WIDTH - LEFT - RIGHT);
  const py = (value: number) => HEIGHT - bottom - (value / (highest || 1)) * (HEIGHT - bottom - TOP);
  const n = (value: number) => value.toFixed(1);
  const { text, line, back } = LIGHT_COLOURS;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12" fill="${text}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${back}"/>`,
    `<text x="${LEFT}" y="20" font-size="15" fill="#16191c">${escapeHtml(title)}</text>`,
  ];
  for (const value of x.ticks ?? ticks(fromX, toX, x.isLogarithmic)) {
    if (value < fromX || value > toX) continue;
    const left = n(px(value));
    parts.push(
      `<line x1="${left}" x2="${left}" y1="${TOP}" y2="${HEIGHT - bottom}" stroke="${line}"/>`,
      `<text x="${left}" y="${HEIGHT - bottom + 16}" text-anchor="middle">${escapeHtml((x.tick ?? x.format)(value))}</text>`,
    );
  }
  for (const value of ticks(0, highest)) {
    const top = n(py(value));
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top}" y2="${top}" stroke="${line}"/>`,
      `<text x="${LEFT - 6}" y="${n(py(value) + 4)}" text-anchor="end">${escapeHtml((y.tick ?? y.format)(value))}</text>`,
    );
  }
  parts.push(
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - bottom + 34}" text-anchor="middle">${escapeHtml(x.label)}</text>`,
  );
  for (const [i, { label, values }] of series.entries()) {
    const colour = colourOf(LIGHT_COLOURS, i);
    const points = values.flatMap((value, k) =>
      Number.isNaN(value) ? [] : [`${n(px(at[k]))},${n(py(value))}`],
    );
    const stroke = `fill="none" stroke="${colour}" stroke-width="1.8" stroke-dasharray="${dashOf(i).join(" ")}"`;
    const left = LEFT + (i % 4) * 190;
    const top = HEIGHT - bottom + 54 + LINE_HEIGHT * Math.floor(i / 4);
    parts.push(
      `<polyline points="${points.join(" ")}" ${stroke}/>`,
      `<line x1="${left}" x2="${left + 26}" y1="${top - 4}" y2="${top - 4}" ${stroke}/>`,
      `<text x="${left + 32}" y="${top}">${escapeHtml(label)}</text>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

/** Round numbers, about six; on a logarithmic axis the powers of ten. */
function ticks(from: number, to: number, isLogarithmic = false): number[] {
  if (!(to > from)) return [from];
  if (isLogarithmic) {
    const first = Math.ceil(Math.log10(from) - 1e-9);
    const last = Math.floor(Math.log10(to) + 1e-9);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => 10 ** (first + i));
  }
  const rough = (to - from) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => (first + i) * step);
}
