/** Time spent in a condition, as far as the conductor was there to see it. */

/** A longer pause between two looks means that we were stopped or very late: it counts as this much. */
const MAX_STEP_MS = 250;

/** Adds up the time between looks at which a condition held. It stands still while the conductor or the machine does. */
export class SeenTime {
  #ms = 0;
  #lastMs: number | undefined;

  /** @returns the sum in ms, after one more look */
  see(nowMs: number, holds: boolean): number {
    if (holds && this.#lastMs !== undefined) this.#ms += Math.min(nowMs - this.#lastMs, MAX_STEP_MS);
    this.#lastMs = nowMs;
    return this.#ms;
  }

  get ms(): number {
    return this.#ms;
  }
}
