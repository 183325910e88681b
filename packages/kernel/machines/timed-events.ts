import type { Policy } from "../core/policy.ts";

export interface TimedEvent<Machine, ToldPolicy = Policy> {
  readonly timeS: number;
  /** Order at one instant. */
  readonly rank: number;
  happen(machine: Machine, policy: ToldPolicy): void;
}

/** Keeps events in order of time, so that a clock can apply them to its machine and its policy. */
export class TimedEvents<Machine, ToldPolicy = Policy> {
  /** Time of the next event; Infinity if there are no more. */
  nextS = Number.POSITIVE_INFINITY;
  readonly #events: readonly TimedEvent<Machine, ToldPolicy>[];
  #next = 0;

  constructor(events: readonly TimedEvent<Machine, ToldPolicy>[]) {
    this.#events = events
      .filter(({ timeS }) => timeS < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.timeS - b.timeS || a.rank - b.rank);
    this.#findNext();
  }

  /** Applies all events that are due. */
  happen(nowS: number, machine: Machine, policy: ToldPolicy): void {
    while (this.nextS <= nowS) {
      this.#events[this.#next++].happen(machine, policy);
      this.#findNext();
    }
  }

  #findNext(): void {
    this.nextS = this.#next < this.#events.length ? this.#events[this.#next].timeS : Number.POSITIVE_INFINITY;
  }
}
