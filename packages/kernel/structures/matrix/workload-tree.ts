/**
 * Maintains the workload tree of Zhou, Walsh and Brent 2000, section 3: the number of idle slots of every
 * processor, and the least loaded buddy block.
 *
 *   root               0
 *               0             5
 *            0     2       2     3
 *   leaves  0 0   1 1     1 1   1 2
 *
 * The value of a node is the sum of its children if both are nonzero, else 0. So it is nonzero exactly if
 * every processor below has an idle slot, and then it is the number of idle slots below.
 *
 * The paper recomputes values node by node. Here every node keeps the minimum, maximum and sum of its leaves,
 * with pending additions. So a change to a range of processors, or to all of them, takes time proportional to
 * the height of the tree. For the search of the least loaded block, every node also keeps, for each level
 * below it, the largest value of a node on that level. A pending addition changes these values in a simple
 * way unless a leaf becomes 0 or stops being 0. Only then, and only where leaves differ, the addition is
 * passed further down. Where leaves have changed below a node, its largest values are stale; a search
 * computes those of its level again.
 *
 * If the machine's size is not a power of two, missing processors have no leaf. The last block of a level may
 * be cut off. It takes jobs that fit in the part that exists, and its value is that of the existing
 * processors.
 */
import { assert } from "../../core/errors.ts";
import { blockLevel } from "./buddy.ts";

/** Minimum of a subtree that has no processors. */
const NO_LEAF = 0x3fffffff;

export class WorkloadTree {
  readonly processors: number;
  /** Level of the root: 2^height ≥ processors. */
  readonly height: number;
  readonly #leaves: number;
  // By node, in heap order from 1. A node's own entries include its pending addition; its children's entries
  // do not.
  readonly #least: Int32Array;
  readonly #most: Int32Array;
  readonly #sum: Float64Array;
  readonly #pending: Int32Array;
  // Largest value per node and level below it: #bestAt[height of the node] + (number within its level) ×
  // height + level.
  readonly #best: Float64Array;
  readonly #bestAt: Int32Array;
  /** Levels whose largest values are stale: bit per level, by node. */
  readonly #stale: Int32Array;

  /** A tree without idle slots. @param processors 1 … 2^24 */
  constructor(processors: number) {
    this.processors = processors;
    this.height = blockLevel(processors);
    this.#leaves = 1 << this.height;
    const nodes = 2 * this.#leaves;
    this.#least = new Int32Array(nodes).fill(NO_LEAF);
    this.#most = new Int32Array(nodes).fill(-1);
    this.#sum = new Float64Array(nodes);
    this.#pending = new Int32Array(nodes);
    this.#bestAt = new Int32Array(this.height + 1);
    let length = 0;
    for (let level = 0; level <= this.height; level++) {
      this.#bestAt[level] = length;
      const existing = Math.ceil(processors / 2 ** level);
      for (let node = 0; node < existing; node++) {
        this.#least[(this.#leaves >> level) + node] = 0;
        this.#most[(this.#leaves >> level) + node] = 0;
      }
      length += (this.#leaves >> level) * level;
    }
    this.#best = new Float64Array(length);
    this.#stale = new Int32Array(nodes);
  }

  /** Adds `delta` idle slots to each of `size` processors from `first` on. No processor may go below 0. */
  add(first: number, size: number, delta: number): void {
    const end = first + size;
    assert(first >= 0 && first <= end && end <= this.processors, `processors ${first} to ${end - 1} exist`);
    if (first < end && delta !== 0) this.#add(1, this.height, 0, first, end, delta);
  }

  /**
   * Minimum number of idle slots over the processors of the block; 0 means that no job can have the block.
   */
  least(level: number, node: number): number {
    const index = (this.#leaves >> level) + node;
    return this.#least[index] + this.#above(index);
  }

  /** Writes the idle slots of every processor. */
  copyTo(out: Int32Array): void {
    this.#copy(1, this.height, 0, 0, out);
  }

  /** Value of a node: the number of idle slots below it if every processor below has one, else 0. */
  value(level: number, node: number): number {
    const index = (this.#leaves >> level) + node;
    const above = this.#above(index);
    return this.#least[index] + above > 0 ? this.#sum[index] + above * this.width(level, node) : 0;
  }

  /** Number of processors of a block: 2^level, or fewer if the machine's end cuts it off. */
  width(level: number, node: number): number {
    return Math.max(0, Math.min(1 << level, this.processors - (node << level)));
  }

  /**
   * The block with the largest value for a job of `size` processors (ties: the leftmost); −1 if all blocks of
   * its level have value 0. Returns the block's number within level `blockLevel(size)`. Takes time
   * proportional to the height.
   */
  leastLoadedBlock(size: number): number {
    const level = blockLevel(size);
    if (level > this.height) return -1;
    const wanted = this.#bestOf(1, this.height, level);
    // A last block that is cut off is not among the best values; it counts only for jobs that fit.
    const cut = this.processors >> level;
    if (this.width(level, cut) >= size && this.value(level, cut) > wanted) return cut;
    if (wanted === 0) return -1;
    let node = 1;
    for (let height = this.height; height > level; height--) {
      this.#push(node, height);
      node = this.#bestOf(2 * node, height - 1, level) === wanted ? 2 * node : 2 * node + 1;
    }
    return node - (this.#leaves >> level);
  }

  #add(node: number, height: number, low: number, first: number, end: number, delta: number): void {
    const high = low + (1 << height);
    if (first <= low && end >= high) {
      this.#apply(node, height, delta);
      return;
    }
    this.#push(node, height);
    const middle = low + (1 << (height - 1));
    if (first < middle) this.#add(2 * node, height - 1, low, first, end, delta);
    if (end > middle) this.#add(2 * node + 1, height - 1, middle, first, end, delta);
    this.#pull(node);
  }

  #copy(node: number, height: number, low: number, above: number, out: Int32Array): void {
    if (low >= this.processors) return;
    if (height === 0 || this.#least[node] === this.#most[node]) {
      out.fill(this.#least[node] + above, low, Math.min(low + (1 << height), this.processors));
      return;
    }
    const below = above + this.#pending[node];
    this.#copy(2 * node, height - 1, low, below, out);
    this.#copy(2 * node + 1, height - 1, low + (1 << (height - 1)), below, out);
  }

  /** Adds to all leaves of a subtree without missing processors. */
  #apply(node: number, height: number, delta: number): void {
    const least = this.#least[node];
    const now = least + delta;
    assert(now >= 0, "a processor has no fewer than 0 idle slots");
    this.#least[node] = now;
    this.#most[node] += delta;
    this.#sum[node] += delta * (1 << height);
    if (height === 0) return;
    this.#pending[node] += delta;
    if (now === this.#most[node]) return; // #bestOf needs no more
    if (least > 0 && now > 0) {
      const at = this.#bestIndex(node, height);
      for (let level = 0, width = delta; level < height; level++, width *= 2) this.#best[at + level] += width;
    } else {
      this.#push(node, height);
      this.#pull(node);
    }
  }

  #push(node: number, height: number): void {
    const pending = this.#pending[node];
    if (pending === 0) return;
    this.#pending[node] = 0;
    this.#apply(2 * node, height - 1, pending);
    this.#apply(2 * node + 1, height - 1, pending);
  }

  #pull(node: number): void {
    const left = 2 * node;
    const right = left + 1;
    this.#least[node] = Math.min(this.#least[left], this.#least[right]);
    this.#most[node] = Math.max(this.#most[left], this.#most[right]);
    this.#sum[node] = this.#sum[left] + this.#sum[right];
    this.#stale[node] = -1;
  }

  #bestIndex(node: number, height: number): number {
    return this.#bestAt[height] + (node - (this.#leaves >> height)) * height;
  }

  /** Largest value of a block on a level at or below the node, without blocks that are cut off. */
  #bestOf(node: number, height: number, level: number): number {
    const least = this.#least[node];
    const isWhole = (node + 1 - (this.#leaves >> height)) << height <= this.processors;
    if (level === height) return isWhole && least > 0 ? this.#sum[node] : 0;
    if (isWhole && least === this.#most[node]) return least * (1 << level);
    const at = this.#bestIndex(node, height) + level;
    const stale = this.#stale[node];
    if ((stale & (1 << level)) !== 0) {
      this.#push(node, height);
      const left = this.#bestOf(2 * node, height - 1, level);
      const right = this.#bestOf(2 * node + 1, height - 1, level);
      this.#best[at] = Math.max(left, right);
      this.#stale[node] &= ~(1 << level);
    }
    return this.#best[at];
  }

  /** Sum of the pending additions above a node. */
  #above(index: number): number {
    let sum = 0;
    for (let node = index >> 1; node >= 1; node >>= 1) sum += this.#pending[node];
    return sum;
  }
}
