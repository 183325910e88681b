/**
 * Implements gang scheduling row by row: every row of the matrix is filled separately, and jobs never move
 * (Ousterhout 1982; the conventional schemes of Zhou, Brent, Johnson and Walsh 1999, section 2). A *fit*
 * (row-fits.ts) finds room in a row.
 *
 * With slot unification, a job also runs in other rows in which its processors are idle. Either it keeps
 * these extra slots until it ends, or they count as idle when the policy looks for room. In the second case,
 * they end when an arrival gets some of their processors, or when their row has no other jobs left:
 *
 *   AAA..BBB      C, on processors 0 to 4, ends              AAA..BBB
 *   CCCCCDDD                                                 AAA..DDD      A runs in both rows
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { type GangMachine, type RowId, type Rule, type RunId, when } from "../../core/policy.ts";
import { JobIntegers } from "../../structures/job-column.ts";
import { type ExtraSlots, withExtraSlots } from "./extra-slots.ts";
import type { MatrixUse, QueryableGangs } from "./queryable-gangs.ts";
import { type ExtraSlotHost, SlotUnification } from "./slot-unification.ts";

const NONE = -1;

/** Finds room in the rows. */
export interface RowFit {
  readonly blocks: MatrixUse["blocks"];
  /** Processors that `take` has found: first and end of each stretch in turn. */
  readonly stretches: Int32Array;
  /** Number of stretches found. */
  readonly stretchCount: number;
  /** A row was added and is empty. */
  rowAdded(row: RowId): void;
  hasRoom(row: RowId, size: number): boolean;
  /** Finds room in a row, takes it and returns the row; −1 if no row has room. */
  take(size: number): RowId;
  /** Like `take`, among the rows that are admitted; only chooses the row. */
  choose?(size: number, admits: (row: RowId) => boolean): RowId;
  /** Takes idle processors of a row that has enough of them. */
  takeIn?(row: RowId, size: number): void;
  /** Takes the idle processors of a job that begins at `first` in another row, too. */
  takeAlso(row: RowId, first: number, size: number): void;
  /** Gives back the processors of a job that began at `first`. */
  give(row: RowId, first: number, size: number): void;
  /** Whether a job may have an extra slot in a row in which its processors are idle; default: always. */
  admits?(row: RowId, first: number, size: number): boolean;
}

/** The first row of the round that has room; −1 if no row has. */
export function firstRowWithRoom(machine: GangMachine, fit: Pick<RowFit, "hasRoom">, size: number): RowId {
  for (let position = 0; position < machine.rowCount; position++) {
    const row = machine.rowAt(position);
    if (fit.hasRoom(row, size)) return row;
  }
  return NONE;
}

/** What a fit may use. */
export interface RowLayout {
  readonly machine: GangMachine;
  /** Whether the processors of a run are taken; false for extra slots that will be given back. */
  isTaken(run: RunId): boolean;
}

export class RowByRow implements QueryableGangs, RowLayout, ExtraSlotHost {
  readonly machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #fit: RowFit;
  readonly #returned: boolean;
  readonly #unification: SlotUnification | undefined;
  /** The row in which a job was placed, and its first processor. */
  readonly #rowOf = new JobIntegers(NONE);
  readonly #firstOf = new JobIntegers();
  readonly #extraRows: RowId[][] = [];
  /** Jobs of each row; extra slots count when they are kept. */
  readonly #jobsIn: number[] = [];
  #departed = false;

  constructor(
    machine: GangMachine,
    jobs: JobsView,
    extraSlots: ExtraSlots,
    makeFit: (layout: RowLayout) => RowFit,
  ) {
    this.machine = machine;
    this.#jobs = jobs;
    this.#returned = extraSlots === "returned";
    this.#fit = makeFit(this);
    if (extraSlots !== "none")
      this.#unification = new SlotUnification(machine, jobs, this, extraSlots === "kept");
  }

  depart(job: JobIndex): void {
    this.#departed = true;
    this.#vacate(job, this.#rowOf.get(job), true);
    for (const row of this.#extraRows[job] ?? []) this.#vacate(job, row, !this.#returned);
    this.#extraRows[job] = [];
    this.#unification?.jobEnded(job);
  }

  shrank(job: JobIndex, count: number): void {
    this.#fit.give(this.#rowOf.get(job), this.#firstOf.get(job), count);
  }

  /**
   * The job stays in its row if that has enough idle processors. Otherwise it keeps its processors and moves
   * to the row that an arrival of its new size would get among those in which they are idle.
   */
  grow(job: JobIndex, count: number): void {
    const { machine } = this;
    const fit = this.#fit as Required<RowFit>;
    if (this.#departed) this.#deleteEmptyRows();
    let row = this.#rowOf.get(job);
    if (!fit.hasRoom(row, count)) {
      row = fit.choose(this.#jobs.size[job] + count, (other) => this.admits(job, other));
      if (row === NONE) {
        row = machine.addRow();
        this.#rowAdded(row);
      }
      this.#moveTo(job, row);
    }
    fit.takeIn(row, count);
    machine.grow?.(job, fit.stretches, fit.stretchCount);
  }

  /** Works for fits that could have put the job where it is. */
  restore(job: JobIndex): void {
    const { machine } = this;
    const run = machine.firstRunOfJob(job);
    const row = machine.runRow(run);
    const first = machine.runFirst(run);
    if (!(this.#jobsIn[row] > 0)) this.#rowAdded(row);
    this.#fit.takeAlso(row, first, this.#jobs.size[job]);
    this.#placed(job, row, first);
  }

  get use(): MatrixUse {
    return { lines: "rows", blocks: this.#fit.blocks, asks: false };
  }

  /** The policy chooses processors only by what is idle, so it has no use for `mayBegin`. */
  fits(job: JobIndex, maxRows: number): boolean {
    const { machine } = this;
    return machine.rowCount < maxRows || firstRowWithRoom(machine, this.#fit, this.#jobs.size[job]) !== NONE;
  }

  decide(arrived: readonly JobIndex[]): void {
    if (this.#departed) this.#deleteEmptyRows();
    for (const job of arrived) this.#place(job);
    this.#unification?.giveSlots();
  }

  isTaken(run: RunId): boolean {
    return !this.#returned || this.#rowOf.get(this.machine.runJob(run)) === this.machine.runRow(run);
  }

  /** Whether the job can have an extra slot in the row. */
  admits(job: JobIndex, row: RowId): boolean {
    const { machine } = this;
    for (let run = machine.firstRunOfJob(job); run !== NONE; run = machine.nextStretch(run)) {
      const first = machine.runFirst(run);
      if (!machine.isIdle(row, first, first + machine.runSize(run))) return false;
    }
    return this.#fit.admits?.(row, this.#firstOf.get(job), this.#jobs.size[job]) ?? true;
  }

  /** Gives the job an extra slot in the row. */
  giveSlot(job: JobIndex, row: RowId): void {
    this.#placeAlso(job, row);
    this.#extraRows[job] ??= [];
    this.#extraRows[job].push(row);
    if (this.#returned) return;
    this.#fit.takeAlso(row, this.#firstOf.get(job), this.#jobs.size[job]);
    this.#jobsIn[row]++;
  }

  /** Places the job on its processors in another row, too. */
  #placeAlso(job: JobIndex, row: RowId): void {
    const { machine } = this;
    const stretches: number[] = [];
    for (let run = machine.firstRunOfJob(job); run !== NONE; run = machine.nextStretch(run)) {
      const first = machine.runFirst(run);
      stretches.push(first, first + machine.runSize(run));
    }
    machine.placeStretches(job, row, stretches, stretches.length / 2);
  }

  #moveTo(job: JobIndex, row: RowId): void {
    const before = this.#rowOf.get(job);
    this.#placeAlso(job, row);
    this.machine.release(job, before);
    this.#vacate(job, before, true);
    this.#fit.takeAlso(row, this.#firstOf.get(job), this.#jobs.size[job]);
    this.#jobsIn[row]++;
    this.#rowOf.set(job, row);
    this.#departed = true;
  }

  #vacate(job: JobIndex, row: RowId, wasTaken: boolean): void {
    this.#unification?.rowChanged(row);
    if (!wasTaken) return;
    this.#fit.give(row, this.#firstOf.get(job), this.#jobs.size[job]);
    this.#jobsIn[row]--;
  }

  #deleteEmptyRows(): void {
    this.#departed = false;
    const { machine } = this;
    for (let position = machine.rowCount - 1; position >= 0 && machine.rowCount > 1; position--) {
      const row = machine.rowAt(position);
      if (this.#jobsIn[row] > 0) continue;
      this.#reclaimSlot(row, 0, machine.processors);
      this.#unification?.rowDeleted(row);
      machine.deleteRow(row);
    }
  }

  #place(job: JobIndex): void {
    const { machine } = this;
    const fit = this.#fit;
    const size = this.#jobs.size[job];
    let row = fit.take(size);
    if (row === NONE) {
      row = machine.addRow();
      this.#rowAdded(row);
      fit.take(size);
    }
    const { stretches, stretchCount } = fit;
    if (this.#returned) {
      for (let i = 0; i < stretchCount; i++) this.#reclaimSlot(row, stretches[2 * i], stretches[2 * i + 1]);
    }
    machine.placeStretches(job, row, stretches, stretchCount);
    this.#placed(job, row, stretches[0]);
  }

  #rowAdded(row: RowId): void {
    this.#jobsIn[row] = 0;
    this.#unification?.rowChanged(row);
    this.#fit.rowAdded(row);
  }

  #placed(job: JobIndex, row: RowId, first: number): void {
    this.#rowOf.set(job, row);
    this.#firstOf.set(job, first);
    this.#jobsIn[row]++;
    this.#unification?.jobPlaced(job);
  }

  /** Takes back the extra slots in the row that reach into processors first … end − 1. */
  #reclaimSlot(row: RowId, first: number, end: number): void {
    const { machine } = this;
    for (;;) {
      let run = machine.runBefore(row, end - 1);
      while (run !== NONE && this.isTaken(run)) {
        // A run that stays may be between the end and an extra slot that must end.
        run = machine.runFirst(run) > first ? machine.runBefore(row, machine.runFirst(run) - 1) : NONE;
      }
      if (run === NONE || machine.runFirst(run) + machine.runSize(run) <= first) return;
      const job = machine.runJob(run);
      machine.release(job, row);
      const rows = this.#extraRows[job];
      rows.splice(rows.indexOf(row), 1);
      this.#unification?.rowChanged(row);
    }
  }
}

/** Rules that hold for every fit. */
export const ROW_BY_ROW_RULES: readonly (Rule | string)[] = [
  { text: "arrivals of one instant are placed in order of submission", isInherited: true },
  "a job keeps its row and its processors until it ends",
  ...when(withExtraSlots("none"), ["a job has one slot per round"]),
  ...when(withExtraSlots("kept"), [
    "extraSlots=kept: each workload change gives one extra slot to the largest job (ties: submitted first) whose processors are idle in another row",
    "extraSlots=kept: if there are several of these rows, the extra slot is in the first one of the round; the job keeps it until it ends",
  ]),
  ...when(withExtraSlots("returned"), [
    "extraSlots=returned: after each workload change, every job, largest first, gets a slot in every row in which its processors are idle",
    "extraSlots=returned: extra slots count as idle in the search for a place for an arrival, and they end when the arrival gets some of their processors",
  ]),
  ...when(
    (parameters) => !withExtraSlots("returned")(parameters),
    ["a row that becomes empty is deleted, unless it is the only row"],
  ),
  ...when(withExtraSlots("returned"), [
    "a row in which only extra slots are left is deleted, unless it is the only row",
  ]),
];

export const ROW_BY_ROW_GUARANTEES = {
  headNeverFits: true,
  workConserving: true,
  keepsPromises: true,
} as const;
