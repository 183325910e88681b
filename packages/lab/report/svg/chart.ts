/**
 * The parts that charts in SVG have in common: scales with round ticks, and axes with names, texts and lines
 * across the plot. The same values give the same bytes on every machine.
 */
import { ln } from "@tutti/kernel/core/elementary.ts";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";

export interface Scale {
  readonly ticks: readonly number[];
  /** Where a value is between the two ends of the axis, 0 … 1. */
  share(value: number): number;
}

/** The rectangle in which values are drawn, in pixels of the picture. */
export interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Axis {
  readonly name: string;
  readonly scale: Scale;
  /** From the plot to the line on which the name stands, in pixels. */
  readonly nameGap: number;
  text(tick: number): string;
  /** No lines across the plot: the ticks are names. */
  readonly isNames?: boolean;
}

interface ChartColours {
  /** Of texts and of the axes. */
  readonly muted: string;
  /** Of the lines across the plot. */
  readonly line: string;
}

/** About as many intervals as an axis has. */
const INTERVALS = 5;

/** From one end to the other in proportion. */
export function scale(from: number, to: number, ticks: readonly number[]): Scale {
  return { ticks, share: (value) => (value - from) / (to - from) };
}

/** Each factor has the same length. */
export function logarithmic(from: number, to: number, ticks: readonly number[]): Scale {
  const length = ln(to / from);
  return { ticks, share: (value) => ln(value / from) / length };
}

/** From a round number at or below all values to one at or above them. */
export function roundScale(values: readonly number[]): Scale {
  let [low, high] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(low) / 2];
  const step = roundStep((high - low) / INTERVALS);
  // Tolerates quotients such as 0.3 ÷ 0.1 = 2.9999999999999996.
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  return scale(ticks[0], ticks[ticks.length - 1], ticks);
}

/** From a power of ten at or below all values to one at or above them. Values above 0. */
export function logarithmicScale(values: readonly number[]): Scale {
  const first = values.length === 0 ? 0 : exponentOf(Math.min(...values));
  const largest = values.length === 0 ? 1 : Math.max(...values);
  const last = Math.max(first + 1, exponentOf(largest) + (largest > tenTo(exponentOf(largest)) ? 1 : 0));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => tenTo(first + i));
  return logarithmic(ticks[0], ticks[ticks.length - 1], ticks);
}

/** 1, 2, 3, 5 or 10 × a power of ten, the nearest. */
function roundStep(rough: number): number {
  const power = tenTo(exponentOf(rough));
  const factor = rough / power;
  return power * (factor < 1.5 ? 1 : factor < 2.5 ? 2 : factor < 4 ? 3 : factor < 7 ? 5 : 10);
}

function exponentOf(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

function tenTo(exponent: number): number {
  return Number(`1e${exponent}`);
}

/** A number of pixels, with at most one digit after the point. */
export function px(value: number): string {
  return String(Number(value.toFixed(1)));
}

/** How values become pixels: x to the right, y upwards. */
export function placeIn({ left, right, top, bottom }: Plot, x: Scale, y: Scale) {
  return {
    x: (value: number) => left + x.share(value) * (right - left),
    y: (value: number) => bottom - y.share(value) * (bottom - top),
  };
}

/** Both axes with the lines across the plot. */
export function axesSvg(plot: Plot, x: Axis, y: Axis, { muted, line }: ChartColours): string[] {
  const { left, right, top, bottom } = plot;
  const place = placeIn(plot, x.scale, y.scale);
  // Lines of one pixel are sharp between two pixels.
  const columns = x.scale.ticks.map((tick) => Math.floor(place.x(tick)) + 0.5);
  const rows = y.scale.ticks.map((tick) => Math.floor(place.y(tick)) + 0.5);
  const across = rows.map((at) => `M${left} ${at}H${right}`);
  if (x.isNames !== true) across.push(...columns.map((at) => `M${at} ${top}V${bottom}`));
  const marks = [`M${left + 0.5} ${top}V${bottom}`, `M${left} ${Math.floor(bottom) + 0.5}H${right}`];
  marks.push(...rows.map((at) => `M${left - 5} ${at}H${left}`));
  if (x.isNames !== true) marks.push(...columns.map((at) => `M${at} ${bottom}V${bottom + 5}`));
  const text = (at: string, content: string) => `<text ${at}>${escapeHtml(content)}</text>`;
  return [
    `<path d="${across.join("")}" fill="none" stroke="${line}"/>`,
    `<path d="${marks.join("")}" fill="none" stroke="${muted}"/>`,
    `<g fill="${muted}" text-anchor="end">`,
    ...y.scale.ticks.map((tick) => text(`x="${left - 8}" y="${px(place.y(tick) + 4)}"`, y.text(tick))),
    `</g><g fill="${muted}" text-anchor="middle">`,
    ...x.scale.ticks.map((tick) => text(`x="${px(place.x(tick))}" y="${bottom + 18}"`, x.text(tick))),
    text(`x="${(left + right) / 2}" y="${bottom + x.nameGap}"`, x.name),
    text(`transform="translate(${left - y.nameGap} ${(top + bottom) / 2}) rotate(-90)"`, y.name),
    "</g>",
  ];
}
