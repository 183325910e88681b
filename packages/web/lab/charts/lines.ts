/** A chart of lines as data, and as an SVG file. */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { formatNumber } from "@tutti/kernel/core/format.ts";
import {
  axesSvg,
  logarithmic,
  logarithmicScale,
  type Plot,
  placeIn,
  px,
  roundScale,
  type Scale,
  scale,
} from "@tutti/lab/report/svg/chart.ts";
import { colourOf } from "@tutti/lab/report/svg/palette.ts";
import { dashOf, LIGHT_COLOURS } from "./theme.ts";

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
  readonly series: readonly {
    readonly label: string;
    readonly values: readonly number[];
    /** Decides colour and dashes; default: its place in the list. */
    readonly index?: number;
  }[];
}

/** For the ticks of an axis. */
export function wholePercent(share: number): string {
  return `${formatNumber(Math.round(100 * share))} %`;
}

const WIDTH = 860;
const HEIGHT = 420;
const LINE_HEIGHT = 20;

/** The chart as an SVG document on a white background, with its legend. */
export function linesSvg({ title, x, y, at, series }: Lines): string {
  const bottom = HEIGHT - 50 - LINE_HEIGHT * Math.ceil(series.length / 4);
  const plot: Plot = { left: 70, right: WIDTH - 20, top: 40, bottom };
  const scales = { x: xScale(x, at), y: yScale(y, series) };
  const place = placeIn(plot, scales.x, scales.y);
  const { text, line, back } = LIGHT_COLOURS;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12" fill="${text}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${back}"/>`,
    `<text x="${plot.left}" y="20" font-size="15" fill="#16191c">${escapeHtml(title)}</text>`,
    ...axesSvg(
      plot,
      { name: x.label, nameGap: 36, scale: scales.x, text: x.tick ?? x.format },
      { name: y.label, nameGap: 54, scale: scales.y, text: y.tick ?? y.format },
      { muted: text, line },
    ),
  ];
  for (const [i, { label, values, index = i }] of series.entries()) {
    const points = values.flatMap((value, k) =>
      Number.isNaN(value) ? [] : [`${px(place.x(at[k]))},${px(place.y(value))}`],
    );
    const stroke = `fill="none" stroke="${colourOf(LIGHT_COLOURS, index)}" stroke-width="1.8" stroke-dasharray="${dashOf(index).join(" ")}"`;
    const left = plot.left + (i % 4) * 190;
    const top = bottom + 58 + LINE_HEIGHT * Math.floor(i / 4);
    parts.push(
      `<polyline points="${points.join(" ")}" ${stroke}/>`,
      `<path d="M${left} ${top - 4}h26" ${stroke}/>`,
      `<text x="${left + 32}" y="${top}">${escapeHtml(label)}</text>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

/** Exactly the span of the points. */
function xScale({ isLogarithmic, ticks }: Axis, at: readonly number[]): Scale {
  const [from, to] = [at[0] ?? 0, at.at(-1) ?? 1];
  const round = (isLogarithmic ? logarithmicScale([from, to]) : roundScale([from, to])).ticks;
  const within = (ticks ?? round).filter((tick) => tick >= from && tick <= to);
  return isLogarithmic ? logarithmic(from, to, within) : scale(from, to, within);
}

function yScale({ max }: Lines["y"], series: Lines["series"]): Scale {
  const highest = max ?? Math.max(0, ...series.flatMap(({ values }) => values.filter((value) => value > 0)));
  return roundScale([0, highest]);
}
