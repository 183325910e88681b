/**
 * Stores one number per processor, such as memory in use, with two operations: add to a range, and find the
 * maximum of a range.
 *
 *   root            7 +0
 *              5 +2      6 +0
 *             3   5     6   1
 *
 * A node has the maximum of the numbers below it, without additions above it. An addition +x applies to
 * everything below the node and stays at the node. Both operations take time proportional to the height of
 * the tree.
 */
import { assert } from "../core/errors.ts";

export class RangeMax {
  readonly processors: number;
  readonly #leaves: number;
  // In heap order from 1. Leaves after the last processor stay at −Infinity.
  readonly #most: Float64Array;
  readonly #added: Float64Array;

  /** All numbers are 0 at first. @param processors 1 … 2^24 */
  constructor(processors: number) {
    this.processors = processors;
    let leaves = 1;
    while (leaves < processors) leaves *= 2;
    this.#leaves = leaves;
    this.#most = new Float64Array(2 * leaves).fill(Number.NEGATIVE_INFINITY);
    this.#added = new Float64Array(2 * leaves);
    this.#most.fill(0, leaves, leaves + processors);
    for (let node = leaves - 1; node >= 1; node--)
      this.#most[node] = Math.max(this.#most[2 * node], this.#most[2 * node + 1]);
  }

  /** Adds to processors first … end − 1. Integers stay exact up to 2^53. */
  add(first: number, end: number, delta: number): void {
    assert(first >= 0 && first <= end && end <= this.processors, `processors ${first} to ${end - 1} exist`);
    if (first < end) this.#add(1, 0, this.#leaves, first, end, delta);
  }

  /** The maximum over processors first … end − 1; −Infinity for an empty range. */
  max(first: number, end: number): number {
    return first < end ? this.#max(1, 0, this.#leaves, first, end) : Number.NEGATIVE_INFINITY;
  }

  #add(node: number, low: number, high: number, first: number, end: number, delta: number): void {
    if (first <= low && end >= high) {
      this.#most[node] += delta;
      this.#added[node] += delta;
      return;
    }
    const middle = (low + high) >> 1;
    if (first < middle) this.#add(2 * node, low, middle, first, end, delta);
    if (end > middle) this.#add(2 * node + 1, middle, high, first, end, delta);
    this.#most[node] = Math.max(this.#most[2 * node], this.#most[2 * node + 1]) + this.#added[node];
  }

  #max(node: number, low: number, high: number, first: number, end: number): number {
    if (first <= low && end >= high) return this.#most[node];
    const middle = (low + high) >> 1;
    let most = Number.NEGATIVE_INFINITY;
    if (first < middle) most = this.#max(2 * node, low, middle, first, end);
    if (end > middle) most = Math.max(most, this.#max(2 * node + 1, middle, high, first, end));
    return most + this.#added[node];
  }
}
