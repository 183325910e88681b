/** Time as the front end sees it, so that a test can give it another one. */

export interface Clock {
  /** Monotonic ms, on the base of process.hrtime, which all processes of one boot share. */
  nowMs(): number;
  /** Unix time in ms, for what people read; may be set back and forth. */
  unixMs(): number;
  /** Calls once, at or after an instant of `nowMs`. Returns how to take it back. */
  at(atMs: number, call: () => void): () => void;
  /** Calls once, after everything that is ready now, before any time passes. */
  soon(call: () => void): void;
}

/** A timer of Node that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => performance.now() + originMs,
  unixMs: () => Date.now(),
  at(atMs, call) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = atMs - systemClock.nowMs();
      if (leftMs <= 0) call();
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
    };
    timer = setTimeout(arm, Math.min(Math.max(0, Math.ceil(atMs - systemClock.nowMs())), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
  soon(call) {
    setImmediate(call);
  },
};

/** What has to be added to performance.now() to be on the base of process.hrtime. */
const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
