import type { Policy } from "../core/policy.ts";

export interface TimedEvent<Machine> {
  readonly timeS: number;
  /** Order at one instant. */
  readonly rank: number;
  happen(machine: Machine, policy: Policy): void;
}

/** Keeps events in order of time, so that a clock can apply them to its machine and its policy. */
export class TimedEvents<Machine> {
  /** Time of the next event; Infinity if there are no more. */
  nextS = Number.POSITIVE_INFINITY;
  readonly #events: readonly TimedEvent<Machine>[];
  #next = 0;

  constructor(events: readonly TimedEvent<Machine>[]) {
    this.#events = events
      .filter(({ timeS }) => timeS < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.timeS - b.timeS || a.rank - b.rank);
    this.#findNext();
  }

  /** Applies all events that are due. */
  happen(nowS: number, machine: Machine, policy: Policy): void {
    while (this.nextS <= nowS) {
      this.#events[this.#next++].happen(machine, policy);
      this.#findNext();
    }
  }

  #findNext(): void {
    this.nextS = this.#next < this.#events.length ? this.#events[this.#next].timeS : Number.POSITIVE_INFINITY;
  }
}
