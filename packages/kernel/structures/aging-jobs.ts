/**
 * Keeps waiting jobs in the order of WFP: largest size × (wait ÷ length)³ first (ties: smallest job number).
 * The values of all jobs change all the time, and jobs overtake each other, so no list is sorted. The cube
 * root of a value is a straight line over time, and a line overtakes another one at most once:
 *
 *   value^⅓ │          ╱ short job
 *           │   _____╱__----  large job
 *           │_--   ╱
 *           └─────────▲────────▶ time
 *                     until then, the large job is first
 *
 * A search tree in order of (size, job) has in each node the first job of its subtree, and a time until which
 * this is certain (a kinetic tournament). Only subtrees whose time is over are looked at again. A search for
 * the first job that fits leaves out subtrees in which none fits, and those whose first job is behind the
 * best one found. All operations but `copyTo` take about O(log n). The tree is a treap: the heap order of
 * numbers that are hashes of the jobs keeps it balanced.
 *
 * Only values decide, as a sort of all jobs would compute them. Lines only say how long the decision holds,
 * and less than that by far more than their rounding errors.
 */
import { power } from "../core/elementary.ts";
import { type JobIndex, type JobsView, NO_JOB } from "../core/jobs.ts";
import { doubled } from "./grow.ts";
import { JobIntegers } from "./job-column.ts";

const NONE = -1;
/** More than the relative error of a line, and of the cube root of a value. */
const MARGIN = 1e-12;

/** Jobs are sorted from scratch if more have to be moved. */
const MOVES_PER_JOB = 16;

/** Before the order of two jobs can change, in any case. */
const UNKNOWN_S = Number.NEGATIVE_INFINITY;

export class AgingJobs {
  /** Number of jobs. */
  length = 0;

  readonly #known: Pick<JobsView, "size" | "estimateS" | "submitS">;
  #nowS = 0;

  // The nodes. Unused ones are linked by their left children.
  readonly #nodeOf = new JobIntegers(NONE);
  #root = NONE;
  #unused = NONE;
  #nodes = 0;
  #job = new Int32Array(64);
  #size = new Int32Array(64);
  #estimateS = new Float64Array(64);
  #submitS = new Float64Array(64);
  /** The slope of the job's line. */
  #slope = new Float64Array(64);
  #left = new Int32Array(64);
  #right = new Int32Array(64);

  // What the subtree of each node has.
  #minSize = new Int32Array(64);
  #minEstimateS = new Float64Array(64);
  /** Node of the first job. */
  #first = new Int32Array(64);
  /** The first job is certain before this time. */
  #untilS = new Float64Array(64);

  // The nodes in the order of the last `copyTo`, some of which are unused or another job's now.
  #sorted = new Int32Array(64);
  #sortedCount = 0;
  /** 1: the node's job is in that list. */
  #isSorted = new Uint8Array(64);
  #sortValue = new Float64Array(64);

  // The two parts of a subtree that was split.
  #before = NONE;
  #after = NONE;

  // The search of `nextFitting`.
  #passed: JobIndex = NO_JOB;
  #found = NONE;
  /** Jobs that were skipped, in queue order. They are not in the tree until the search is over. */
  readonly #skipped: JobIndex[] = [];

  constructor(known: Pick<JobsView, "size" | "estimateS" | "submitS">) {
    this.#known = known;
  }

  /** Sets the time at which the order is asked for. */
  age(nowS: number): void {
    // A clock that goes back makes nothing certain.
    if (nowS < this.#nowS) this.#untilS.fill(UNKNOWN_S);
    this.#nowS = nowS;
  }

  /** First job in order, or NO_JOB. */
  first(): JobIndex {
    if (this.#root === NONE) return this.#skipped[0] ?? NO_JOB;
    this.#refresh(this.#root);
    const first = this.#first[this.#root];
    if (this.#skipped.length > 0) {
      const job = this.#skipped[0];
      const { size, estimateS, submitS } = this.#known;
      const ahead = valueAt(this.#nowS, size[job], estimateS[job], submitS[job]) - this.#value(first);
      if (ahead > 0 || (ahead === 0 && job < this.#job[first])) return job;
    }
    return this.#job[first];
  }

  insert(job: JobIndex): void {
    this.#endSearch();
    this.#add(job);
  }

  /** Returns false if the job is not in the list. */
  remove(job: JobIndex): boolean {
    this.#endSearch();
    const node = this.#nodeOf.get(job);
    if (node === NONE) return false;
    this.#take(node);
    return true;
  }

  removeFirst(): void {
    this.remove(this.first());
  }

  /** Begins a search behind the first `skip` jobs; `skip` is 0 or 1. */
  startSearch(skip: number): void {
    this.#endSearch();
    this.#passed = skip === 0 ? NO_JOB : this.first();
  }

  /**
   * The first job with size ≤ free, and with estimate ≤ maxValue or size ≤ spare; NO_JOB if there is none.
   * During a search, none of the three may grow. The next call finds the same job again unless `takeFound`
   * or `skipFound` was called.
   */
  nextFitting(free: number, maxValue: number, spare: number): JobIndex {
    this.#found = NONE;
    if (this.#root === NONE) return NO_JOB;
    this.#refresh(this.#root);
    this.#search(this.#root, free, maxValue, Math.min(spare, free));
    return this.#found === NONE ? NO_JOB : this.#job[this.#found];
  }

  /** Leaves the job that `nextFitting` found in the list, and does not find it again in this search. */
  skipFound(): void {
    const job = this.#job[this.#found];
    this.#take(this.#found);
    this.#skipped.push(job);
    this.length++;
  }

  /** Removes the job that `nextFitting` found. */
  takeFound(): void {
    this.#take(this.#found);
  }

  /**
   * Copies the jobs, in order, into `target` and returns their number. This sorts them, and is fast if few
   * have changed places since the last call.
   */
  copyTo(target: Int32Array): number {
    this.#endSearch();
    let count = 0;
    for (let i = 0; i < this.#sortedCount; i++) {
      const node = this.#sorted[i];
      if (this.#isSorted[node] === 1) this.#sorted[count++] = node;
    }
    this.#sortedCount = count;
    this.#appendNew(this.#root);
    this.#sort();
    for (let i = 0; i < this.#sortedCount; i++) target[i] = this.#job[this.#sorted[i]];
    return this.#sortedCount;
  }

  /** Appends the nodes of a subtree that are not in the sorted list yet. */
  #appendNew(node: number): void {
    if (node === NONE) return;
    this.#sortValue[node] = this.#value(node);
    if (this.#isSorted[node] === 0) {
      this.#isSorted[node] = 1;
      this.#sorted[this.#sortedCount++] = node;
    }
    this.#appendNew(this.#left[node]);
    this.#appendNew(this.#right[node]);
  }

  #sort(): void {
    const sorted = this.#sorted;
    const value = this.#sortValue;
    const job = this.#job;
    let moves = MOVES_PER_JOB * this.#sortedCount;
    for (let i = 1; i < this.#sortedCount; i++) {
      const node = sorted[i];
      const own = value[node];
      let at = i;
      for (; at > 0; at--) {
        const before = sorted[at - 1];
        if (value[before] > own || (value[before] === own && job[before] < job[node])) break;
        sorted[at] = before;
      }
      sorted[at] = node;
      moves -= i - at;
      if (moves < 0) break;
    }
    // The order is very different from the last one.
    if (moves < 0)
      sorted.subarray(0, this.#sortedCount).sort((a, b) => value[b] - value[a] || job[a] - job[b]);
  }

  #endSearch(): void {
    if (this.#skipped.length === 0) return;
    for (const job of this.#skipped) {
      this.length--;
      this.#add(job);
    }
    this.#skipped.length = 0;
  }

  /** Finds the first job that fits, in a subtree whose first jobs are certain. */
  #search(node: number, free: number, maxValue: number, either: number): void {
    if (node === NONE || this.#minSize[node] > free) return;
    if (this.#minEstimateS[node] > maxValue && this.#minSize[node] > either) return;
    const first = this.#first[node];
    if (this.#found !== NONE && this.#isBefore(this.#found, first)) return;
    if (this.#fits(first, free, maxValue, either)) {
      this.#found = first;
      return;
    }
    if (this.#fits(node, free, maxValue, either)) {
      if (this.#found === NONE || this.#isBefore(node, this.#found)) this.#found = node;
    }
    this.#search(this.#left[node], free, maxValue, either);
    if (this.#size[node] <= free) this.#search(this.#right[node], free, maxValue, either);
  }

  #fits(node: number, free: number, maxValue: number, either: number): boolean {
    const size = this.#size[node];
    return (
      size <= free &&
      (size <= either || this.#estimateS[node] <= maxValue) &&
      this.#job[node] !== this.#passed
    );
  }

  /** Makes the first jobs of a subtree certain. */
  #refresh(node: number): void {
    if (node === NONE || this.#nowS < this.#untilS[node]) return;
    this.#refresh(this.#left[node]);
    this.#refresh(this.#right[node]);
    this.#summarise(node);
  }

  /** Computes what a subtree has from its children; uncertain if one of them is. */
  #summarise(node: number): void {
    this.#minSize[node] = this.#size[node];
    this.#minEstimateS[node] = this.#estimateS[node];
    this.#first[node] = node;
    this.#untilS[node] = Number.POSITIVE_INFINITY;
    const left = this.#left[node];
    if (left !== NONE) {
      this.#minSize[node] = this.#minSize[left];
      this.#addChild(node, left);
    }
    const right = this.#right[node];
    if (right !== NONE) this.#addChild(node, right);
  }

  #addChild(node: number, child: number): void {
    if (this.#minEstimateS[child] < this.#minEstimateS[node])
      this.#minEstimateS[node] = this.#minEstimateS[child];
    let first = this.#first[node];
    let second = this.#first[child];
    if (this.#isBefore(second, first)) {
      second = first;
      first = this.#first[child];
    }
    this.#first[node] = first;
    const untilS = Math.min(this.#untilS[child], this.#certainUntil(first, second));
    if (untilS < this.#untilS[node]) this.#untilS[node] = untilS;
  }

  #value(node: number): number {
    return valueAt(this.#nowS, this.#size[node], this.#estimateS[node], this.#submitS[node]);
  }

  #isBefore(a: number, b: number): boolean {
    const ahead = this.#value(a) - this.#value(b);
    return ahead > 0 || (ahead === 0 && this.#job[a] < this.#job[b]);
  }

  /** A time before which a job that is first now is before the second one. */
  #certainUntil(first: number, second: number): number {
    const fromS = this.#submitS[first];
    const laterS = this.#submitS[second] - fromS;
    const waitS = this.#nowS - fromS;
    if (waitS < 0 || waitS < laterS) return UNKNOWN_S;
    if (this.#isNeverBehind(first, second)) return Number.POSITIVE_INFINITY;
    const slope = (1 - MARGIN) * this.#slope[first];
    const other = this.#slope[second];
    if (other * (waitS - laterS) >= slope * waitS) return UNKNOWN_S;
    if (other <= slope) return Number.POSITIVE_INFINITY;
    const untilS = fromS + (other * laterS) / (other - slope);
    return untilS - MARGIN * Math.abs(untilS);
  }

  /** Whether rounding cannot change the order either, because no operation changes it. */
  #isNeverBehind(a: number, b: number): boolean {
    return (
      this.#size[a] >= this.#size[b] &&
      this.#estimateS[a] <= this.#estimateS[b] &&
      this.#submitS[a] <= this.#submitS[b] &&
      this.#job[a] < this.#job[b]
    );
  }

  #add(job: JobIndex): void {
    this.length++;
    const node = this.#newNode();
    this.#nodeOf.set(job, node);
    this.#job[node] = job;
    this.#size[node] = this.#known.size[job];
    this.#estimateS[node] = this.#known.estimateS[job];
    this.#submitS[node] = this.#known.submitS[job];
    this.#slope[node] = power(this.#size[node], 1 / 3) / lengthOf(this.#estimateS[node]);
    this.#root = this.#insertInto(this.#root, node);
  }

  /** Removes a node and its job. */
  #take(node: number): void {
    this.length--;
    this.#root = this.#removeFrom(this.#root, node);
    this.#nodeOf.set(this.#job[node], NONE);
    this.#isSorted[node] = 0;
    this.#left[node] = this.#unused;
    this.#unused = node;
  }

  #newNode(): number {
    const node = this.#unused;
    if (node !== NONE) {
      this.#unused = this.#left[node];
      return node;
    }
    if (this.#nodes === this.#job.length) this.#grow();
    return this.#nodes++;
  }

  #insertInto(root: number, node: number): number {
    if (root === NONE || hash(this.#job[node]) > hash(this.#job[root])) {
      this.#split(root, node);
      this.#left[node] = this.#before;
      this.#right[node] = this.#after;
      this.#summarise(node);
      return node;
    }
    if (this.#isLeftOf(node, root)) this.#left[root] = this.#insertInto(this.#left[root], node);
    else this.#right[root] = this.#insertInto(this.#right[root], node);
    this.#summarise(root);
    return root;
  }

  #removeFrom(root: number, node: number): number {
    if (root === node) return this.#joined(this.#left[root], this.#right[root]);
    if (this.#isLeftOf(node, root)) this.#left[root] = this.#removeFrom(this.#left[root], node);
    else this.#right[root] = this.#removeFrom(this.#right[root], node);
    this.#summarise(root);
    return root;
  }

  /** Splits a subtree at the place of a node that is not in it. */
  #split(root: number, node: number): void {
    if (root === NONE) {
      this.#before = NONE;
      this.#after = NONE;
      return;
    }
    if (this.#isLeftOf(node, root)) {
      this.#split(this.#left[root], node);
      this.#left[root] = this.#after;
      this.#after = root;
    } else {
      this.#split(this.#right[root], node);
      this.#right[root] = this.#before;
      this.#before = root;
    }
    this.#summarise(root);
  }

  #joined(left: number, right: number): number {
    if (left === NONE) return right;
    if (right === NONE) return left;
    if (hash(this.#job[left]) > hash(this.#job[right])) {
      this.#right[left] = this.#joined(this.#right[left], right);
      this.#summarise(left);
      return left;
    }
    this.#left[right] = this.#joined(left, this.#left[right]);
    this.#summarise(right);
    return right;
  }

  #isLeftOf(a: number, b: number): boolean {
    return this.#size[a] < this.#size[b] || (this.#size[a] === this.#size[b] && this.#job[a] < this.#job[b]);
  }

  #grow(): void {
    this.#job = doubled(this.#job);
    this.#size = doubled(this.#size);
    this.#estimateS = doubled(this.#estimateS);
    this.#submitS = doubled(this.#submitS);
    this.#slope = doubled(this.#slope);
    this.#left = doubled(this.#left);
    this.#right = doubled(this.#right);
    this.#minSize = doubled(this.#minSize);
    this.#minEstimateS = doubled(this.#minEstimateS);
    this.#first = doubled(this.#first);
    this.#untilS = doubled(this.#untilS);
    this.#sorted = doubled(this.#sorted);
    this.#isSorted = doubled(this.#isSorted);
    this.#sortValue = doubled(this.#sortValue);
  }
}

/** An estimate below a second counts as one second, so that the quotient exists. */
function lengthOf(estimateS: number): number {
  return Math.max(estimateS, 1);
}

/** The value of WFP; the largest is first. */
export function valueAt(nowS: number, size: number, estimateS: number, submitS: number): number {
  const ratio = (nowS - submitS) / lengthOf(estimateS);
  return size * ratio * ratio * ratio;
}

/** Spreads job numbers evenly; different jobs have different values. */
function hash(job: JobIndex): number {
  const mixed = Math.imul(job ^ (job >>> 16), 0x45d9f3b);
  return Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
}
