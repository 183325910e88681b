/** Provides clocks and timers behind an interface, so tests can pass their own. */

/** Milliseconds on the monotonic clock, which all processes share and nobody can set. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export interface Clock {
  /** Monotonic ms, see `monotonicMs`. */
  nowMs(): number;
  /** Unix time in ms, for people; the system clock may be set in either direction. */
  unixMs(): number;
  /** Calls once, at or after the instant `atMs` of `nowMs`. Returns a function that cancels the call. */
  at(atMs: number, call: () => void): () => void;
  /** Calls once, after all events that are ready now, before time passes. */
  soon(call: () => void): void;
}

/** Node fires a timer immediately if it is set for longer than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: monotonicMs,
  unixMs: () => Date.now(),
  at(atMs, call) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = atMs - systemClock.nowMs();
      if (leftMs <= 0) call();
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
    };
    timer = setTimeout(arm, Math.min(Math.max(0, Math.ceil(atMs - systemClock.nowMs())), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  soon(call) {
    setImmediate(call);
  },
};
