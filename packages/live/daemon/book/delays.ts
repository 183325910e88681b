/**
 * Keeps which jobs must not start before a time: for their begin, or for their next attempt. Times are Unix
 * times, because people set them, and because they must hold after a reboot.
 */

import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";

/** Entries of the heap, per job and in addition, from which on it is cleared of entries that are void. */
const MOST_PER_JOB = 2;
const SPARE = 64;

export class Delays {
  readonly #untilMs = new Map<JobNumber, number>();
  /** Each delay, and perhaps some of the past, which are void: jobs are not removed from it. */
  readonly #heap = new EventHeap();

  enter({ job, notBeforeMs }: Pick<JobRecord, "job" | "notBeforeMs">): void {
    if (notBeforeMs === undefined) return;
    this.#untilMs.set(job, notBeforeMs);
    this.#heap.push(notBeforeMs, job);
    if (this.#heap.length > MOST_PER_JOB * this.#untilMs.size + SPARE) this.#rebuild();
  }

  leave({ job }: Pick<JobRecord, "job">): void {
    this.#untilMs.delete(job);
  }

  jobs(): IterableIterator<JobNumber> {
    return this.#untilMs.keys();
  }

  /** Unix time at which the next delay ends; Infinity: there is none. */
  nextMs(): number {
    this.#dropVoid();
    return this.#heap.nextTime();
  }

  /**
   * Takes the jobs whose delay has ended, the earliest first, at most `most`. The caller must change each of
   * them, so that they wait no longer.
   */
  takeDue(unixMs: number, most: number): JobNumber[] {
    const due = new Map<JobNumber, number>();
    while (due.size < most && this.nextMs() <= unixMs) {
      const atMs = this.nextMs();
      due.set(this.#heap.pop(), atMs);
    }
    return [...due].sort(([a, aMs], [b, bMs]) => aMs - bMs || a - b).map(([job]) => job);
  }

  #dropVoid(): void {
    for (let job = this.#heap.nextId(); job !== undefined; job = this.#heap.nextId()) {
      if (this.#untilMs.get(job) === this.#heap.nextTime()) return;
      this.#heap.pop();
    }
  }

  #rebuild(): void {
    this.#heap.clear();
    for (const [job, untilMs] of this.#untilMs) this.#heap.push(untilMs, job);
  }
}
