/** Ticks of an axis of time: calendar times, or times from an origin. */
import { limitText } from "@tutti/kernel/core/format.ts";
import { MAX_MS, type TimeScale } from "./scale.ts";

/** How an axis names times. */
export type Clock =
  /** @param zoneMs local time minus UTC at a time, in ms */
  | { readonly kind: "calendar"; readonly zoneMs: (ms: number) => number }
  /** @param signed for times around now: `+5 min` */
  | { readonly kind: "from"; readonly originMs: number; readonly signed: boolean };

interface Tick {
  readonly ms: number;
  readonly px: number;
  readonly label: string;
  /** The day, if it is another one than that of the tick before. */
  readonly day?: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((s) => s * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((min) => min * MINUTE),
  ...[1, 2, 3, 6, 12].map((h) => h * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000].map((d) => d * DAY),
];

/** @param gapPx least distance between ticks */
export function ticksOf(scale: TimeScale, clock: Clock, gapPx: number): Tick[] {
  const { warp, widthPx } = scale;
  const shownMs = warp.to(scale.toMs) - warp.to(scale.fromMs);
  const leastMs = (gapPx * shownMs) / widthPx;
  const stepMs = STEPS_MS.find((step) => step >= leastMs) ?? STEPS_MS.at(-1)!;
  const ticks: Tick[] = [];
  let day = "";
  for (let ms = stepAtOrAfter(scale.fromMs, stepMs, clock); ms <= scale.toMs && Math.abs(ms) <= MAX_MS; ) {
    const px = scale.px(ms);
    const today = clock.kind === "calendar" ? dayText(ms + clock.zoneMs(ms)) : "";
    ticks.push({ ms, px, label: tickLabel(ms, stepMs, clock), ...(today !== day && { day: today }) });
    day = today;
    // Inside a compressed stretch, many steps are closer than the least distance.
    const nextMs = Math.max(ms + stepMs / 2, scale.ms(px + gapPx * 0.999));
    const next = stepAtOrAfter(nextMs, stepMs, clock);
    if (!(next > ms)) break;
    ms = next;
  }
  return ticks;
}

/** The browser's local time minus UTC, in ms. */
export function zoneMs(ms: number): number {
  return -60_000 * new Date(ms).getTimezoneOffset();
}

/** The first time at or after `ms` that is a whole number of steps in the axis's own time. */
function stepAtOrAfter(ms: number, stepMs: number, clock: Clock): number {
  if (clock.kind === "from") return clock.originMs + Math.ceil((ms - clock.originMs) / stepMs) * stepMs;
  const zoneMs = clock.zoneMs(ms);
  const next = Math.ceil((ms + zoneMs) / stepMs) * stepMs - zoneMs;
  // The clock may be changed in between: the step is whole by the clock at its own time.
  const moved = next + zoneMs - clock.zoneMs(next);
  return moved >= ms ? moved : next;
}

function tickLabel(ms: number, stepMs: number, clock: Clock): string {
  if (clock.kind === "from") return offsetText(ms - clock.originMs, clock.signed);
  const local = ms + clock.zoneMs(ms);
  if (stepMs >= DAY) return dayText(local);
  return timeText(local, stepMs >= MINUTE ? "min" : stepMs >= SECOND ? "s" : "ms");
}

/** `05:07`, `05:07:09` or `05:07:09.250`. @param localMs local time as if it were UTC */
function timeText(localMs: number, precision: "min" | "s" | "ms"): string {
  const text = new Date(localMs).toISOString();
  const time = text.slice(text.indexOf("T") + 1, -1);
  return time.slice(0, precision === "min" ? 5 : precision === "s" ? 8 : 12);
}

/** `2026-11-22`. @param localMs local time as if it were UTC */
function dayText(localMs: number): string {
  const text = new Date(localMs).toISOString();
  return text.slice(0, text.indexOf("T"));
}

/** A time from the origin in whole units: `0`, `+5 min`, `−1 h 30 min`, `2 d`. */
export function offsetText(ms: number, signed: boolean): string {
  if (Math.abs(ms) < 0.5) return signed ? "now" : "0";
  const sign = ms < 0 ? "−" : signed ? "+" : "";
  return sign + limitText(Math.round(Math.abs(ms)));
}
