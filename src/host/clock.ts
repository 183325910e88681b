/** Time, so that a test can give another one. */

/** Milliseconds on the clock that all processes of this boot share and that no one can set. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export interface Clock {
  /** Monotonic ms, see `monotonicMs`. */
  nowMs(): number;
  /** Unix time in ms, for what people read; may be set back and forth. */
  unixMs(): number;
  /** Calls once, at or after an instant of `nowMs`. Returns how to take it back. */
  at(atMs: number, call: () => void): () => void;
  /** Calls once, after everything that is ready now, before any time passes. */
  soon(call: () => void): void;
}

/** A timer of Node that is set for longer fires at once. */
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
