/**
 * Maintains the workload vector of Zhou, Brent, Johnson and Walsh 1999, section 4: the number of idle slots
 * of every processor, and the least loaded window of a job's size.
 *
 *   processor   0 1 2 3 4 5 6 7        kept as segments of equal values       0 | 1 | 2     | 3
 *   idle        0 0 1 2 2 2 2 3                                               0   2   3       7
 *
 * A window is available if none of its processors is 0, because its fragments can then be gathered in one
 * row. The more idle slots a window has, the less loaded it is. While a window slides, its sum is linear,
 * with bends only where one of its ends passes from one segment to the next. So the search looks only at the
 * bends, and takes time proportional to the number of segments, at most min(processors, 2 × jobs + 1). A
 * change takes time proportional to the segments in its range, and moves the segments after it.
 *
 * Windows may wrap around to the machine's front (a ring): processor x and x − processors are the same.
 */
import { assert } from "../../core/errors.ts";
import { doubled } from "../grow.ts";

export class WorkloadVector {
  readonly processors: number;
  /** Added to every value. */
  #everywhere = 0;
  #first = new Int32Array(16);
  #value = new Int32Array(16);
  #count = 1;
  // The best window of the present search.
  #best = 0;
  #bestAt = -1;

  /** A vector without idle slots. @param processors 1 or more */
  constructor(processors: number) {
    this.processors = processors;
  }

  /** Number of segments, for measurements. */
  get segments(): number {
    return this.#count;
  }

  /** Idle slots of a processor. */
  at(processor: number): number {
    return this.#value[this.#find(processor)] + this.#everywhere;
  }

  /** Writes the idle slots of every processor. */
  copyTo(out: Int32Array): void {
    for (let k = 0; k < this.#count; k++) {
      const end = k + 1 < this.#count ? this.#first[k + 1] : this.processors;
      out.fill(this.#value[k] + this.#everywhere, this.#first[k], end);
    }
  }

  /** Adds `delta` idle slots to every processor. */
  addEverywhere(delta: number): void {
    this.#everywhere += delta;
  }

  /**
   * Adds `delta` idle slots to `size` processors from `first` on, wrapping around if they pass the machine's
   * end.
   */
  add(first: number, size: number, delta: number): void {
    const end = first + size;
    this.#add(first, Math.min(end, this.processors), delta);
    if (end > this.processors) this.#add(0, end - this.processors, delta);
  }

  /**
   * Minimum number of idle slots over `size` (1 or more) processors from `first` on, wrapping around if
   * needed.
   */
  least(first: number, size: number): number {
    const end = first + size;
    const least = this.#least(first, Math.min(end, this.processors));
    return end > this.processors ? Math.min(least, this.#least(0, end - this.processors)) : least;
  }

  /**
   * First processor of the window of `size` processors within from … end − 1 that has the most idle slots and
   * no processor with 0 (ties: the leftmost); −1 if there is none.
   *
   * @param from 0 … processors − 1
   * @param end up to 2 × processors; a window may pass the machine's end if this does
   */
  leastLoadedWindow(size: number, from: number, end: number): number {
    this.#close(end > this.processors);
    const first = this.#first;
    const value = this.#value;
    // Values that mean 0 idle slots.
    const none = -this.#everywhere;
    this.#best = 0;
    this.#bestAt = -1;
    for (let k = this.#find(from); first[k] < end; ) {
      if (value[k] <= none) {
        k++;
        continue;
      }
      // A stretch of segments above 0: k … next − 1.
      let next = k + 1;
      while (first[next] < end && value[next] > none) next++;
      const begin = Math.max(from, first[k]);
      if (Math.min(end, first[next]) - begin >= size) this.#slide(k, begin, Math.min(end, first[next]), size);
      k = next;
    }
    return this.#bestAt;
  }

  /**
   * Writes, after the last segment, where it ends, and for a ring all segments once more, shifted by
   * `processors`.
   */
  #close(isRing: boolean): void {
    const count = this.#count;
    while (this.#first.length < 2 * count + 1) {
      this.#first = doubled(this.#first);
      this.#value = doubled(this.#value);
    }
    this.#first[count] = this.processors;
    if (!isRing) return;
    for (let k = 0; k < count; k++) this.#first[count + k] = this.#first[k] + this.processors;
    this.#value.copyWithin(count, 0, count);
    this.#first[2 * count] = 2 * this.processors;
  }

  /**
   * Slides a window through the stretch begin … end − 1, which begins in segment k, and keeps the best
   * window.
   */
  #slide(k: number, begin: number, end: number, size: number): void {
    const first = this.#first;
    const value = this.#value;
    let sum = size * this.#everywhere;
    let right = k;
    for (let at = begin; at < begin + size; right++) {
      const segmentEnd = Math.min(first[right + 1], begin + size);
      sum += (segmentEnd - at) * value[right];
      at = segmentEnd;
    }
    // The segment of the processor after the window.
    if (first[right] > begin + size) right--;
    let left = k;
    const lastAt = end - size;
    for (let at = begin; ; ) {
      if (sum > this.#best) {
        this.#best = sum;
        this.#bestAt = at;
      }
      if (at >= lastAt) return;
      const step = Math.min(first[left + 1] - at, first[right + 1] - at - size, lastAt - at);
      sum += step * (value[right] - value[left]);
      at += step;
      if (at === first[left + 1]) left++;
      if (at + size === first[right + 1]) right++;
    }
  }

  #least(first: number, end: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let k = this.#find(first); k < this.#count && this.#first[k] < end; k++)
      if (this.#value[k] < least) least = this.#value[k];
    return least + this.#everywhere;
  }

  #add(first: number, end: number, delta: number): void {
    if (first >= end || delta === 0) return;
    const from = this.#split(first);
    const to = end < this.processors ? this.#split(end) : this.#count;
    for (let k = from; k < to; k++) {
      this.#value[k] += delta;
      assert(this.#value[k] + this.#everywhere >= 0, "a processor has no fewer than 0 idle slots");
    }
    if (to < this.#count) this.#joinWithPrevious(to);
    this.#joinWithPrevious(from);
  }

  /** Segment that contains the processor. */
  #find(processor: number): number {
    let low = 0;
    let high = this.#count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#first[middle] <= processor) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Segment that begins at the processor; splits a segment if needed. */
  #split(processor: number): number {
    const k = this.#find(processor);
    if (this.#first[k] === processor) return k;
    if (this.#count === this.#first.length) {
      this.#first = doubled(this.#first);
      this.#value = doubled(this.#value);
    }
    this.#first.copyWithin(k + 2, k + 1, this.#count);
    this.#value.copyWithin(k + 1, k, this.#count);
    this.#first[k + 1] = processor;
    this.#count++;
    return k + 1;
  }

  #joinWithPrevious(k: number): void {
    if (k === 0 || this.#value[k] !== this.#value[k - 1]) return;
    this.#first.copyWithin(k, k + 1, this.#count);
    this.#value.copyWithin(k, k + 1, this.#count);
    this.#count--;
  }
}
