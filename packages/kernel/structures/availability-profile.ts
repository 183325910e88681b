/**
 * Keeps the availability profile: the number of free processors at each future instant, given what is running
 * and what is reserved. It is a step function, stored as two sorted arrays.
 *
 *   free  4│        ┌──────
 *         2│  ┌─────┘             atS   [0, 5, 12]
 *         0└──┘                   free  [0, 2, 4]
 *          0  5     12    time
 *
 * Finding a segment takes O(log n). Changing one takes O(n) in the worst case, because all segments before or
 * after it move, whichever are fewer.
 */
import { assert } from "../core/errors.ts";

/** Up to this many segments, a loop moves them faster than copyWithin. */
const SHORT = 64;

export class AvailabilityProfile {
  readonly processors: number;
  // Segments #begin … #end − 1: #free[i] processors from #atS[i] to #atS[i + 1], the last one forever.
  #atS = new Float64Array(64);
  #free = new Int32Array(64);
  #begin = 0;
  #end = 1;

  /** All processors are free from −∞ on. */
  constructor(processors: number) {
    this.processors = processors;
    this.#atS[0] = Number.NEGATIVE_INFINITY;
    this.#free[0] = processors;
  }

  /** Forgets everything before an instant. Earlier instants must not be used again. */
  forgetBefore(timeS: number): void {
    while (this.#begin + 1 < this.#end && this.#atS[this.#begin + 1] <= timeS) this.#begin++;
  }

  freeAt(timeS: number): number {
    return this.#free[this.#segmentAt(timeS)];
  }

  /** Largest number of free processors at any instant of [startS, endS); 0 for an empty interval. */
  maxFree(startS: number, endS: number): number {
    let most = 0;
    if (!(startS < endS)) return most;
    for (
      let i = this.#segmentAt(startS);
      i < this.#end && (this.#atS[i] < endS || this.#atS[i] <= startS);
      i++
    ) {
      if (this.#free[i] > most) most = this.#free[i];
    }
    return most;
  }

  /** Takes `size` processors from startS to endS. Throws if they are not free. */
  reserve(startS: number, endS: number, size: number): void {
    this.#change(startS, endS, -size);
  }

  /** Gives back `size` processors from startS to endS. Throws if more would be free than the machine has. */
  release(startS: number, endS: number, size: number): void {
    this.#change(startS, endS, size);
  }

  /**
   * Takes `size` processors even if they are not free, so the number of free ones may become negative. A
   * negative size gives them back.
   */
  block(startS: number, endS: number, size: number): void {
    this.#change(startS, endS, -size, Number.NEGATIVE_INFINITY);
  }

  /**
   * Earliest start at or after `fromS` from which `size` processors, at most all, are free for `durationS`.
   */
  earliest(size: number, durationS: number, fromS: number): number {
    return this.earlier(size, durationS, fromS, Number.POSITIVE_INFINITY);
  }

  /**
   * Earliest start at or after `fromS` for a job that holds a reservation from `heldS` on, or `heldS` if no
   * earlier start is possible. The job's own reservation counts as free, so it suffices that `size`
   * processors are free until `heldS`.
   * @param beforeS starts from then on are known to be impossible
   */
  earlier(size: number, durationS: number, fromS: number, heldS: number, beforeS = heldS): number {
    const atS = this.#atS;
    const free = this.#free;
    const end = this.#end;
    const limitS = Math.min(heldS, beforeS);
    if (fromS >= limitS) return heldS;
    let candidateS = fromS;
    for (let i = this.#segmentAt(fromS); i < end; i++) {
      const untilS = i + 1 < end ? atS[i + 1] : Number.POSITIVE_INFINITY;
      if (free[i] < size) {
        candidateS = untilS;
        if (candidateS >= limitS) return heldS;
      } else if (untilS >= candidateS + durationS || untilS >= heldS) return candidateS;
    }
    return heldS;
  }

  /** Start of the segment that contains the instant, but not before `fromS`. */
  segmentStart(timeS: number, fromS: number): number {
    return timeS <= fromS ? fromS : Math.max(this.#atS[this.#segmentAt(timeS)], fromS);
  }

  /** The steps as [time, free] pairs, for tests and pictures. */
  steps(): [number, number][] {
    const steps: [number, number][] = [];
    for (let i = this.#begin; i < this.#end; i++) steps.push([this.#atS[i], this.#free[i]]);
    return steps;
  }

  audit(): void {
    AUDIT: {
      for (let i = this.#begin; i < this.#end; i++) {
        assert(
          this.#free[i] >= 0 && this.#free[i] <= this.processors,
          `segment ${i} has ${this.#free[i]} free processors`,
        );
        if (i === this.#begin) continue;
        assert(this.#atS[i - 1] < this.#atS[i], `segment ${i} does not begin after the one before`);
        assert(this.#free[i - 1] !== this.#free[i], `segment ${i} repeats the one before`);
      }
      assert(this.#free[this.#end - 1] === this.processors, "not all processors are free in the end");
    }
  }

  #change(startS: number, endS: number, by: number, least = 0): void {
    if (!(startS < endS)) return;
    const before = this.#segmentAt(startS);
    const next = before + 1;
    if (this.#atS[next] === endS && next < this.#end && this.#atS[before] < startS) {
      if (this.#free[next] === this.#free[before] + by) {
        // It only begins earlier, as when a reservation moves by less than its length.
        this.#atS[next] = startS;
        return;
      }
    }
    if (this.#end + 2 > this.#atS.length) this.#makeRoom(); // for both cuts, since it moves the segments
    let first = this.#cut(startS);
    let last = first;
    for (; last < this.#end && this.#atS[last] < endS; last++) {
      const free = this.#free[last] + by;
      if (by > 0 ? free > this.processors : free < least) this.#refuse(free, this.#atS[last]);
      this.#free[last] = free;
    }
    if (last === this.#end || this.#atS[last] !== endS) {
      const begin = this.#begin;
      last = this.#insert(last, endS, this.#free[last - 1] - by);
      first += this.#begin - begin;
    }
    const begin = this.#begin;
    this.#mergeAt(last);
    first += this.#begin - begin;
    this.#mergeAt(first);
  }

  #refuse(free: number, atS: number): never {
    throw new Error(`Broken invariant: profile would have ${free} of ${this.processors} free at ${atS} s`);
  }

  /** Last segment that begins at or before the instant. */
  #segmentAt(timeS: number): number {
    let low = this.#begin;
    let high = this.#end - 1;
    if (low === high || timeS < this.#atS[low + 1]) return low;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#atS[middle] <= timeS) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes a segment begin at the instant and returns its index. */
  #cut(timeS: number): number {
    const at = this.#segmentAt(timeS);
    return this.#atS[at] === timeS ? at : this.#insert(at + 1, timeS, this.#free[at]);
  }

  /** Inserts a segment before segment i and returns its index. */
  #insert(i: number, atS: number, free: number): number {
    if (this.#begin > 0 && i - this.#begin < this.#end - i) {
      this.#move(this.#begin, i, -1);
      this.#begin--;
      i--;
    } else {
      this.#move(i, this.#end, 1);
      this.#end++;
    }
    this.#atS[i] = atS;
    this.#free[i] = free;
    return i;
  }

  /** Merges a segment into the previous one if both have the same number of free processors. */
  #mergeAt(i: number): void {
    if (i <= this.#begin || i >= this.#end || this.#free[i] !== this.#free[i - 1]) return;
    if (i - this.#begin < this.#end - i) {
      this.#move(this.#begin, i, 1);
      this.#begin++;
    } else {
      this.#move(i + 1, this.#end, -1);
      this.#end--;
    }
  }

  /** Moves the segments from … until − 1 by one place, back (1) or forth (−1). */
  #move(from: number, until: number, by: 1 | -1): void {
    const atS = this.#atS;
    const free = this.#free;
    if (until - from > SHORT) {
      atS.copyWithin(from + by, from, until);
      free.copyWithin(from + by, from, until);
    } else if (by > 0) {
      for (let i = until; i > from; i--) {
        atS[i] = atS[i - 1];
        free[i] = free[i - 1];
      }
    } else {
      for (let i = from; i < until; i++) {
        atS[i - 1] = atS[i];
        free[i - 1] = free[i];
      }
    }
  }

  /** Moves the segments to the front of the arrays, or of larger arrays if they fill more than half. */
  #makeRoom(): void {
    const count = this.#end - this.#begin;
    const capacity = 2 * count > this.#atS.length ? 2 * this.#atS.length : this.#atS.length;
    const atS = new Float64Array(capacity);
    const free = new Int32Array(capacity);
    atS.set(this.#atS.subarray(this.#begin, this.#end));
    free.set(this.#free.subarray(this.#begin, this.#end));
    this.#atS = atS;
    this.#free = free;
    this.#begin = 0;
    this.#end = count;
  }
}
