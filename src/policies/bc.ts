/** BC: the conventional buddy system, one slot per job, without re-packing or balancing. */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, Policy, RowId } from "../core/policy.ts";
import { BuddyRows } from "../structures/buddy.ts";

class ConventionalBuddy implements Policy {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #blocks: BuddyRows;
  readonly #rowOf: Int32Array;
  readonly #firstOf: Int32Array;
  readonly #arrivals: JobIndex[] = [];
  #emptied = false;

  constructor(machine: GangMachine, jobs: JobsView) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#blocks = new BuddyRows(machine.processors);
    this.#rowOf = new Int32Array(jobs.count);
    this.#firstOf = new Int32Array(jobs.count);
  }

  arrive(job: JobIndex): void {
    this.#arrivals.push(job);
  }

  depart(job: JobIndex): void {
    const row = this.#rowOf[job];
    this.#blocks.give(row, this.#firstOf[job], this.#jobs.size[job]);
    if (this.#blocks.isEmpty(row)) this.#emptied = true;
  }

  decide(): void {
    if (this.#emptied) this.#deleteEmptyRows();
    for (const job of this.#arrivals) this.#place(job);
    this.#arrivals.length = 0;
  }

  #deleteEmptyRows(): void {
    this.#emptied = false;
    const machine = this.#machine;
    for (let position = machine.rowCount - 1; position >= 0 && machine.rowCount > 1; position--) {
      const row = machine.rowAt(position);
      if (this.#blocks.isEmpty(row)) machine.deleteRow(row);
    }
  }

  #place(job: JobIndex): void {
    const size = this.#jobs.size[job];
    const row = this.#rowWithRoom(size);
    const first = this.#blocks.take(row, size);
    this.#rowOf[job] = row;
    this.#firstOf[job] = first;
    this.#machine.place(job, row, first);
  }

  #rowWithRoom(size: number): RowId {
    const machine = this.#machine;
    const rows = machine.rowCount;
    for (let position = 0; position < rows; position++) {
      const row = machine.rowAt(position);
      if (this.#blocks.widest(row) >= size) return row;
    }
    const row = machine.addRow();
    this.#blocks.clear(row);
    return row;
  }
}

export const bc: GangPolicyDefinition = {
  name: "bc",
  title: "Buddy, conventional",
  sharing: "time",
  summary:
    "Gang scheduling on buddy blocks, each row by itself: the first row with a free block takes the job.",
  rules: [
    "a job is given a whole buddy block, its size rounded up to a power of two; no other job uses the rest of it",
    "an arrival takes the leftmost free block of the first row, in order of the round, that has one; without one a new row is added at the end of the round",
    "a job has one slot per round and keeps its row and its processors to the end",
    "a row that becomes empty is deleted, except the last one",
    "nobody waits: every arrival is placed at once",
  ],
  source: "Zhou, Walsh and Brent 2000, section 4.1, scheme BC",
  parameters: [],
  guarantees: () => ({ headNeverFits: true, workConserving: true, keepsPromises: true }),
  make: (machine, jobs) => new ConventionalBuddy(machine, jobs),
};
