/**
 * Conventional gang scheduling (Ousterhout 1982): row by row, first fit or best fit, no migration. The baseline of
 * silva1999 ("first fit without thread migration", section 4) and of zhou1999 (first and best fit without re-packing).
 * silva1999 asks only whether a slice has enough idle processors; here a job's processors stand side by side, as everywhere in the
 * matrix.
 */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, ParameterValues, Policy, RowId } from "../core/policy.ts";

const NONE = -1;

class Gang implements Policy {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #bestFit: boolean;
  readonly #rowOf: Int32Array;
  readonly #arrivals: JobIndex[] = [];
  /** Widest gap of each row, so that rows without room are passed over without being searched. */
  #widest = new Int32Array(4);
  #departed = false;
  // What the last search of a row found.
  #gapFirst = NONE;
  #gapSize = 0;

  constructor(machine: GangMachine, jobs: JobsView, parameters: ParameterValues) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#bestFit = parameters.fit === "best";
    this.#rowOf = new Int32Array(jobs.count);
  }

  arrive(job: JobIndex): void {
    this.#arrivals.push(job);
  }

  depart(job: JobIndex): void {
    this.#measure(this.#rowOf[job]);
    this.#departed = true;
  }

  decide(): void {
    if (this.#departed) this.#deleteEmptyRows();
    for (const job of this.#arrivals) this.#place(job);
    this.#arrivals.length = 0;
  }

  #deleteEmptyRows(): void {
    this.#departed = false;
    const machine = this.#machine;
    for (let position = machine.rowCount - 1; position >= 0 && machine.rowCount > 1; position--) {
      const row = machine.rowAt(position);
      if (machine.firstRun(row) === NONE) machine.deleteRow(row);
    }
  }

  #place(job: JobIndex): void {
    const machine = this.#machine;
    const size = this.#jobs.size[job];
    let row = this.#bestFit ? this.#bestRow(size) : this.#firstRow(size);
    if (row === NONE) {
      row = machine.addRow();
      if (row >= this.#widest.length) this.#widest = doubled(this.#widest, row);
      this.#gapFirst = 0;
    }
    machine.place(job, row, this.#gapFirst);
    this.#rowOf[job] = row;
    this.#measure(row);
  }

  /** First row in order of the round with a gap of the size; the gap is its leftmost. */
  #firstRow(size: number): RowId {
    const machine = this.#machine;
    for (let position = 0; position < machine.rowCount; position++) {
      const row = machine.rowAt(position);
      if (this.#widest[row] < size) continue;
      this.#search(row, size);
      return row;
    }
    return NONE;
  }

  /** Row with the narrowest gap that has the size; among equals the first row, there the leftmost gap. */
  #bestRow(size: number): RowId {
    const machine = this.#machine;
    let best = NONE;
    let bestFirst = NONE;
    let bestSize = machine.processors + 1;
    for (let position = 0; position < machine.rowCount && bestSize > size; position++) {
      const row = machine.rowAt(position);
      if (this.#widest[row] < size) continue;
      this.#search(row, size);
      if (this.#gapSize >= bestSize) continue;
      best = row;
      bestFirst = this.#gapFirst;
      bestSize = this.#gapSize;
    }
    this.#gapFirst = bestFirst;
    return best;
  }

  /** Finds a gap of at least the size: the leftmost under first fit, the narrowest under best fit. */
  #search(row: RowId, size: number): void {
    const machine = this.#machine;
    this.#gapFirst = NONE;
    this.#gapSize = machine.processors + 1;
    let end = 0;
    for (let run = machine.firstRun(row); ; run = machine.nextRun(run)) {
      const first = run === NONE ? machine.processors : machine.runFirst(run);
      const gap = first - end;
      if (gap >= size && gap < this.#gapSize) {
        this.#gapFirst = end;
        this.#gapSize = gap;
        if (!this.#bestFit) return;
      }
      if (run === NONE) return;
      end = first + machine.runSize(run);
    }
  }

  #measure(row: RowId): void {
    const machine = this.#machine;
    let widest = 0;
    let end = 0;
    for (let run = machine.firstRun(row); run !== NONE; run = machine.nextRun(run)) {
      const first = machine.runFirst(run);
      if (first - end > widest) widest = first - end;
      end = first + machine.runSize(run);
    }
    this.#widest[row] = Math.max(widest, machine.processors - end);
  }
}

function doubled(array: Int32Array<ArrayBuffer>, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(2 * array.length, index + 1));
  larger.set(array);
  return larger;
}

export const gang: GangPolicyDefinition = {
  name: "gang",
  title: "Gang scheduling, row by row",
  sharing: "time",
  summary:
    "Conventional gang scheduling: an arrival goes to the first (or best) row with room; nothing moves.",
  rules: [
    "an arrival takes idle processors side by side in one row; without such a row a new row is added at the end of the round",
    "fit=first: the leftmost gap of the first row, in order of the round, that has one wide enough",
    "fit=best: the narrowest gap wide enough over all rows; among equals the first row, there the leftmost",
    "arrivals of one instant are placed in order of submission",
    "a job has one slot per round and keeps its row and its processors to the end",
    "a row that becomes empty is deleted, except the last one",
    "nobody waits: every arrival is placed at once",
  ],
  source: "Ousterhout 1982; Silva and Scherson 1999, section 4 (first fit without thread migration)",
  parameters: [
    {
      name: "fit",
      kind: "choice",
      choices: ["first", "best"],
      default: "first",
      description: "which gap an arrival takes: the first one, or the narrowest",
    },
  ],
  guarantees: () => ({ headNeverFits: true, workConserving: true, keepsPromises: true }),
  make: (machine, jobs, parameters) => new Gang(machine, jobs, parameters),
};
