/**
 * Slot unification where nothing moves: after a workload change jobs are given rows in which their processors are idle (Feitelson
 * 1996; Zhou, Brent, Johnson and Walsh 1999, section 2). Only what may have become possible is tried: jobs placed since the
 * last time in every row, the others in rows that have changed.
 */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { MatrixView, RowId } from "../core/policy.ts";
import { grown } from "../structures/grow.ts";

/** Who decides about extra slots and gives them. */
export interface ExtraSlotHost {
  admits(job: JobIndex, row: RowId): boolean;
  giveSlot(job: JobIndex, row: RowId): void;
}

export class SlotUnification {
  readonly #matrix: MatrixView;
  readonly #host: ExtraSlotHost;
  readonly #perChange: number;
  readonly #placed: LargestFirst;
  readonly #isNew: Uint8Array;
  readonly #new: JobIndex[] = [];
  #isChanged = new Int32Array(4);
  readonly #changed: RowId[] = [];

  /** @param perChange most slots given out at a time */
  constructor(matrix: MatrixView, jobs: JobsView, host: ExtraSlotHost, perChange: number) {
    this.#matrix = matrix;
    this.#host = host;
    this.#perChange = perChange;
    this.#placed = new LargestFirst(jobs);
    this.#isNew = new Uint8Array(jobs.count);
  }

  jobPlaced(job: JobIndex): void {
    this.#placed.insert(job);
    this.#isNew[job] = 1;
    this.#new.push(job);
  }

  jobEnded(job: JobIndex): void {
    this.#placed.remove(job);
  }

  /** Processors of the row have become idle, or the row is new. */
  rowChanged(row: RowId): void {
    if (row >= this.#isChanged.length) this.#isChanged = grown(this.#isChanged, 2 * row, 0);
    if (this.#isChanged[row] === 1) return;
    this.#isChanged[row] = 1;
    this.#changed.push(row);
  }

  /** To be told before the row is deleted. */
  rowDeleted(row: RowId): void {
    if (this.#isChanged[row] !== 1) return;
    this.#isChanged[row] = 0;
    this.#changed.splice(this.#changed.indexOf(row), 1);
  }

  giveSlots(): void {
    if (this.#new.length === 0 && this.#changed.length === 0) return;
    const matrix = this.#matrix;
    this.#changed.sort((a, b) => matrix.positionOf(a) - matrix.positionOf(b));
    let left = this.#perChange;
    for (const job of this.#placed.jobs) {
      const isNew = this.#isNew[job] === 1;
      const count = isNew ? matrix.rowCount : this.#changed.length;
      for (let i = 0; i < count; i++) {
        const row = isNew ? matrix.rowAt(i) : this.#changed[i];
        if (!this.#host.admits(job, row)) continue;
        this.#host.giveSlot(job, row);
        // What was not tried yet is tried the next time.
        if (--left === 0) return;
      }
    }
    for (const job of this.#new) this.#isNew[job] = 0;
    for (const row of this.#changed) this.#isChanged[row] = 0;
    this.#new.length = 0;
    this.#changed.length = 0;
  }
}

/** Jobs in order of size, the largest first; ties: submitted first. */
export class LargestFirst {
  readonly jobs: JobIndex[] = [];
  readonly #size: JobsView["size"];

  constructor(jobs: JobsView) {
    this.#size = jobs.size;
  }

  insert(job: JobIndex): void {
    this.jobs.splice(this.#find(job), 0, job);
  }

  remove(job: JobIndex): void {
    this.jobs.splice(this.#find(job), 1);
  }

  /** Where the job is, or belongs. */
  #find(job: JobIndex): number {
    const size = this.#size;
    let low = 0;
    let high = this.jobs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.jobs[middle];
      if (size[other] > size[job] || (size[other] === size[job] && other < job)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
