/** Times and sizes as people read them. */
import { NO_VALUE } from "@tutti/kernel/core/format.ts";

/**
 * A duration in a column of a table, in the form that `--time` reads: `1:23:45`, and `2-03:04:05` if it is a
 * day or longer. Only full seconds count, as on a stopwatch.
 */
export function elapsedText(durationMs: number): string {
  const seconds = Math.floor(Math.max(0, durationMs) / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor((seconds % 86_400) / 3600)];
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  return days === 0 ? `${hours}:${rest}` : `${days}-${two(hours)}:${rest}`;
}

/** A time limit in a column of a table. Below a second, it is 0:00:01, because 0:00:00 looks like none. */
export function limitCell(limitMs: number | undefined): string {
  return limitMs === undefined ? NO_VALUE : elapsedText(Math.max(1000, limitMs));
}

/** Local time of day, preceded by the date unless it is today. */
export function clockText(unixMs: number, nowMs = Date.now()): string {
  const date = new Date(unixMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return date.toDateString() === new Date(nowMs).toDateString()
    ? time
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** How far a clock is ahead of another one. Monotonic clocks of two machines differ by days. */
export function offsetText(ms: number): string {
  const size = Math.abs(ms);
  return `${ms < 0 ? "−" : "+"}${size < 10_000 ? `${size.toFixed(1)} ms` : `${(size / 1000).toFixed(3)} s`}`;
}

/** Unix time as ISO 8601 in UTC. */
export function isoText(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

/** Bytes in the largest suitable unit: `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`;
}
