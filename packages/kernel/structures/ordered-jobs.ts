/**
 * Keeps jobs in a total order (key, job), with three summaries that schedulers need: smallest size, smallest
 * value and sum of sizes. It serves as the waiting queue (key: queue order, value: estimate) and as the list
 * of running jobs (key: expected end).
 *
 *   position     0          1          2
 *              ┌──────────┬──────────┬──────────┐
 *              │ 3 7 8 9  │ 12 15    │ 20 21 30 │
 *              └──────────┴──────────┴──────────┘
 *   summary       leaf       leaf       leaf
 *
 * Sorted blocks of at most 64 entries are in order. A segment tree over the blocks' positions
 * (summary-tree.ts) has the summaries. Insert, remove and search take O(log n) plus the scan of one block. A
 * block that splits or becomes empty shifts the leaves after it, which takes O(n / 64) and happens at most
 * once in 16 operations.
 */
import { assert } from "../core/errors.ts";
import { type JobIndex, type JobsView, NO_JOB } from "../core/jobs.ts";
import { doubled } from "./grow.ts";
import { NO_SIZE, SummaryTree } from "./summary-tree.ts";

const BLOCK = 64;
const MERGE_BELOW = BLOCK / 4;

/** The columns used: sizes, and estimates as values. */
type Known = Pick<JobsView, "size" | "estimateS">;

export class OrderedJobs {
  /** Number of jobs in the list. */
  length = 0;
  /** Set by `cover`: the key at which the wanted sum is reached; Infinity if it never is. */
  coverKey = 0;
  /** Set by `cover`: the sum of sizes up to and including `coverKey`. */
  coverSum = 0;

  readonly #known: Known;
  /** Whether the smallest size and value stay exact after removals; otherwise they may be too small. */
  readonly #isSearched: boolean;

  // Entries by block: entry e of block b is at b·BLOCK + begin[b] + e.
  #keys = new Float64Array(BLOCK);
  #jobs = new Int32Array(BLOCK);
  #sizes = new Int32Array(BLOCK);
  #values = new Float64Array(BLOCK);
  #begin = new Int32Array(1);
  #count = new Int32Array(1);

  // Block numbers by position; after them, the unused block numbers.
  #order = new Int32Array(1);
  #blocks = 0;

  readonly #tree = new SummaryTree();

  // Where `nextFitting` continues: position of a block, and index of the entry in it.
  #cursorPosition = 0;
  #cursorEntry = 0;

  /** @param isSearched false for a list on which `nextFitting` is never called */
  constructor(known: Known, isSearched: boolean) {
    this.#known = known;
    this.#isSearched = isSearched;
  }

  /** First job in order, or NO_JOB. */
  first(): JobIndex {
    if (this.length === 0) return NO_JOB;
    const block = this.#order[0];
    return this.#jobs[block * BLOCK + this.#begin[block]];
  }

  insert(job: JobIndex, key: number): void {
    this.length++;
    const size = this.#known.size[job];
    const value = this.#isSearched ? this.#known.estimateS[job] : 0;
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
    this.#tree.add(position, size, value);
  }

  /** Removes a job by the key with which it was inserted. Returns false if it is not in the list. */
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

  /** Puts the cursor of `nextFitting` after the first `skip` jobs; `skip` is 0 or 1. */
  startSearch(skip: number): void {
    this.#cursorPosition = 0;
    this.#cursorEntry = skip;
  }

  /**
   * The next job at or after the cursor with size ≤ free, and with value ≤ maxValue or size ≤ spare; NO_JOB
   * if there is none. The cursor stays on the job found. The next call finds it again unless `takeFound` or
   * `skipFound` was called.
   */
  nextFitting(free: number, maxValue: number, spare: number): JobIndex {
    if (this.length === 0) return NO_JOB;
    if (this.#cursorPosition >= this.#blocks) return NO_JOB;
    const either = Math.min(spare, free);
    const tree = this.#tree;
    let position = this.#cursorPosition;
    if (tree.promises(position, free, maxValue, either)) {
      const found = this.#scanBlock(position, this.#cursorEntry, free, maxValue, spare);
      if (found !== NO_JOB) return found;
    }
    for (;;) {
      position = tree.nextPromising(position, free, maxValue, either);
      if (position < 0) return NO_JOB;
      const found = this.#scanBlock(position, 0, free, maxValue, spare);
      if (found !== NO_JOB) return found;
    }
  }

  /** Leaves the job that `nextFitting` found in the list, and moves the cursor to the next job. */
  skipFound(): void {
    this.#cursorEntry++;
  }

  /** Removes the job that `nextFitting` found; the cursor is then on the next job. */
  takeFound(): void {
    this.#removeEntry(this.#cursorPosition, this.#cursorEntry);
  }

  /**
   * Finds the smallest key for which the jobs with that key or a smaller one have a total size of at least
   * `need`. Sets `coverKey` and `coverSum`.
   */
  cover(need: number): void {
    if (this.length === 0 || this.#tree.total() < need) {
      this.coverKey = Number.POSITIVE_INFINITY;
      this.coverSum = this.#tree.total();
      return;
    }
    let position = this.#tree.positionOfSum(need);
    let sum = this.#tree.sumBefore;
    let key = Number.NaN;
    // After the entry that reaches the need, all entries with the same key still count.
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
    return this.#tree.total();
  }

  /** Copies the jobs, in order, into `target` and returns their number. */
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
    this.#tree.clear();
  }

  /** Recomputes all bookkeeping from the entries and throws if it differs. */
  audit(): void {
    AUDIT: {
      let total = 0;
      let previousKey = Number.NEGATIVE_INFINITY;
      let previousJob = -1;
      const seen = new Set<number>();
      const summaries: { minSize: number; minValue: number; sumSize: number }[] = [];
      for (let position = 0; position < this.#blocks; position++) {
        const block = this.#order[position];
        assert(!seen.has(block), `block ${block} is at two positions`);
        seen.add(block);
        const count = this.#count[block];
        assert(count > 0 && this.#begin[block] + count <= BLOCK, `block ${block} holds ${count} entries`);
        let minSize = NO_SIZE;
        let minValue = Number.POSITIVE_INFINITY;
        let sumSize = 0;
        for (let e = 0; e < count; e++) {
          const at = block * BLOCK + this.#begin[block] + e;
          const key = this.#keys[at];
          const job = this.#jobs[at];
          assert(
            key > previousKey || (key === previousKey && job > previousJob),
            `job ${job} is out of order`,
          );
          previousKey = key;
          previousJob = job;
          assert(this.#sizes[at] === this.#known.size[job], `size of job ${job} is stale`);
          minSize = Math.min(minSize, this.#sizes[at]);
          minValue = Math.min(minValue, this.#values[at]);
          sumSize += this.#sizes[at];
        }
        total += count;
        summaries.push({ minSize, minValue, sumSize });
      }
      assert(total === this.length, `length is ${this.length}, entries are ${total}`);
      this.#tree.audit(summaries, this.#isSearched);
    }
  }

  /** Position of the last block whose first entry is at or before (key, job); 0 if there is none. */
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

  /** Index of the first entry of the block at or after (key, job); the block's count if there is none. */
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

  /**
   * Splits a full block, or adds one after it, and returns the position of the block to insert (key, job)
   * into.
   */
  #makeRoom(position: number, key: number, job: JobIndex): number {
    const block = this.#order[position];
    if (position === this.#blocks - 1 && this.#entryAt(block, key, job) === BLOCK) {
      // For appends in order, such as arrivals, a new block keeps the others full.
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
    this.#setSummary(position);
    this.#setSummary(position + 1);
    this.#tree.updateFrom(position, position + 2);
    return this.#blockBefore(key, job);
  }

  /** Shifts entries of a block that is not full to make a gap for (key, job). Returns the gap's address. */
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
    if (this.#isSearched && this.#tree.isSmallest(position, size, value)) {
      this.#setSummary(position);
      this.#tree.update(position);
    } else this.#tree.subtract(position, size);
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

  /** Inserts an unused, empty block into the order at a position. */
  #insertBlock(position: number): void {
    if (this.#blocks === this.#order.length) this.#grow();
    const block = this.#order[this.#blocks];
    this.#order.copyWithin(position + 1, position, this.#blocks);
    this.#order[position] = block;
    this.#begin[block] = 0;
    this.#count[block] = 0;
    this.#tree.insert(position, this.#blocks++);
  }

  #deleteBlock(position: number): void {
    const block = this.#order[position];
    this.#tree.delete(position, this.#blocks--);
    this.#order.copyWithin(position, position + 1, this.#blocks + 1);
    this.#order[this.#blocks] = block;
    this.#cursorEntry = 0;
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
    this.#setSummary(position);
    this.#tree.update(position);
  }

  #setSummary(position: number): void {
    const block = this.#order[position];
    const start = block * BLOCK + this.#begin[block];
    const end = start + this.#count[block];
    let minSize = NO_SIZE;
    let minValue = Number.POSITIVE_INFINITY;
    let sumSize = 0;
    for (let at = start; at < end; at++) {
      const size = this.#sizes[at];
      const value = this.#values[at];
      sumSize += size;
      if (size < minSize) minSize = size;
      if (value < minValue) minValue = value;
    }
    this.#tree.set(position, minSize, minValue, sumSize);
  }

  #grow(): void {
    this.#keys = doubled(this.#keys);
    this.#jobs = doubled(this.#jobs);
    this.#sizes = doubled(this.#sizes);
    this.#values = doubled(this.#values);
    this.#begin = doubled(this.#begin);
    this.#count = doubled(this.#count);
    const used = this.#order.length;
    this.#order = doubled(this.#order);
    for (let b = used; b < 2 * used; b++) this.#order[b] = b;
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
