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
 * Several rows of buddy blocks, with conventional buddy allocation: a job gets the left end of a block in
 * which every processor is free. It takes its own processors, or with `wholeBlocks` the whole block.
 *
 * Each row has a binary tree in which a node stores the size of the widest free block below it. A job takes
 * one node for each binary digit of the number of processors that it takes: 5 = 4 + 1. Taking and giving back
 * take time proportional to the square of the tree's height, or to the height if jobs take whole blocks; the
 * size of a row's widest free block is known at once.
 */
export class BuddyRows {
  readonly processors: number;
  /** Height of the tree: 2^height ≥ processors. */
  readonly height: number;
  readonly #wholeBlocks: boolean;
  readonly #padded: number;
  readonly #empty: Int32Array;
  #widest = new Int32Array(0);

  constructor(processors: number, wholeBlocks: boolean) {
    this.processors = processors;
    this.#wholeBlocks = wholeBlocks;
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
   * Takes the leftmost place for a job of `size` processors whose block is free. Returns its first processor,
   * or −1 if there is none.
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
    const first = (node - (this.#padded >> level)) << level;
    this.#set(row, first, size, false);
    return first;
  }

  /** Whether everything that a job of `size` processors takes from `first` on is free. */
  isFree(row: number, first: number, size: number): boolean {
    const held = this.#held(size);
    let at = first;
    for (let level = blockLevel(held); level >= 0; level--) {
      if (((held >> level) & 1) === 0) continue;
      if (!this.#isNodeFree(row, at, level)) return false;
      at += 1 << level;
    }
    return true;
  }

  /** Takes the place of a job of `size` processors that begins at `first`; it must be free. */
  takeAt(row: number, first: number, size: number): void {
    assert(this.isFree(row, first, size), `the place at ${first} of row ${row} is free`);
    this.#set(row, first, size, false);
  }

  /** Gives back the place of a job of `size` processors that begins at `first`. */
  give(row: number, first: number, size: number): void {
    this.#set(row, first, size, true);
  }

  /** Whether the row holds no job. */
  isEmpty(row: number): boolean {
    return this.widest(row) === this.processors;
  }

  /** Number of processors that a job takes, as if none were cut off. */
  #held(size: number): number {
    return this.#wholeBlocks ? 1 << blockLevel(size) : size;
  }

  /** Takes or gives back the nodes of a job. */
  #set(row: number, first: number, size: number, isFree: boolean): void {
    const base = row * 2 * this.#padded;
    const held = this.#held(size);
    let at = first;
    for (let level = blockLevel(held); level >= 0; level--) {
      if (((held >> level) & 1) === 0) continue;
      const node = (this.#padded + at) >> level;
      if (isFree) assert(this.#widest[base + node] === 0, `block at ${at} of row ${row} is taken`);
      else for (let up = this.height - level; up > 0; up--) this.#openFree(base, node >> up);
      this.#widest[base + node] = isFree ? this.#empty[node] : 0;
      this.#update(base, node >> 1);
      at += 1 << level;
    }
  }

  #isNodeFree(row: number, first: number, level: number): boolean {
    const base = row * 2 * this.#padded;
    const wanted = (this.#padded + first) >> level;
    for (let height = this.height; height >= level; height--) {
      const node = wanted >> (height - level);
      const widest = this.#widest[base + node];
      if (widest === this.#empty[node]) return true;
      if (widest === 0) return false;
    }
    return false;
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
