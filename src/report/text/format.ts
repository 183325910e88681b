/** Numbers for people: three significant digits, a unit that suits the size, a dash for a missing value. */

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

/** The largest unit not above the median of the durations. Zeros and missing values do not count. */
export function sharedTimeUnit(seconds: readonly number[]): TimeUnit {
  const sorted = seconds.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return [...UNITS].reverse().find((unit) => middle >= unit.seconds) ?? UNITS[0];
}

/**
 * Formats durations that stand next to each other. If one unit suits all of them (none below half a unit,
 * none that `formatDuration` would print in a larger one), all get this unit; otherwise each gets its own.
 */
export function durationFormatter(seconds: readonly number[]): (value: number) => string {
  const unit = sharedTimeUnit(seconds);
  const suits = seconds.every((value) => {
    const size = Math.abs(value);
    return !(size > 0) || (size >= 0.5 * unit.seconds && timeUnit(value).seconds <= unit.seconds);
  });
  return suits ? (value) => formatDuration(value, unit) : (value) => formatDuration(value);
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
