/**
 * Maps time to pixels. A scale may compress idle stretches: then it is straight between them, and each of
 * them takes the same short time.
 */

/** A stretch in which no job runs. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Time without what is compressed; the same function in both directions. */
export interface Warp {
  /** From real time to shown time, in ms. */
  to(ms: number): number;
  /** And back. */
  from(shownMs: number): number;
  /** What is compressed. */
  readonly stretches: readonly Stretch[];
}

export const NO_WARP: Warp = { to: (ms) => ms, from: (ms) => ms, stretches: [] };

/** The time of an idle stretch is drawn as this share of the busy time. */
const KEPT_SHARE = 1 / 50;

/**
 * Compresses the stretches between spans, if they are longer than a fiftieth of the busy time.
 * @param spans times in which something is drawn, in any order
 */
export function compressIdle(spans: readonly Stretch[]): Warp {
  const sorted = [...spans].sort((a, b) => a.fromMs - b.fromMs);
  const idle: Stretch[] = [];
  let busyMs = 0;
  let untilMs = sorted[0]?.fromMs ?? 0;
  for (const { fromMs, toMs } of sorted) {
    if (fromMs > untilMs) idle.push({ fromMs: untilMs, toMs: fromMs });
    busyMs += Math.max(0, toMs - Math.max(untilMs, fromMs));
    untilMs = Math.max(untilMs, toMs);
  }
  const keptMs = Math.max(1, busyMs * KEPT_SHARE);
  const stretches = idle.filter(({ fromMs, toMs }) => toMs - fromMs > keptMs);
  if (stretches.length === 0) return NO_WARP;
  // Removed before the stretch of the same index.
  const removed: number[] = [0];
  for (const { fromMs, toMs } of stretches) removed.push(removed.at(-1)! + toMs - fromMs - keptMs);
  const shownFrom = stretches.map(({ fromMs }, i) => fromMs - removed[i]);
  return {
    stretches,
    to: (ms) => {
      const i = lastAtOrBefore(ms, (k) => stretches[k].fromMs, stretches.length);
      if (i < 0) return ms;
      const { fromMs, toMs } = stretches[i];
      return ms >= toMs ? ms - removed[i + 1] : shownFrom[i] + ((ms - fromMs) / (toMs - fromMs)) * keptMs;
    },
    from: (shownMs) => {
      const i = lastAtOrBefore(shownMs, (k) => shownFrom[k], stretches.length);
      if (i < 0) return shownMs;
      const { fromMs, toMs } = stretches[i];
      const inside = (shownMs - shownFrom[i]) / keptMs;
      return inside >= 1 ? shownMs + removed[i + 1] : fromMs + inside * (toMs - fromMs);
    },
  };
}

/** Index of the last of the rising values that is at most `value`; −1 if none is. */
export function lastAtOrBefore(value: number, at: (index: number) => number, length: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly widthPx: number;
  readonly warp: Warp;
  px(ms: number): number;
  ms(px: number): number;
}

/** The shortest time that is shown, in ms: below it, numbers of ms since 1970 lose their fractions. */
export const MIN_SPAN_MS = 10;
/** The longest, about 300 years. */
export const MAX_SPAN_MS = 1e13;
/** Times further from 1970 than 30,000 years are not shown: dates end there, and addresses may be hostile. */
export const MAX_MS = 9e14;

export function timeScale(fromMs: number, toMs: number, widthPx: number, warp = NO_WARP): TimeScale {
  const from = warp.to(fromMs);
  const pxPerMs = widthPx / Math.max(1e-9, warp.to(toMs) - from);
  return {
    fromMs,
    toMs,
    widthPx,
    warp,
    px: (ms) => (warp.to(ms) - from) * pxPerMs,
    ms: (px) => warp.from(from + px / pxPerMs),
  };
}

/** The scale `factor` times as long, with the time at `px` where it is. */
export function zoomed(scale: TimeScale, factor: number, px: number): Stretch {
  const { warp, widthPx } = scale;
  const from = warp.to(scale.fromMs);
  const span = warp.to(scale.toMs) - from;
  const next = Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, span * factor));
  const fixed = from + (span * px) / widthPx;
  const nextFrom = fixed - (next * px) / widthPx;
  return { fromMs: warp.from(nextFrom), toMs: warp.from(nextFrom + next) };
}

/** The scale moved, so that what was at `px` is at 0. */
export function panned(scale: TimeScale, px: number): Stretch {
  return { fromMs: scale.ms(px), toMs: scale.ms(scale.widthPx + px) };
}
