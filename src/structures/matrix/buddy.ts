/**
 * Buddy blocks: 2^level processors, aligned to a multiple of their length (Peterson and Norman 1977).
 *
 *   level 2  [        0        |        1     ···
 *   level 1  [   0    |   1    |   2    |   3 ···      processors 0 … 6; the last block of a level may be
 *   level 0  [ 0 | 1  | 2 | 3  | 4 | 5  | 6 | ···      cut off at the machine's end
 *
 * If the machine's size is not a power of two, the missing processors never hold a job. A block that the
 * machine's end cuts off can take a job that fits into the part that exists.
 */
import { assert } from "../../core/errors.ts";
import { grown } from "../grow.ts";

/**
 * Level of the smallest block that holds `size` processors: the smallest l with 2^l ≥ size.
 * @param size 1 … 2^30
 */
export function blockLevel(size: number): number {
  return 32 - Math.clz32(size - 1);
}

/**
 * Several rows of buddy blocks, with conventional buddy allocation: a job gets a whole block, even if it does
 * not need all of it.
 *
 * Each row has a binary tree in which a node stores the size of the widest free block below it. Taking and
 * giving back a block take time proportional to the tree's height; the size of a row's widest free block is
 * known at once.
 */
export class BuddyRows {
  readonly processors: number;
  /** Height of the tree: 2^height ≥ processors. */
  readonly height: number;
  readonly #padded: number;
  readonly #empty: Int32Array;
  #widest = new Int32Array(0);

  constructor(processors: number) {
    this.processors = processors;
    this.height = blockLevel(processors);
    this.#padded = 1 << this.height;
    this.#empty = new Int32Array(2 * this.#padded);
    for (let level = 0; level <= this.height; level++) {
      const nodes = this.#padded >> level;
      for (let node = 0; node < nodes; node++) this.#empty[nodes + node] = this.#width(level, node);
    }
  }

  /** Empties the row. Rows are numbered from 0; storage grows to the largest number used. */
  clear(row: number): void {
    const stride = 2 * this.#padded;
    const needed = (row + 1) * stride;
    if (needed > this.#widest.length)
      this.#widest = grown(this.#widest, Math.max(2 * this.#widest.length, needed), 0);
    this.#widest.set(this.#empty, row * stride);
  }

  /** Size of the widest free block in the row; 0 if the row is full. */
  widest(row: number): number {
    return this.#widest[row * 2 * this.#padded + 1];
  }

  /**
   * Takes the leftmost free block that holds `size` processors. Returns its first processor, or −1 if there
   * is none.
   */
  take(row: number, size: number): number {
    const base = row * 2 * this.#padded;
    const widest = this.#widest;
    if (widest[base + 1] < size) return -1;
    const level = blockLevel(size);
    let node = 1;
    for (let height = this.height; height > level; height--) {
      this.#openFree(base, node);
      node = widest[base + 2 * node] >= size ? 2 * node : 2 * node + 1;
    }
    widest[base + node] = 0;
    this.#update(base, node >> 1);
    return (node - (this.#padded >> level)) << level;
  }

  /** Whether the whole block of a job of `size` processors that begins at `first` is free. */
  isFree(row: number, first: number, size: number): boolean {
    const base = row * 2 * this.#padded;
    const level = blockLevel(size);
    const wanted = (this.#padded + first) >> level;
    for (let height = this.height; height >= level; height--) {
      const node = wanted >> (height - level);
      const widest = this.#widest[base + node];
      if (widest === this.#empty[node]) return true;
      if (widest === 0) return false;
    }
    return false;
  }

  /** Takes the block of a job of `size` processors that begins at `first`, which must be free. */
  takeAt(row: number, first: number, size: number): void {
    assert(this.isFree(row, first, size), `block at ${first} of row ${row} is free`);
    const base = row * 2 * this.#padded;
    const level = blockLevel(size);
    const wanted = (this.#padded + first) >> level;
    for (let height = this.height; height > level; height--) this.#openFree(base, wanted >> (height - level));
    this.#widest[base + wanted] = 0;
    this.#update(base, wanted >> 1);
  }

  /** Gives back the block of a job of `size` processors that begins at `first`. */
  give(row: number, first: number, size: number): void {
    const base = row * 2 * this.#padded;
    const level = blockLevel(size);
    const node = (this.#padded + first) >> level;
    assert(this.#widest[base + node] === 0, `block at ${first} of row ${row} is taken`);
    this.#widest[base + node] = this.#empty[node];
    this.#update(base, node >> 1);
  }

  /** Whether the row holds no job. */
  isEmpty(row: number): boolean {
    return this.widest(row) === this.processors;
  }

  /** Marks the children of a free block as free, too. */
  #openFree(base: number, node: number): void {
    if (this.#widest[base + node] !== this.#empty[node]) return;
    this.#widest[base + 2 * node] = this.#empty[2 * node];
    this.#widest[base + 2 * node + 1] = this.#empty[2 * node + 1];
  }

  #update(base: number, from: number): void {
    const widest = this.#widest;
    const empty = this.#empty;
    for (let node = from; node >= 1; node >>= 1) {
      const left = widest[base + 2 * node];
      const right = widest[base + 2 * node + 1];
      const bothFree = left === empty[2 * node] && right === empty[2 * node + 1];
      widest[base + node] = bothFree ? empty[node] : Math.max(left, right);
    }
  }

  /** Number of processors of a block that exist. */
  #width(level: number, node: number): number {
    return Math.max(0, Math.min(this.processors, (node + 1) << level) - (node << level));
  }
}
