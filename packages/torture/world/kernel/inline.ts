/**
 * Time of processes that somebody waits for without letting anything else happen, as `spawnSync` does: they
 * run to their end at one instant of the world, in an order of their own.
 */
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";

export class Inline {
  #nowUs = 0;
  readonly #heap = new EventHeap();
  readonly #calls: ((() => void) | undefined)[] = [];

  after(us: number, call: () => void): () => void {
    const id = this.#calls.push(call) - 1;
    this.#heap.push(this.#nowUs + us, id);
    return () => {
      this.#calls[id] = undefined;
    };
  }

  /** Goes on until that is so; false if it takes longer, or if nothing is left to happen. */
  run(isDone: () => boolean, maxUs: number): boolean {
    while (!isDone()) {
      const nextUs = this.#heap.nextTime();
      if (nextUs > maxUs) return false;
      this.#nowUs = nextUs;
      const id = this.#heap.pop();
      const call = this.#calls[id];
      this.#calls[id] = undefined;
      call?.();
    }
    return true;
  }

  /** What has not happened happens in the time of the world. */
  leave(after: (us: number, call: () => void) => void): void {
    while (this.#heap.length > 0) {
      const us = this.#heap.nextTime() - this.#nowUs;
      const id = this.#heap.pop();
      if (this.#calls[id] !== undefined) after(us, () => this.#calls[id]?.());
    }
  }
}
