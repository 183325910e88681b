/**
 * Summarizes a sequence of blocks in a segment tree: the smallest size, the smallest value and the sum of
 * sizes of each subtree. OrderedJobs uses it to find a block without scanning the others.
 *
 *   node 1                 [0 … 3]
 *   nodes 2, 3       [0 1]        [2 3]
 *   leaves 4 … 7    [0]  [1]     [2]  [3]        the leaf of position p is node `leaves + p`
 *
 * Leaves after the last block are neutral: no size, no value, sum 0.
 */
import { assert } from "../core/errors.ts";

/** Smallest size of an empty block. */
export const NO_SIZE = 0x7fffffff;

export class SummaryTree {
  /** Set by `positionOfSum`: the sum of the sizes before the position found. */
  sumBefore = 0;

  #leaves = 1;
  #minSize = new Int32Array(2).fill(NO_SIZE);
  #minValue = new Float64Array(2).fill(Number.POSITIVE_INFINITY);
  #sumSize = new Float64Array(2);

  total(): number {
    return this.#sumSize[1];
  }

  /** Adds an entry to the summaries of its block. */
  add(position: number, size: number, value: number): void {
    for (let node = this.#leaves + position; node >= 1; node >>= 1) {
      this.#sumSize[node] += size;
      if (size < this.#minSize[node]) this.#minSize[node] = size;
      if (value < this.#minValue[node]) this.#minValue[node] = value;
    }
  }

  /** Removes an entry that has neither the smallest size nor the smallest value of its block. */
  subtract(position: number, size: number): void {
    for (let node = this.#leaves + position; node >= 1; node >>= 1) this.#sumSize[node] -= size;
  }

  /**
   * Whether the size or the value is the smallest of the block, so that the block must be scanned after a
   * removal.
   */
  isSmallest(position: number, size: number, value: number): boolean {
    const leaf = this.#leaves + position;
    return size === this.#minSize[leaf] || value === this.#minValue[leaf];
  }

  /** Sets the summary of one block; call `update` or `updateFrom` afterwards. */
  set(position: number, minSize: number, minValue: number, sumSize: number): void {
    const leaf = this.#leaves + position;
    this.#minSize[leaf] = minSize;
    this.#minValue[leaf] = minValue;
    this.#sumSize[leaf] = sumSize;
  }

  /** Updates the nodes above one block. */
  update(position: number): void {
    for (let node = (this.#leaves + position) >> 1; node >= 1; node >>= 1) this.#summarise(node);
  }

  /**
   * Updates all nodes above the blocks from a position on.
   * @param end one past the last leaf that may have changed
   */
  updateFrom(position: number, end: number): void {
    let from = (this.#leaves + position) >> 1;
    let to = (this.#leaves + Math.min(end, this.#leaves) - 1) >> 1;
    for (; from >= 1; from >>= 1, to >>= 1) {
      for (let node = from; node <= to; node++) this.#summarise(node);
    }
  }

  /** Makes room for an empty block at a position; `count` blocks were there before. */
  insert(position: number, count: number): void {
    if (count === this.#leaves) this.#grow();
    if (position === count) return; // after the last block, every leaf is neutral
    const leaf = this.#leaves + position;
    const end = this.#leaves + count;
    this.#minSize.copyWithin(leaf + 1, leaf, end);
    this.#minValue.copyWithin(leaf + 1, leaf, end);
    this.#sumSize.copyWithin(leaf + 1, leaf, end);
    this.set(position, NO_SIZE, Number.POSITIVE_INFINITY, 0);
    this.updateFrom(position, count + 1);
  }

  /** Removes the block at a position; `count` blocks were there before. */
  delete(position: number, count: number): void {
    const leaf = this.#leaves + position;
    const end = this.#leaves + count;
    this.#minSize.copyWithin(leaf, leaf + 1, end);
    this.#minValue.copyWithin(leaf, leaf + 1, end);
    this.#sumSize.copyWithin(leaf, leaf + 1, end);
    this.set(count - 1, NO_SIZE, Number.POSITIVE_INFINITY, 0);
    this.updateFrom(position, count);
  }

  /**
   * Whether the block may hold a job with size ≤ free, and with value ≤ maxValue or size ≤ either (at most
   * `free`).
   */
  promises(position: number, free: number, maxValue: number, either: number): boolean {
    const leaf = this.#leaves + position;
    return this.#minSize[leaf] <= free && (this.#minValue[leaf] <= maxValue || this.#minSize[leaf] <= either);
  }

  /** Position of the next block after `position` for which `promises` holds; −1 if there is none. */
  nextPromising(position: number, free: number, maxValue: number, either: number): number {
    const minSize = this.#minSize;
    const minValue = this.#minValue;
    const leaves = this.#leaves;
    let node = leaves + position;
    for (;;) {
      // Go to the next subtree on the right. Smallest size and value may come from different jobs, so a
      // descent can fail.
      while (node & 1) node >>= 1;
      if (node === 0) return -1;
      node++;
      if (minSize[node] > free || (minValue[node] > maxValue && minSize[node] > either)) continue;
      while (node < leaves) {
        const left = node << 1;
        const right = left + 1;
        if (minSize[left] <= free && (minValue[left] <= maxValue || minSize[left] <= either)) node = left;
        else if (minSize[right] <= free && (minValue[right] <= maxValue || minSize[right] <= either))
          node = right;
        else break;
      }
      if (node >= leaves) return node - leaves;
    }
  }

  /**
   * Position of the block in which the sum of sizes from the front reaches `need`, which must not exceed the
   * total. Sets `sumBefore`.
   */
  positionOfSum(need: number): number {
    let sum = 0;
    let node = 1;
    while (node < this.#leaves) {
      node <<= 1;
      if (sum + this.#sumSize[node] < need) {
        sum += this.#sumSize[node];
        node++;
      }
    }
    this.sumBefore = sum;
    return node - this.#leaves;
  }

  clear(): void {
    this.#minSize.fill(NO_SIZE);
    this.#minValue.fill(Number.POSITIVE_INFINITY);
    this.#sumSize.fill(0);
  }

  /**
   * Throws if a node disagrees with its children, or a leaf with the given summary; smallest ones only on
   * request.
   */
  audit(leaves: readonly { minSize: number; minValue: number; sumSize: number }[], smallest: boolean): void {
    AUDIT: {
      for (let position = 0; position < this.#leaves; position++) {
        const leaf = this.#leaves + position;
        const real = leaves[position] ?? { minSize: NO_SIZE, minValue: Number.POSITIVE_INFINITY, sumSize: 0 };
        assert(this.#sumSize[leaf] === real.sumSize, `sum of block ${position} is stale`);
        if (!smallest) continue;
        assert(this.#minSize[leaf] === real.minSize, `smallest size of block ${position} is stale`);
        assert(this.#minValue[leaf] === real.minValue, `smallest value of block ${position} is stale`);
      }
      for (let node = this.#leaves - 1; node >= 1; node--) {
        const [left, right] = [2 * node, 2 * node + 1];
        assert(
          this.#sumSize[node] === this.#sumSize[left] + this.#sumSize[right],
          `sum of tree node ${node} is stale`,
        );
        if (!smallest) continue;
        const minSize = Math.min(this.#minSize[left], this.#minSize[right]);
        const minValue = Math.min(this.#minValue[left], this.#minValue[right]);
        assert(
          this.#minSize[node] === minSize && this.#minValue[node] === minValue,
          `tree node ${node} is stale`,
        );
      }
    }
  }

  #summarise(node: number): void {
    const left = 2 * node;
    this.#minSize[node] = Math.min(this.#minSize[left], this.#minSize[left + 1]);
    this.#minValue[node] = Math.min(this.#minValue[left], this.#minValue[left + 1]);
    this.#sumSize[node] = this.#sumSize[left] + this.#sumSize[left + 1];
  }

  #grow(): void {
    const leaves = this.#leaves;
    const minSize = new Int32Array(4 * leaves).fill(NO_SIZE);
    const minValue = new Float64Array(4 * leaves).fill(Number.POSITIVE_INFINITY);
    const sumSize = new Float64Array(4 * leaves);
    minSize.set(this.#minSize.subarray(leaves), 2 * leaves);
    minValue.set(this.#minValue.subarray(leaves), 2 * leaves);
    sumSize.set(this.#sumSize.subarray(leaves), 2 * leaves);
    this.#minSize = minSize;
    this.#minValue = minValue;
    this.#sumSize = sumSize;
    this.#leaves = 2 * leaves;
    this.updateFrom(0, leaves);
  }
}
