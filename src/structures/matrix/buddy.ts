/**
 * Buddy blocks: 2^level processors, aligned to a multiple of their own length (Peterson and Norman 1977).
 *
 *   level 2  [        0        |        1     ···
 *   level 1  [   0    |   1    |   2    |   3 ···      processors 0 … 6; the last block of a level may be
 *   level 0  [ 0 | 1  | 2 | 3  | 4 | 5  | 6 | ···      cut off at the machine's end
 *
 * On a machine that is no power of two, the processors that are missing never hold a job: a block that the machine's end
 * cuts off takes a job when the job fits into what is left of it.
 */
import { assert } from "../../core/errors.ts";
import { grown } from "../grow.ts";

/** Level of the smallest block that holds `size` processors: the least l with 2^l ≥ size. Size: 1 … 2^30. */
export function blockLevel(size: number): number {
  return 32 - Math.clz32(size - 1);
}

/**
 * Several rows of buddy blocks, each handed out whole: conventional buddy allocation. A job's block belongs to it alone,
 * whether it needs all of it or not.
 *
 * Per row one binary tree in which a node tells the widest free block below it. Take and give back cost the height
 * of the tree; a row's widest free block is at hand at once.
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

  /** Makes the row an empty one. Rows are numbered from 0; storage grows to the largest number used. */
  clear(row: number): void {
    const stride = 2 * this.#padded;
    const needed = (row + 1) * stride;
    if (needed > this.#widest.length)
      this.#widest = grown(this.#widest, Math.max(2 * this.#widest.length, needed), 0);
    this.#widest.set(this.#empty, row * stride);
  }

  /** Processors of the widest free block in the row; 0 when it is full. */
  widest(row: number): number {
    return this.#widest[row * 2 * this.#padded + 1];
  }

  /** Takes the leftmost free block that holds `size` processors. Returns its first processor, or −1 when there is none. */
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

  /** Whether the block of a job of `size` processors that begins at `first` is free as a whole. */
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

  /** A free block is free below as well. */
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

  /** Processors of a block that exist. */
  #width(level: number, node: number): number {
    return Math.max(0, Math.min(this.processors, (node + 1) << level) - (node << level));
  }
}
