/**
 * The front end's clock. While a cycle is handled, Unix time only passes: if somebody sets the wall clock
 * meanwhile, all that looks at it in this cycle sees it as it was before, and the next cycle sees the step.
 */
import type { Clock } from "@tutti/host/clock.ts";

export class SteadyClock implements Clock {
  readonly #clock: Clock;
  /** The same instant by both clocks, when the cycle began. */
  #began: { readonly unixMs: number; readonly nowMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs = () => this.#clock.nowMs();
  bootMs = () => this.#clock.bootMs();
  at = (atMs: number, call: () => void) => this.#clock.at(atMs, call);
  soon = (call: () => void) => this.#clock.soon(call);

  unixMs(): number {
    const began = this.#began;
    // Whole milliseconds, as of the system's clock.
    return began === undefined
      ? this.#clock.unixMs()
      : began.unixMs + Math.floor(this.#clock.nowMs() - began.nowMs);
  }

  /** Handles a cycle. */
  steadily(handle: () => void): void {
    this.#began = { unixMs: this.#clock.unixMs(), nowMs: this.#clock.nowMs() };
    try {
      handle();
    } finally {
      this.#began = undefined;
    }
  }
}
