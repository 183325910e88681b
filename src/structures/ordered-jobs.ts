/**
 * Jobs in a total order (key, job), with three summaries that schedulers ask for: the smallest size, the smallest
 * value and the sum of sizes of any stretch. It serves as the waiting queue (key: queue order, value: estimate)
 * and as the list of running jobs (key: expected end).
 *
 *   position     0          1          2           sorted blocks of at most 64 entries, in order
 *              ┌──────────┬──────────┬──────────┐
 *              │ 3 7 8 9  │ 12 15    │ 20 21 30 │
 *              └──────────┴──────────┴──────────┘
 *   summary       leaf       leaf       leaf        a segment tree over the blocks' positions
 *
 * Insert, remove and search cost O(log n) plus the scan of one block. A block that splits or vanishes shifts the
 * leaves behind it, O(n / 64), at most once in 16 operations.
 */
import { assert } from "../core/errors.ts";
import { type JobIndex, NO_JOB, type ReadonlyColumn } from "../core/jobs.ts";

const BLOCK = 64;
const MERGE_BELOW = BLOCK / 4;
const LARGE = 0x7fffffff;

export class OrderedJobs {
  /** Number of jobs in the list. */
  length = 0;
  /** Set by `cover`: the key at which the wanted sum is reached (Infinity when it never is), and the sum up to and with that key. */
  coverKey = 0;
  coverSum = 0;

  readonly #size: ReadonlyColumn;
  readonly #value: ReadonlyColumn | undefined;
  /** Whether the smallest size and value are kept exact after removals; without a value column they may be too small. */
  readonly #isSearched: boolean;

  // Entries by block: entry e of block b is at b·BLOCK + begin[b] + e.
  #keys = new Float64Array(BLOCK);
  #jobs = new Int32Array(BLOCK);
  #sizes = new Int32Array(BLOCK);
  #values = new Float64Array(BLOCK);
  #begin = new Int32Array(1);
  #count = new Int32Array(1);

  // Blocks by position, and the block numbers not in use behind them.
  #order = new Int32Array(1);
  #blocks = 0;

  // Segment tree: node 1 is the root, leaf of position p is #leaves + p.
  #leaves = 1;
  #minSize = new Int32Array(2).fill(LARGE);
  #minValue = new Float64Array(2).fill(Number.POSITIVE_INFINITY);
  #sumSize = new Float64Array(2);

  // Where `nextFitting` goes on: position of a block and number of the entry in it.
  #cursorPosition = 0;
  #cursorEntry = 0;

  /**
   * @param size column of sizes by job
   * @param value column of values by job; left out for a list on which `nextFitting` is never called
   */
  constructor(size: ReadonlyColumn, value?: ReadonlyColumn) {
    this.#size = size;
    this.#value = value;
    this.#isSearched = value !== undefined;
  }

  /** First job in order, or NO_JOB. */
  first(): JobIndex {
    if (this.length === 0) return NO_JOB;
    const block = this.#order[0];
    return this.#jobs[block * BLOCK + this.#begin[block]];
  }

  insert(job: JobIndex, key: number): void {
    this.length++;
    const size = this.#size[job];
    const value = this.#value === undefined ? 0 : this.#value[job];
    if (this.#blocks === 0) this.#insertBlock(0);
    let position = this.#blockBefore(key, job);
    let block = this.#order[position];
    if (this.#count[block] === BLOCK) {
      position = this.#makeRoom(position, key, job);
      block = this.#order[position];
    }
    const at = this.#openGap(block, key, job);
    this.#keys[at] = key;
    this.#jobs[at] = job;
    this.#sizes[at] = size;
    this.#values[at] = value;
    for (let node = this.#leaves + position; node >= 1; node >>= 1) {
      this.#sumSize[node] += size;
      if (size < this.#minSize[node]) this.#minSize[node] = size;
      if (value < this.#minValue[node]) this.#minValue[node] = value;
    }
  }

  /** Removes a job by the key it was inserted with. Returns false when it is not in the list. */
  remove(job: JobIndex, key: number): boolean {
    if (this.length === 0) return false;
    const position = this.#blockBefore(key, job);
    const block = this.#order[position];
    const entry = this.#entryAt(block, key, job);
    if (entry === this.#count[block] || this.#jobs[block * BLOCK + this.#begin[block] + entry] !== job)
      return false;
    this.#removeEntry(position, entry);
    return true;
  }

  removeFirst(): void {
    this.#removeEntry(0, 0);
  }

  /** Places the cursor of `nextFitting` behind the first `skip` jobs; skip is 0 or 1. */
  startSearch(skip: number): void {
    this.#cursorPosition = 0;
    this.#cursorEntry = skip;
  }

  /**
   * The next job at or after the cursor with size ≤ free, and with value ≤ maxValue or size ≤ spare; NO_JOB when there
   * is none. The cursor stays on the job found, so the next call finds it again unless `takeFound` was called.
   */
  nextFitting(free: number, maxValue: number, spare: number): JobIndex {
    if (this.length === 0) return NO_JOB;
    if (this.#cursorPosition >= this.#blocks) return NO_JOB;
    const either = Math.min(spare, free);
    const minSize = this.#minSize;
    const minValue = this.#minValue;
    const leaves = this.#leaves;
    let node = leaves + this.#cursorPosition;
    if (minSize[node] <= free && (minValue[node] <= maxValue || minSize[node] <= either)) {
      const found = this.#scanBlock(this.#cursorPosition, this.#cursorEntry, free, maxValue, spare);
      if (found !== NO_JOB) return found;
    }
    for (;;) {
      // To the next subtree on the right. A summary may promise what no single job keeps, so a descent can fail.
      while (node & 1) node >>= 1;
      if (node === 0) return NO_JOB;
      node++;
      if (minSize[node] > free || (minValue[node] > maxValue && minSize[node] > either)) continue;
      while (node < leaves) {
        const left = node << 1;
        if (minSize[left] <= free && (minValue[left] <= maxValue || minSize[left] <= either)) node = left;
        else if (minSize[left + 1] <= free && (minValue[left + 1] <= maxValue || minSize[left + 1] <= either))
          node = left + 1;
        else break;
      }
      if (node < leaves) continue;
      const found = this.#scanBlock(node - leaves, 0, free, maxValue, spare);
      if (found !== NO_JOB) return found;
    }
  }

  /** Removes the job that `nextFitting` found; the cursor then stands on the one after it. */
  takeFound(): void {
    this.#removeEntry(this.#cursorPosition, this.#cursorEntry);
  }

  /**
   * Finds the smallest key such that the sizes of all jobs with that key or a smaller one sum to `need` or more, and sets
   * `coverKey` and `coverSum`.
   */
  cover(need: number): void {
    let sum = 0;
    if (this.#blocks === 0 || this.#sumSize[1] < need) {
      this.coverKey = Number.POSITIVE_INFINITY;
      this.coverSum = this.#blocks === 0 ? 0 : this.#sumSize[1];
      return;
    }
    let node = 1;
    while (node < this.#leaves) {
      node <<= 1;
      if (sum + this.#sumSize[node] < need) {
        sum += this.#sumSize[node];
        node++;
      }
    }
    let position = node - this.#leaves;
    let key = Number.NaN;
    // Past the entry that reaches the need, all entries of the same key still count.
    for (; position < this.#blocks; position++) {
      const block = this.#order[position];
      const start = block * BLOCK + this.#begin[block];
      const end = start + this.#count[block];
      for (let at = start; at < end; at++) {
        if (sum >= need && this.#keys[at] !== key) {
          this.coverKey = key;
          this.coverSum = sum;
          return;
        }
        sum += this.#sizes[at];
        key = this.#keys[at];
      }
    }
    this.coverKey = key;
    this.coverSum = sum;
  }

  /** Sum of the sizes of all jobs. */
  totalSize(): number {
    return this.#blocks === 0 ? 0 : this.#sumSize[1];
  }

  /** Copies the jobs in order into `target` and returns how many there are. */
  copyTo(target: Int32Array): number {
    let n = 0;
    for (let position = 0; position < this.#blocks; position++) {
      const block = this.#order[position];
      const start = block * BLOCK + this.#begin[block];
      for (let e = 0; e < this.#count[block]; e++) target[n++] = this.#jobs[start + e];
    }
    return n;
  }

  clear(): void {
    this.length = 0;
    this.#blocks = 0;
    for (let b = 0; b < this.#order.length; b++) this.#order[b] = b;
    this.#minSize.fill(LARGE);
    this.#minValue.fill(Number.POSITIVE_INFINITY);
    this.#sumSize.fill(0);
  }

  /** Recomputes all bookkeeping from the entries and throws where it disagrees. */
  audit(): void {
    let total = 0;
    let previousKey = Number.NEGATIVE_INFINITY;
    let previousJob = -1;
    const seen = new Set<number>();
    for (let position = 0; position < this.#blocks; position++) {
      const block = this.#order[position];
      assert(!seen.has(block), `block ${block} stands at two positions`);
      seen.add(block);
      const count = this.#count[block];
      assert(count > 0 && this.#begin[block] + count <= BLOCK, `block ${block} holds ${count} entries`);
      let minSize = LARGE;
      let minValue = Number.POSITIVE_INFINITY;
      let sum = 0;
      for (let e = 0; e < count; e++) {
        const at = block * BLOCK + this.#begin[block] + e;
        const key = this.#keys[at];
        const job = this.#jobs[at];
        assert(key > previousKey || (key === previousKey && job > previousJob), `job ${job} is out of order`);
        previousKey = key;
        previousJob = job;
        assert(this.#sizes[at] === this.#size[job], `size of job ${job} is stale`);
        minSize = Math.min(minSize, this.#sizes[at]);
        minValue = Math.min(minValue, this.#values[at]);
        sum += this.#sizes[at];
      }
      total += count;
      const leaf = this.#leaves + position;
      if (this.#isSearched) {
        assert(this.#minSize[leaf] === minSize, `smallest size of block ${block} is stale`);
        assert(this.#minValue[leaf] === minValue, `smallest value of block ${block} is stale`);
      }
      assert(this.#sumSize[leaf] === sum, `sum of block ${block} is stale`);
    }
    assert(total === this.length, `length is ${this.length}, entries are ${total}`);
    for (let node = this.#leaves - 1; node >= 1; node--) {
      const left = 2 * node;
      assert(
        this.#sumSize[node] === this.#sumSize[left] + this.#sumSize[left + 1],
        `sum of tree node ${node} is stale`,
      );
      if (!this.#isSearched) continue;
      assert(
        this.#minSize[node] === Math.min(this.#minSize[left], this.#minSize[left + 1]) &&
          this.#minValue[node] === Math.min(this.#minValue[left], this.#minValue[left + 1]),
        `smallest of tree node ${node} is stale`,
      );
    }
  }

  /** Position of the last block whose first entry is at or before (key, job); 0 when there is none. */
  #blockBefore(key: number, job: JobIndex): number {
    let low = 0;
    let high = this.#blocks - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const block = this.#order[middle];
      const at = block * BLOCK + this.#begin[block];
      const otherKey = this.#keys[at];
      if (otherKey < key || (otherKey === key && this.#jobs[at] <= job)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Number of the first entry of the block at or after (key, job); the block's count when there is none. */
  #entryAt(block: number, key: number, job: JobIndex): number {
    const start = block * BLOCK + this.#begin[block];
    let low = 0;
    let high = this.#count[block];
    while (low < high) {
      const middle = (low + high) >> 1;
      const otherKey = this.#keys[start + middle];
      if (otherKey < key || (otherKey === key && this.#jobs[start + middle] < job)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Makes room beside a full block for (key, job) and returns the position of the block to insert into. */
  #makeRoom(position: number, key: number, job: JobIndex): number {
    const block = this.#order[position];
    if (position === this.#blocks - 1 && this.#entryAt(block, key, job) === BLOCK) {
      // Appending in order, as arrivals do: a fresh block keeps the others full.
      this.#insertBlock(position + 1);
      return position + 1;
    }
    this.#insertBlock(position + 1);
    const from = block * BLOCK + BLOCK / 2; // a full block begins at 0
    const into = this.#order[position + 1];
    this.#copyEntries(from, into * BLOCK, BLOCK / 2);
    this.#begin[into] = 0;
    this.#count[into] = BLOCK / 2;
    this.#count[block] = BLOCK / 2;
    this.#summariseLeaf(this.#leaves + position, block);
    this.#summariseLeaf(this.#leaves + position + 1, into);
    this.#summariseFrom(position);
    return this.#blockBefore(key, job);
  }

  /** Shifts entries of a block that is not full so that (key, job) has a place; returns its address. */
  #openGap(block: number, key: number, job: JobIndex): number {
    const entry = this.#entryAt(block, key, job);
    const count = this.#count[block];
    const base = block * BLOCK;
    const begin = this.#begin[block];
    this.#count[block] = count + 1;
    if (begin + count < BLOCK && (begin === 0 || entry > count >> 1)) {
      for (let at = base + begin + count; at > base + begin + entry; at--) this.#moveEntry(at - 1, at);
      return base + begin + entry;
    }
    this.#begin[block] = begin - 1;
    for (let at = base + begin - 1; at < base + begin + entry - 1; at++) this.#moveEntry(at + 1, at);
    return base + begin + entry - 1;
  }

  #removeEntry(position: number, entry: number): void {
    this.length--;
    const block = this.#order[position];
    const start = block * BLOCK + this.#begin[block];
    const size = this.#sizes[start + entry];
    const value = this.#values[start + entry];
    const count = --this.#count[block];
    if (count === 0) {
      this.#deleteBlock(position);
      return;
    }
    if (entry === 0) this.#begin[block]++;
    else for (let at = start + entry; at < start + count; at++) this.#moveEntry(at + 1, at);
    if (count < MERGE_BELOW && position + 1 < this.#blocks) {
      const next = this.#order[position + 1];
      if (count + this.#count[next] <= BLOCK / 2) {
        this.#mergeNext(position);
        return;
      }
    }
    this.#shrinkSummary(position, block, size, value);
  }

  /** Brings the tree up to date after an entry of the given size and value has left the block. */
  #shrinkSummary(position: number, block: number, size: number, value: number): void {
    const minSize = this.#minSize;
    const minValue = this.#minValue;
    let node = this.#leaves + position;
    let sizeStale = this.#isSearched && size === minSize[node];
    let valueStale = this.#isSearched && value === minValue[node];
    if (sizeStale || valueStale) this.#summariseLeaf(node, block);
    else this.#sumSize[node] -= size;
    for (node >>= 1; node >= 1; node >>= 1) {
      this.#sumSize[node] -= size;
      const left = node << 1;
      if (sizeStale) {
        const smallest = Math.min(minSize[left], minSize[left + 1]);
        sizeStale = smallest !== minSize[node];
        minSize[node] = smallest;
      }
      if (valueStale) {
        const smallest = Math.min(minValue[left], minValue[left + 1]);
        valueStale = smallest !== minValue[node];
        minValue[node] = smallest;
      }
    }
  }

  #scanBlock(position: number, from: number, free: number, maxValue: number, spare: number): JobIndex {
    const block = this.#order[position];
    const start = block * BLOCK + this.#begin[block];
    const count = this.#count[block];
    const sizes = this.#sizes;
    const values = this.#values;
    for (let e = from; e < count; e++) {
      const size = sizes[start + e];
      if (size <= free && (size <= spare || values[start + e] <= maxValue)) {
        this.#cursorPosition = position;
        this.#cursorEntry = e;
        return this.#jobs[start + e];
      }
    }
    return NO_JOB;
  }

  /** Takes an unused block, empty, into the order at a position. */
  #insertBlock(position: number): void {
    if (this.#blocks === this.#order.length) this.#grow();
    const block = this.#order[this.#blocks];
    this.#order.copyWithin(position + 1, position, this.#blocks);
    this.#order[position] = block;
    this.#begin[block] = 0;
    this.#count[block] = 0;
    if (this.#blocks === this.#leaves) this.#growTree();
    const leaf = this.#leaves + position;
    const end = this.#leaves + this.#blocks++;
    if (leaf === end) return; // behind the last block every leaf is neutral
    this.#minSize.copyWithin(leaf + 1, leaf, end);
    this.#minValue.copyWithin(leaf + 1, leaf, end);
    this.#sumSize.copyWithin(leaf + 1, leaf, end);
    this.#neutralise(leaf);
    this.#summariseFrom(position);
  }

  #deleteBlock(position: number): void {
    const block = this.#order[position];
    this.#order.copyWithin(position, position + 1, this.#blocks);
    this.#blocks--;
    this.#order[this.#blocks] = block;
    this.#cursorEntry = 0;
    const leaf = this.#leaves + position;
    const end = this.#leaves + this.#blocks;
    this.#minSize.copyWithin(leaf, leaf + 1, end + 1);
    this.#minValue.copyWithin(leaf, leaf + 1, end + 1);
    this.#sumSize.copyWithin(leaf, leaf + 1, end + 1);
    this.#neutralise(end);
    this.#summariseFrom(position);
  }

  #mergeNext(position: number): void {
    const block = this.#order[position];
    const next = this.#order[position + 1];
    const base = block * BLOCK;
    if (this.#begin[block] > 0) this.#copyEntries(base + this.#begin[block], base, this.#count[block]);
    this.#begin[block] = 0;
    this.#copyEntries(next * BLOCK + this.#begin[next], base + this.#count[block], this.#count[next]);
    this.#count[block] += this.#count[next];
    const entry = this.#cursorEntry;
    this.#deleteBlock(position + 1);
    this.#cursorEntry = entry;
    this.#summariseLeaf(this.#leaves + position, block);
    this.#summariseFrom(position);
  }

  #summariseLeaf(node: number, block: number): void {
    const start = block * BLOCK + this.#begin[block];
    const end = start + this.#count[block];
    let minSize = LARGE;
    let minValue = Number.POSITIVE_INFINITY;
    let sum = 0;
    for (let at = start; at < end; at++) {
      const size = this.#sizes[at];
      const value = this.#values[at];
      sum += size;
      if (size < minSize) minSize = size;
      if (value < minValue) minValue = value;
    }
    this.#minSize[node] = minSize;
    this.#minValue[node] = minValue;
    this.#sumSize[node] = sum;
  }

  #neutralise(node: number): void {
    this.#minSize[node] = LARGE;
    this.#minValue[node] = Number.POSITIVE_INFINITY;
    this.#sumSize[node] = 0;
  }

  /** Brings all inner nodes up to date after leaves from a position on have changed. */
  #summariseFrom(position: number): void {
    let from = (this.#leaves + position) >> 1;
    let to = Math.min(this.#leaves + this.#blocks, 2 * this.#leaves - 1) >> 1;
    for (; from >= 1; from >>= 1, to >>= 1) {
      for (let node = from; node <= to; node++) this.#summariseChildren(node);
    }
  }

  #growTree(): void {
    const leaves = this.#leaves;
    const minSize = new Int32Array(4 * leaves).fill(LARGE);
    const minValue = new Float64Array(4 * leaves).fill(Number.POSITIVE_INFINITY);
    const sumSize = new Float64Array(4 * leaves);
    minSize.set(this.#minSize.subarray(leaves), 2 * leaves);
    minValue.set(this.#minValue.subarray(leaves), 2 * leaves);
    sumSize.set(this.#sumSize.subarray(leaves), 2 * leaves);
    this.#minSize = minSize;
    this.#minValue = minValue;
    this.#sumSize = sumSize;
    this.#leaves = 2 * leaves;
    this.#summariseFrom(0);
  }

  #summariseChildren(node: number): void {
    const left = 2 * node;
    this.#minSize[node] = Math.min(this.#minSize[left], this.#minSize[left + 1]);
    this.#minValue[node] = Math.min(this.#minValue[left], this.#minValue[left + 1]);
    this.#sumSize[node] = this.#sumSize[left] + this.#sumSize[left + 1];
  }

  #grow(): void {
    const blocks = this.#order.length * 2;
    const grown = <T extends Int32Array | Float64Array>(old: T, empty: T): T => {
      empty.set(old);
      return empty;
    };
    this.#keys = grown(this.#keys, new Float64Array(blocks * BLOCK));
    this.#jobs = grown(this.#jobs, new Int32Array(blocks * BLOCK));
    this.#sizes = grown(this.#sizes, new Int32Array(blocks * BLOCK));
    this.#values = grown(this.#values, new Float64Array(blocks * BLOCK));
    this.#begin = grown(this.#begin, new Int32Array(blocks));
    this.#count = grown(this.#count, new Int32Array(blocks));
    const used = this.#order.length;
    this.#order = grown(this.#order, new Int32Array(blocks));
    for (let b = used; b < blocks; b++) this.#order[b] = b;
  }

  #moveEntry(from: number, to: number): void {
    this.#keys[to] = this.#keys[from];
    this.#jobs[to] = this.#jobs[from];
    this.#sizes[to] = this.#sizes[from];
    this.#values[to] = this.#values[from];
  }

  #copyEntries(from: number, to: number, count: number): void {
    this.#keys.copyWithin(to, from, from + count);
    this.#jobs.copyWithin(to, from, from + count);
    this.#sizes.copyWithin(to, from, from + count);
    this.#values.copyWithin(to, from, from + count);
  }
}
