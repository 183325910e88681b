/**
 * Implements a priority queue of events in a total order: by time, then in the order in which they were
 * pushed. It is a 4-ary heap over parallel typed arrays, which is half as deep as a binary heap and has four
 * siblings in one cache line.
 */
import { assert } from "../core/errors.ts";

export class EventHeap {
  /** Number of events in the heap. */
  length = 0;
  #times = new Float64Array(64);
  #sequences = new Float64Array(64);
  #ids = new Int32Array(64);
  #pushed = 0;

  /** Time of the next event; Infinity if there is none. */
  nextTime(): number {
    return this.length === 0 ? Number.POSITIVE_INFINITY : this.#times[0];
  }

  /** Id of the next event; undefined if there is none. */
  nextId(): number | undefined {
    return this.length === 0 ? undefined : this.#ids[0];
  }

  /** Throws RangeError for a NaN time, which would silently corrupt the order. */
  push(time: number, id: number): void {
    if (Number.isNaN(time))
      throw new RangeError(`Cannot schedule event ${id}: its time is NaN, expected a number`);
    if (this.length === this.#times.length) this.#grow();
    const times = this.#times;
    const sequences = this.#sequences;
    const ids = this.#ids;
    let at = this.length++;
    // The new event has the largest sequence number, so it moves up only past later times.
    while (at > 0) {
      const parent = (at - 1) >> 2;
      if (times[parent] <= time) break;
      times[at] = times[parent];
      sequences[at] = sequences[parent];
      ids[at] = ids[parent];
      at = parent;
    }
    times[at] = time;
    sequences[at] = this.#pushed++;
    ids[at] = id;
  }

  /** Time of an event in the heap. Takes linear time. */
  timeOf(id: number): number {
    return this.#times[this.#ids.indexOf(id)];
  }

  /**
   * Removes an event by its id and returns its time; linear in the events. Throws if the event is not in the
   * heap.
   */
  remove(id: number): number {
    const at = this.#ids.indexOf(id);
    if (at < 0 || at >= this.length) throw new RangeError(`Cannot remove event ${id}: it is not in the heap`);
    const time = this.#times[at];
    // Made earlier than all others, it moves to the top.
    let hole = at;
    for (; hole > 0; hole = (hole - 1) >> 2) {
      const parent = (hole - 1) >> 2;
      this.#times[hole] = this.#times[parent];
      this.#sequences[hole] = this.#sequences[parent];
      this.#ids[hole] = this.#ids[parent];
    }
    this.pop();
    return time;
  }

  /** Removes the next event and returns its id. Throws if the heap is empty. */
  pop(): number {
    if (this.length === 0) throw new RangeError("Cannot pop an event: the heap is empty");
    const times = this.#times;
    const sequences = this.#sequences;
    const ids = this.#ids;
    const popped = ids[0];
    const last = --this.length;
    const time = times[last];
    const sequence = sequences[last];
    let at = 0;
    for (;;) {
      const child = 4 * at + 1;
      if (child >= last) break;
      const end = Math.min(child + 4, last);
      let best = child;
      let bestTime = times[child];
      for (let c = child + 1; c < end; c++) {
        const t = times[c];
        if (t < bestTime || (t === bestTime && sequences[c] < sequences[best])) {
          best = c;
          bestTime = t;
        }
      }
      if (bestTime > time || (bestTime === time && sequences[best] > sequence)) break;
      times[at] = bestTime;
      sequences[at] = sequences[best];
      ids[at] = ids[best];
      at = best;
    }
    times[at] = time;
    sequences[at] = sequence;
    ids[at] = ids[last];
    return popped;
  }

  clear(): void {
    this.length = 0;
    this.#pushed = 0;
  }

  /** Throws if a parent comes after one of its children. */
  audit(): void {
    AUDIT: {
      for (let at = 1; at < this.length; at++) {
        const parent = (at - 1) >> 2;
        const inOrder =
          this.#times[parent] < this.#times[at] ||
          (this.#times[parent] === this.#times[at] && this.#sequences[parent] < this.#sequences[at]);
        assert(inOrder, `heap entry ${at} comes before its parent`);
      }
    }
  }

  #grow(): void {
    const capacity = 2 * this.#times.length;
    const times = new Float64Array(capacity);
    const sequences = new Float64Array(capacity);
    const ids = new Int32Array(capacity);
    times.set(this.#times);
    sequences.set(this.#sequences);
    ids.set(this.#ids);
    this.#times = times;
    this.#sequences = sequences;
    this.#ids = ids;
  }
}
