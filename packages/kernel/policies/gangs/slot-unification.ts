/**
 * Slot unification without moves: after a workload change, jobs get slots in rows in which their processors
 * are idle (Feitelson 1996; Zhou, Brent, Johnson and Walsh 1999, section 2). Only what may have become
 * possible is tried: jobs placed since the last time are tried in every row, and the other jobs only in rows
 * that have changed.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { MatrixView, RowId } from "../../core/policy.ts";
import { JobNumbers } from "../../structures/job-column.ts";

/** Decides about extra slots and gives them. */
export interface ExtraSlotHost {
  admits(job: JobIndex, row: RowId): boolean;
  giveSlot(job: JobIndex, row: RowId): void;
}

export class SlotUnification {
  readonly #matrix: MatrixView;
  readonly #host: ExtraSlotHost;
  readonly #oneAtATime: boolean;
  readonly #placed: JobsInOrder;
  /** Number of the last change; changes are numbered from 1. */
  #change = 0;
  /** Number of each row's last change. */
  readonly #changeOfRow: number[] = [];
  /** For each job, the number of the last change up to which it has been tried in all rows. */
  readonly #triedUpTo = new JobNumbers();
  /** Rows by their last change, the latest at the end. */
  readonly #rows: RowId[] = [];
  #isDone = true;

  /** @param oneAtATime gives out one slot per call instead of all that can be used */
  constructor(matrix: MatrixView, jobs: JobsView, host: ExtraSlotHost, oneAtATime: boolean) {
    this.#matrix = matrix;
    this.#host = host;
    this.#oneAtATime = oneAtATime;
    this.#placed = new JobsInOrder(jobs, "largest");
  }

  jobPlaced(job: JobIndex): void {
    this.#placed.insert(job);
    this.#isDone = false;
  }

  jobEnded(job: JobIndex): void {
    this.#placed.remove(job);
  }

  /** Processors of the row have become idle, or the row is new. */
  rowChanged(row: RowId): void {
    this.#isDone = false;
    this.#changeOfRow[row] = ++this.#change;
    if (this.#rows[this.#rows.length - 1] === row) return;
    this.rowDeleted(row);
    this.#rows.push(row);
  }

  rowDeleted(row: RowId): void {
    const at = this.#rows.indexOf(row);
    if (at >= 0) this.#rows.splice(at, 1);
  }

  giveSlots(): void {
    if (this.#isDone) return;
    for (const job of this.#placed.jobs) {
      if (this.#triedUpTo.get(job) === this.#change) continue;
      // This job's remaining rows, and the remaining jobs, are tried the next time.
      if (this.#oneAtATime && this.#giveOne(job)) return;
      if (!this.#oneAtATime) this.#giveAll(job);
      this.#triedUpTo.set(job, this.#change);
    }
    this.#isDone = true;
  }

  /** Gives the job a slot in the first row of the round that admits it. Returns whether there was one. */
  #giveOne(job: JobIndex): boolean {
    const matrix = this.#matrix;
    let first: RowId = -1;
    for (let i = this.#rows.length - 1; i >= 0 && this.#isUntried(job, i); i--) {
      const row = this.#rows[i];
      if (first !== -1 && matrix.positionOf(row) > matrix.positionOf(first)) continue;
      if (this.#host.admits(job, row)) first = row;
    }
    if (first !== -1) this.#host.giveSlot(job, first);
    return first !== -1;
  }

  #giveAll(job: JobIndex): void {
    for (let i = this.#rows.length - 1; i >= 0 && this.#isUntried(job, i); i--) {
      const row = this.#rows[i];
      if (this.#host.admits(job, row)) this.#host.giveSlot(job, row);
    }
  }

  #isUntried(job: JobIndex, i: number): boolean {
    return this.#changeOfRow[this.#rows[i]] > this.#triedUpTo.get(job);
  }
}

/** Which job gets extra slots first. Ties: the job submitted first. */
export type ExtraOrder = "largest" | "smallest" | "oldest" | "newest";

/** Jobs in the order in which they get extra slots. */
export class JobsInOrder {
  readonly jobs: JobIndex[] = [];
  readonly #known: JobsView;
  readonly #order: ExtraOrder;

  constructor(jobs: JobsView, order: ExtraOrder) {
    this.#known = jobs;
    this.#order = order;
  }

  insert(job: JobIndex): void {
    this.jobs.splice(this.#find(job), 0, job);
  }

  remove(job: JobIndex): void {
    this.jobs.splice(this.#find(job), 1);
  }

  /** The index of the job, or the index at which it belongs. */
  #find(job: JobIndex): number {
    let low = 0;
    let high = this.jobs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#comesBefore(this.jobs[middle], job)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #comesBefore(a: JobIndex, b: JobIndex): boolean {
    if (this.#order === "newest") return submittedBefore(this.#known, b, a);
    const larger = this.#order === "oldest" ? 0 : this.#known.size[a] - this.#known.size[b];
    if (larger === 0) return submittedBefore(this.#known, a, b);
    return this.#order === "largest" ? larger > 0 : larger < 0;
  }
}

/**
 * Whether a job was submitted before another one. Rows do not say so in a live scheduler: a job that waited
 * for a limit or a window gets its row later.
 */
export function submittedBefore({ submitS }: JobsView, a: JobIndex, b: JobIndex): boolean {
  return submitS[a] === submitS[b] ? a < b : submitS[a] < submitS[b];
}
