/**
 * Replaces the clock in tests: it stands still until a test advances it. All timers that are due at the same
 * time fire before calls made with `soon`.
 */
import type { Clock } from "./clock.ts";

export class FakeClock implements Clock {
  #nowMs: number;
  /** Difference between Unix and monotonic time; tests may change it. */
  unixOffsetMs = 0;
  /** How long the machine was suspended. */
  #suspendedMs = 0;
  #timers: { atMs: number; call: () => void }[] = [];
  #soon: (() => void)[] = [];

  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  unixMs(): number {
    return this.#nowMs + this.unixOffsetMs;
  }

  bootMs(): number {
    return this.#nowMs + this.#suspendedMs;
  }

  /** The wall clock is set forward, or back. */
  step(byMs: number): void {
    this.unixOffsetMs += byMs;
  }

  /** The machine is suspended and resumed: the monotonic clock stands still. */
  suspend(forMs: number): void {
    this.unixOffsetMs += forMs;
    this.#suspendedMs += forMs;
  }

  at(atMs: number, call: () => void): () => void {
    const timer = { atMs, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  soon(call: () => void): void {
    this.#soon.push(call);
  }

  /** Instant of the next timer; Infinity if there is none. */
  nextMs(): number {
    return this.#timers.reduce((least, { atMs }) => Math.min(least, atMs), Number.POSITIVE_INFINITY);
  }

  /** Runs everything that is due at the current instant. */
  settle(): void {
    for (let turn = 0; turn < 100_000; turn++) {
      const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
      if (due.length > 0) {
        this.#timers = this.#timers.filter(({ atMs }) => atMs > this.#nowMs);
        for (const { call } of due) call();
        continue;
      }
      const call = this.#soon.shift();
      if (call === undefined) return;
      call();
    }
    throw new Error(`The instant ${this.#nowMs} ms does not end`);
  }

  /** Advances time to an instant, and fires each timer on the way. */
  advanceTo(timeMs: number): void {
    this.settle();
    for (let nextMs = this.nextMs(); nextMs <= timeMs; nextMs = this.nextMs()) {
      this.#nowMs = Math.max(this.#nowMs, nextMs);
      this.settle();
    }
    this.#nowMs = Math.max(this.#nowMs, timeMs);
  }
}
