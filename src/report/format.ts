/** Numbers for people: three significant digits, units that fit the size, a dash where there is no value. */

export const NO_VALUE = "–";

/** Three significant digits; groups of three digits from 1,000 on, where all digits before the point are kept. */
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

/** Seconds as s, min, h or d: `45 s`, `12.3 min`, `5.20 h`, `332 d`. */
export function formatDuration(seconds: number): string {
  const size = Math.abs(seconds);
  if (!(size >= 120)) return Number.isNaN(seconds) ? NO_VALUE : `${formatNumber(seconds)} s`;
  if (size < 7200) return `${formatNumber(seconds / 60)} min`;
  if (size < 172800) return `${formatNumber(seconds / 3600)} h`;
  return `${formatNumber(seconds / 86400)} d`;
}

/** A share as per cent with one digit after the point. */
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
