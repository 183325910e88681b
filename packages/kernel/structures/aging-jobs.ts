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

/** More than the relative error of a line, and of the cube root of a value. */
const MARGIN = 1e-12;

/** Jobs are sorted from scratch if more have to be moved. */
const MOVES_PER_JOB = 16;

/** A waiting job, and what its subtree has. */
interface Node {
  job: JobIndex;
  readonly size: number;
  readonly estimateS: number;
  readonly submitS: number;
  /** The slope of the job's line. */
  readonly slope: number;
  /** No child has a larger one. */
  readonly rank: number;
  left: Node | undefined;
  right: Node | undefined;
  minEstimateS: number;
  first: Node;
  /** The first job is certain before this time. */
  untilS: number;
  /** Value at the last `copyTo`; NaN before the first one. */
  value: number;
}

type Tree = Node | undefined;

export class AgingJobs {
  readonly #known: Pick<JobsView, "size" | "estimateS" | "submitS">;
  #nowS = 0;
  readonly #nodes = new Map<JobIndex, Node>();
  #root: Tree;
  /** The nodes in the order of the last `copyTo`. */
  #sorted: Node[] = [];

  // The search of `nextFitting`.
  #found: Tree;
  #passed: JobIndex = NO_JOB;
  /** Nodes that were skipped, in queue order. They are not in the tree until the search is over. */
  #skipped: Node[] = [];

  constructor(known: Pick<JobsView, "size" | "estimateS" | "submitS">) {
    this.#known = known;
  }

  /** Number of jobs. */
  get length(): number {
    return this.#nodes.size;
  }

  /** Sets the time at which the order is asked for. */
  age(nowS: number): void {
    // Skipped jobs may overtake each other from now on.
    this.#endSearch();
    // A clock that goes back makes nothing certain.
    if (nowS < this.#nowS) for (const node of this.#nodes.values()) node.untilS = Number.NEGATIVE_INFINITY;
    this.#nowS = nowS;
  }

  /** First job in order, or NO_JOB. */
  first(): JobIndex {
    this.#refresh(this.#root);
    const [skipped] = this.#skipped;
    const first = this.#root?.first;
    return (this.#isBefore(skipped, first) ? skipped : first)?.job ?? NO_JOB;
  }

  insert(job: JobIndex): void {
    const size = this.#known.size[job];
    const estimateS = this.#known.estimateS[job];
    const node = {
      job,
      size,
      estimateS,
      submitS: this.#known.submitS[job],
      slope: power(size, 1 / 3) / lengthOf(estimateS),
      rank: hash(job),
      left: undefined,
      right: undefined,
      minEstimateS: estimateS,
      first: undefined as unknown as Node,
      untilS: Number.POSITIVE_INFINITY,
      value: Number.NaN,
    };
    node.first = node;
    this.#nodes.set(job, node);
    this.#endSearch();
    this.#add(node);
  }

  /** Returns false if the job is not in the list. */
  remove(job: JobIndex): boolean {
    this.#endSearch();
    const node = this.#nodes.get(job);
    if (node === undefined) return false;
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
    this.#found = undefined;
    this.#refresh(this.#root);
    this.#search(this.#root, free, maxValue, Math.min(spare, free));
    return (this.#found as Tree)?.job ?? NO_JOB;
  }

  /** Leaves the job that `nextFitting` found in the list, and does not find it again in this search. */
  skipFound(): void {
    this.#root = this.#without(this.#root, this.#found!);
    this.#skipped.push(this.#found!);
  }

  /** Removes the job that `nextFitting` found. */
  takeFound(): void {
    this.#take(this.#found!);
  }

  /**
   * Copies the jobs, in order, into `target` and returns their number. This sorts them, and is fast if few
   * have changed places since the last call.
   */
  copyTo(target: Int32Array): number {
    const sorted = this.#sorted.filter(({ job }) => job !== NO_JOB);
    this.#sorted = sorted;
    for (const node of this.#nodes.values()) {
      if (Number.isNaN(node.value)) sorted.push(node);
      node.value = this.#value(node);
    }
    let moves = MOVES_PER_JOB * sorted.length;
    for (let i = 1; i < sorted.length && moves >= 0; i++) {
      const node = sorted[i];
      let at = i;
      for (; at > 0 && compare(node, sorted[at - 1]) < 0; at--) sorted[at] = sorted[at - 1];
      sorted[at] = node;
      moves -= i - at;
    }
    // The order is very different from the last one.
    if (moves < 0) sorted.sort(compare);
    for (let i = 0; i < sorted.length; i++) target[i] = sorted[i].job;
    return sorted.length;
  }

  #take(node: Node): void {
    this.#root = this.#without(this.#root, node);
    this.#nodes.delete(node.job);
    node.job = NO_JOB;
  }

  #endSearch(): void {
    for (const node of this.#skipped) this.#add(node);
    this.#skipped = [];
  }

  /** Finds the first job that fits, in a subtree whose first jobs are certain. */
  #search(node: Tree, free: number, maxValue: number, either: number): void {
    if (node === undefined || this.#isBefore(this.#found, node.first)) return;
    const most = node.minEstimateS > maxValue ? either : free;
    if (node.size <= most) {
      if (this.#fits(node.first, most, maxValue, either)) {
        this.#found = node.first;
        return;
      }
      if (this.#fits(node, most, maxValue, either) && !this.#isBefore(this.#found, node)) this.#found = node;
      this.#search(node.right, most, maxValue, either);
    }
    this.#search(node.left, most, maxValue, either);
  }

  #fits({ job, size, estimateS }: Node, free: number, maxValue: number, either: number): boolean {
    return size <= free && (size <= either || estimateS <= maxValue) && job !== this.#passed;
  }

  /** Makes the first jobs of a subtree certain. */
  #refresh(node: Tree): void {
    if (node === undefined || this.#nowS < node.untilS) return;
    this.#refresh(node.left);
    this.#refresh(node.right);
    this.#summarised(node);
  }

  /** Computes what a subtree has from its children; uncertain if one of them is. */
  #summarised(node: Node): Node {
    node.minEstimateS = node.estimateS;
    node.first = node;
    node.untilS = Number.POSITIVE_INFINITY;
    if (node.left !== undefined) this.#addChild(node, node.left);
    if (node.right !== undefined) this.#addChild(node, node.right);
    return node;
  }

  #addChild(node: Node, child: Node): void {
    let { first } = node;
    let second = child.first;
    if (this.#isBefore(second, first)) [first, second] = [second, first];
    node.first = first;
    node.minEstimateS = Math.min(node.minEstimateS, child.minEstimateS);
    node.untilS = Math.min(node.untilS, child.untilS, this.#certainUntil(first, second));
  }

  #value({ size, estimateS, submitS }: Node): number {
    return valueAt(this.#nowS, size, estimateS, submitS);
  }

  /** Whether both are there, and in this order. */
  #isBefore(a: Tree, b: Tree): boolean {
    if (a === undefined || b === undefined) return a !== undefined && b === undefined;
    const ahead = this.#value(a) - this.#value(b);
    return ahead > 0 || (ahead === 0 && a.job < b.job);
  }

  /** A time before which a job that is first now is before the second one. */
  #certainUntil(first: Node, second: Node): number {
    const waitS = this.#nowS - first.submitS;
    const laterS = second.submitS - first.submitS;
    if (isNeverBehind(first, second)) return Number.POSITIVE_INFINITY;
    const slope = (1 - MARGIN) * first.slope;
    const other = second.slope;
    if (waitS < 0 || waitS < laterS || other * (waitS - laterS) >= slope * waitS)
      return Number.NEGATIVE_INFINITY;
    if (other <= slope) return Number.POSITIVE_INFINITY;
    const untilS = first.submitS + (other * laterS) / (other - slope);
    return untilS - MARGIN * Math.abs(untilS);
  }

  #add(node: Node): void {
    const [before, after] = this.#split(this.#root, node);
    node.left = undefined;
    node.right = undefined;
    this.#root = this.#joined(this.#joined(before, this.#summarised(node)), after);
  }

  #without(root: Tree, node: Node): Tree {
    if (root === undefined || root === node) return this.#joined(node.left, node.right);
    if (isLeftOf(node, root)) root.left = this.#without(root.left, node);
    else root.right = this.#without(root.right, node);
    return this.#summarised(root);
  }

  /** The parts of a subtree to the left and right of a node that is not in it. */
  #split(root: Tree, node: Node): [before: Tree, after: Tree] {
    if (root === undefined) return [root, root];
    const isAfter = isLeftOf(node, root);
    const [before, after] = this.#split(isAfter ? root.left : root.right, node);
    if (isAfter) root.left = after;
    else root.right = before;
    this.#summarised(root);
    return isAfter ? [before, root] : [root, after];
  }

  #joined(left: Tree, right: Tree): Tree {
    if (left === undefined || right === undefined) return left ?? right;
    if (left.rank > right.rank) {
      left.right = this.#joined(left.right, right);
      return this.#summarised(left);
    }
    right.left = this.#joined(left, right.left);
    return this.#summarised(right);
  }
}

/** In the order of the last `copyTo`. */
function compare(a: Node, b: Node): number {
  return b.value - a.value || a.job - b.job;
}

/** Whether rounding cannot change the order either, because no operation changes it. */
function isNeverBehind(a: Node, b: Node): boolean {
  return a.size >= b.size && a.estimateS <= b.estimateS && a.submitS <= b.submitS && a.job < b.job;
}

/** Order in the tree. */
function isLeftOf(a: Node, b: Node): boolean {
  return a.size < b.size || (a.size === b.size && a.job < b.job);
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
