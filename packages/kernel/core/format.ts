/**
 * Formats numbers for people: three significant digits, a unit that suits the size, a dash for a missing
 * value.
 */

export const NO_VALUE = "–";

/** Three significant digits. From 1,000 on, all digits before the point, in groups of three. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? NO_VALUE : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size >= 999.5) return sign + grouped(size.toFixed(0));
  if (size === 0) return "0";
  if (size < 0.001) return sign + size.toExponential(1).replace("-", "−");
  if (Number.isInteger(size)) return sign + String(size);
  return sign + size.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3);
}

/** A whole number with groups of three digits. */
export function formatCount(value: number): string {
  return Number.isFinite(value) ? grouped(value.toFixed(0)) : NO_VALUE;
}

/** A count with its noun: `1 job`, `2 jobs`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A number with this many digits after the point, and groups of three before it. */
export function formatDigits(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const [whole = "", rest] = Math.abs(value).toFixed(decimals).split(".");
  return `${value < 0 ? "−" : ""}${grouped(whole)}${rest === undefined ? "" : `.${rest}`}`;
}

/** A unit of time. */
export interface TimeUnit {
  readonly name: "s" | "min" | "h" | "d";
  readonly seconds: number;
}

/** Of a column; smaller numbers are printed as a bound. */
const MAX_DECIMALS = 9;

const UNITS = [
  { name: "s", seconds: 1 },
  { name: "min", seconds: 60 },
  { name: "h", seconds: 3600 },
  { name: "d", seconds: 86400 },
] as const satisfies readonly TimeUnit[];

/**
 * The unit in which a duration is easy to read: seconds below 2 min, minutes below 90 min, hours below 2 d,
 * otherwise days.
 */
export function timeUnit(seconds: number): TimeUnit {
  const size = Math.abs(seconds);
  const [second, minute, hour, day] = UNITS;
  if (!(size >= 120)) return second;
  if (size < 5400) return minute;
  return size < 172800 ? hour : day;
}

/**
 * Seconds as s, min, h or d: `45 s`, `12.3 min`, `5.20 h`, `332 d`. A given unit makes neighbouring durations
 * comparable.
 */
export function formatDuration(seconds: number, unit: TimeUnit = timeUnit(seconds)): string {
  return Number.isNaN(seconds) ? NO_VALUE : `${formatNumber(seconds / unit.seconds)} ${unit.name}`;
}

/** A time limit without rounding: `1 d 2 h`; 90 minutes are `1 h 30 min`. */
export function limitText(limitMs: number): string {
  if (limitMs < 1000) return formatDuration(limitMs / 1000);
  const parts: string[] = [];
  let rest = limitMs;
  for (const [unit, ms] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
  ] as const) {
    if (rest >= ms) parts.push(`${Math.floor(rest / ms)} ${unit}`);
    rest %= ms;
  }
  if (rest > 0) parts.push(`${rest / 1000} s`);
  return parts.join(" ");
}

/** A time since the first submit: `day 12, 06:30`; on the first two days as a duration. */
export function momentLabel(sinceFirstS: number): string {
  if (sinceFirstS < 172800) return `after ${formatDuration(sinceFirstS)}`;
  const seconds = Math.round(sinceFirstS);
  const day = Math.floor(seconds / 86400);
  const rest = seconds - day * 86400;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `day ${formatNumber(day)}, ${two(rest / 3600)}:${two((rest % 3600) / 60)}`;
}

/** The largest unit that is not longer than the duration, for round numbers: `1 min`, `10 h`. */
export function largestTimeUnit(seconds: number): TimeUnit {
  return [...UNITS].reverse().find((unit) => seconds >= unit.seconds) ?? UNITS[0];
}

/** Lower median of the absolute values; 0 if there are none. Zeros and missing values do not count. */
function medianSize(values: readonly number[]): number {
  const sorted = sizesOf(values).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

function sizesOf(values: readonly number[]): number[] {
  return values.map(Math.abs).filter((size) => size > 0 && size < Number.POSITIVE_INFINITY);
}

/** A column of durations: one unit, which the heading names, and digits that line up. */
interface DurationColumn {
  readonly unit: TimeUnit;
  heading(title: string): string;
  /** The number without the unit. */
  format(seconds: number): string;
}

/**
 * @param seconds the durations of the column, which decide the digits
 * @param unit default: the unit that suits the median
 */
export function durationColumn(
  seconds: readonly number[],
  unit: TimeUnit = timeUnit(medianSize(seconds)),
): DurationColumn {
  const format = columnFormatter(seconds.map((value) => value / unit.seconds));
  return {
    unit,
    heading: (title) => `${title} (${unit.name})`,
    format: (value) => format(value / unit.seconds),
  };
}

/**
 * Formats the numbers of a column with the same number of digits after the point: two if the smallest number
 * is below 10, one if it is below 100, none for whole numbers and from 100 on. The median always has two
 * significant digits. A number that would look like 0 is printed as a bound, such as `<0.01`.
 * @param values the numbers of the column
 */
export function columnFormatter(values: readonly number[]): (value: number) => string {
  const decimals = decimalsOf(values);
  const step = 1 / Number(`1e${decimals}`);
  return (value) => {
    const size = Math.abs(value);
    if (!(size > 0 && size < step / 2)) return formatDigits(value, decimals);
    return `${value > 0 ? "<" : ">−"}${step.toFixed(decimals)}`;
  };
}

function decimalsOf(values: readonly number[]): number {
  const sizes = sizesOf(values);
  if (sizes.every(Number.isInteger)) return 0;
  const smallest = sizes.reduce((a, b) => Math.min(a, b));
  let decimals = smallest >= 100 ? 0 : smallest >= 10 ? 1 : 2;
  for (let median = medianSize(values) * Number(`1e${decimals}`); median < 9.5; median *= 10) decimals++;
  return Math.min(decimals, MAX_DECIMALS);
}

/** A share in percent, with one digit after the point. */
export function formatPercent(share: number): string {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : NO_VALUE;
}

/** A value of a metric by its unit. */
export function formatMetric(value: number, unit: "s" | "1"): string {
  return unit === "s" ? formatDuration(value) : formatNumber(value);
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}
