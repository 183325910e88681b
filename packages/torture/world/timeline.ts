/**
 * True time of the world, and everything that will happen. After each event, all that its code has left to
 * the engine (promises) happens before the next event: `settle` of the host waits for that. So the order of
 * events depends on nothing but the seed.
 */
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import type { Random, Timeline } from "./contract.ts";

export class WorldTimeline implements Timeline {
  nowUs = 0;
  readonly random: Random;
  /** Events that have happened. */
  count = 0;
  readonly #heap = new EventHeap();
  /** Calls by place, each in an object of its own, so that a cancel can never hit a later one. */
  readonly #calls: ({ readonly call: () => void } | undefined)[] = [];
  readonly #free: number[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  at(atUs: number, call: () => void): () => void {
    const id = this.#free.pop() ?? this.#calls.length;
    const event = { call };
    this.#calls[id] = event;
    this.#heap.push(Math.max(this.nowUs, Math.ceil(atUs)), id);
    return () => {
      if (this.#calls[id] === event) this.#calls[id] = undefined;
    };
  }

  /** When the next event happens; Infinity: nothing will. Cancelled ones count. */
  get nextUs(): number {
    return this.#heap.nextTime();
  }

  /** Lets the next event happen. @returns false if there is none at or before that instant */
  step(untilUs: number): boolean {
    for (;;) {
      const atUs = this.#heap.nextTime();
      if (atUs > untilUs) return false;
      const id = this.#heap.pop();
      const event = this.#calls[id];
      this.#calls[id] = undefined;
      this.#free.push(id);
      if (event === undefined) continue;
      this.nowUs = atUs;
      this.count++;
      event.call();
      return true;
    }
  }

  /**
   * Lets everything happen until that instant.
   * @param settle returns when no promise has anything left to do
   */
  async run(untilUs: number, settle: () => Promise<void>): Promise<void> {
    while (this.step(untilUs)) await settle();
    this.nowUs = Math.max(this.nowUs, untilUs);
  }
}
