/** Measures how long a condition has held, counting only the time when the conductor was watching. */

/**
 * If two looks are further apart, the conductor was stopped or very late; the pause then counts as this much
 * time.
 */
const MAX_STEP_MS = 250;

/**
 * Sums the time between looks at which a condition held. The sum does not grow while the conductor or the
 * machine is suspended.
 */
export class ObservedTime {
  #ms = 0;
  #lastMs: number | undefined;

  /** @returns the sum in ms, including this look */
  add(nowMs: number, holds: boolean): number {
    if (holds && this.#lastMs !== undefined) this.#ms += Math.min(nowMs - this.#lastMs, MAX_STEP_MS);
    this.#lastMs = nowMs;
    return this.#ms;
  }

  get ms(): number {
    return this.#ms;
  }
}
