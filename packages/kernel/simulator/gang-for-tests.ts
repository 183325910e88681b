/**
 * Simulates gangs naively, as twins for tests: the machine is an array of cells, and time advances slot by
 * slot.
 */
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, ParameterValues, RowId, RunId } from "../core/policy.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { fullTable } from "./full-table-for-tests.ts";

/** An instance from triples submit, run, size. */
export function gangInstance(
  processors: number,
  jobs: readonly (readonly [submitS: number, runS: number, size: number])[],
): Instance {
  const count = jobs.length;
  const columns = {
    id: Int32Array.from(jobs, (_, job) => job + 1),
    submitS: Float64Array.from(jobs, (job) => job[0]),
    runS: Float64Array.from(jobs, (job) => job[1]),
    size: Int32Array.from(jobs, (job) => job[2]),
    estimateS: Float64Array.from(jobs, (job) => job[1]),
  };
  const workload = {
    name: "test",
    count,
    jobs: columns,
    processors,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
  return {
    workload,
    processors,
    rules: DEFAULT_RULES,
    count,
    ...columns,
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** Rows of cells; a run's id is its row's id × processors + its first processor. Nothing is checked. */
export class NaiveMachine implements GangMachine {
  readonly processors: number;
  readonly slotS: number;
  nowS = 0;
  readonly rows: { id: RowId; cells: JobIndex[] }[] = [];
  /** The row that gets the next slot. */
  next: RowId = -1;
  /** Slots of service that each job has had. */
  readonly served: number[] = [];
  switchS = 0;
  readonly movesGangs = true;
  /** Cost of one migration. */
  migrationS = 0;
  /** What each job has lost by migrations. */
  readonly lostS: number[] = [];
  readonly #size: ArrayLike<number>;
  #nextId = 0;
  /** Number of rows when the round began, and number of rows added to it since. */
  #begunWith = 0;
  #joined = 0;

  constructor(processors: number, slotS: number, size: ArrayLike<number>) {
    this.processors = processors;
    this.slotS = slotS;
    this.#size = size;
  }

  promise(): void {}

  get rowCount(): number {
    return this.rows.length;
  }
  rowAt(position: number): RowId {
    return this.rows[position].id;
  }
  positionOf(row: RowId): number {
    return this.rows.findIndex((r) => r.id === row);
  }
  cells(row: RowId): JobIndex[] {
    return this.rows[this.positionOf(row)].cells;
  }
  firstRun(row: RowId): RunId {
    return this.#runFrom(row, 0);
  }
  nextRun(run: RunId): RunId {
    return this.#runFrom(this.runRow(run), this.runFirst(run) + this.runSize(run));
  }
  runBefore(row: RowId, processor: number): RunId {
    const cells = this.cells(row);
    let at = processor;
    while (at >= 0 && cells[at] === -1) at--;
    if (at < 0) return -1;
    while (at > 0 && cells[at - 1] === cells[at]) at--;
    return row * this.processors + at;
  }
  runJob(run: RunId): JobIndex {
    return this.cells(this.runRow(run))[this.runFirst(run)];
  }
  runRow(run: RunId): RowId {
    return Math.floor(run / this.processors);
  }
  runFirst(run: RunId): number {
    return run % this.processors;
  }
  runSize(run: RunId): number {
    const first = this.runFirst(run);
    const cells = this.cells(this.runRow(run));
    let end = first;
    while (cells[end] === cells[first]) end++;
    return end - first;
  }
  /**
   * The next stretch of the job in the row. Stretches of a job never touch, so a run ends where the job's
   * cells end.
   */
  nextStretch(run: RunId): RunId {
    const cells = this.cells(this.runRow(run));
    const job = this.runJob(run);
    for (let at = this.runFirst(run) + this.runSize(run); at < this.processors; at++)
      if (cells[at] === job) return this.runRow(run) * this.processors + at;
    return -1;
  }
  firstRunOfJob(job: JobIndex): RunId {
    return this.runsOfJob(job)[0] ?? -1;
  }
  nextRunOfJob(run: RunId): RunId {
    const runs = this.runsOfJob(this.runJob(run));
    return runs[runs.indexOf(run) + 1] ?? -1;
  }
  slotsOf(job: JobIndex): number {
    return this.runsOfJob(job).length;
  }
  runsOfJob(job: JobIndex): RunId[] {
    return this.rows
      .filter((row) => row.cells.includes(job))
      .map((row) => row.id * this.processors + row.cells.indexOf(job));
  }
  firstIdle(processor: number): number {
    const position = this.rows.findIndex(({ cells }) => cells[processor] === -1);
    return position === -1 ? this.rows.length : position;
  }
  isIdle(row: RowId, first: number, end: number): boolean {
    return this.cells(row)
      .slice(first, end)
      .every((cell) => cell === -1);
  }

  addRow(): RowId {
    const id = this.#nextId++;
    const row = { id, cells: new Array<number>(this.processors).fill(-1) };
    const passed = this.positionOf(this.next);
    if (passed > 0 && this.#joined === this.#begunWith) this.rows.splice(passed, 0, row);
    else {
      this.rows.push(row);
      if (passed > 0) this.#joined++;
    }
    if (this.next === -1) this.next = id;
    return id;
  }
  deleteRow(row: RowId): void {
    if (this.next === row) this.serveNext();
    this.rows.splice(this.positionOf(row), 1);
    if (this.rows.length === 0) this.next = -1;
  }
  /** Gives the next row its slot. */
  serve(): void {
    if (this.positionOf(this.next) === 0) {
      this.#begunWith = this.rows.length;
      this.#joined = 0;
    }
    this.serveNext();
  }
  /** Passes the turn to the following row. */
  serveNext(): void {
    this.next = this.rows[(this.positionOf(this.next) + 1) % this.rows.length].id;
  }
  place(job: JobIndex, row: RowId, first: number): void {
    this.cells(row).fill(job, first, first + this.#size[job]);
  }
  placeStretches(job: JobIndex, row: RowId, stretches: ArrayLike<number>, count: number): void {
    for (let i = 0; i < count; i++) this.cells(row).fill(job, stretches[2 * i], stretches[2 * i + 1]);
  }
  release(job: JobIndex, row: RowId): void {
    const cells = this.cells(row);
    for (let at = 0; at < cells.length; at++) if (cells[at] === job) cells[at] = -1;
  }
  removeJob(job: JobIndex): void {
    for (const row of this.rows) this.release(job, row.id);
  }
  exchange(a: RowId, b: RowId, first: number, end: number): void {
    const left = this.cells(a);
    const right = this.cells(b);
    for (let at = first; at < end; at++) [left[at], right[at]] = [right[at], left[at]];
  }

  migrate(job: JobIndex, row: RowId, first: number): void {
    this.removeJob(job);
    this.place(job, row, first);
    this.lostS[job] = (this.lostS[job] ?? 0) + this.migrationS;
  }

  servedSlots(job: JobIndex): number {
    return this.served[job] ?? 0;
  }

  #runFrom(row: RowId, processor: number): RunId {
    const at = this.cells(row).findIndex((cell, index) => index >= processor && cell !== -1);
    return at === -1 ? -1 : row * this.processors + at;
  }
}

/** Starts and ends by stepping every slot; `slotS` and `switchS` must add up without rounding. */
export function stepRounds(
  instance: Instance,
  definition: GangPolicyDefinition,
  parameters: ParameterValues,
  options: { slotS: number; switchS: number },
): { startS: number[]; endS: number[]; rows: number[] } {
  const { slotS, switchS } = options;
  const machine = new NaiveMachine(instance.processors, slotS, instance.size);
  machine.switchS = switchS;
  machine.migrationS = definition.guarantees(parameters).migrationS ?? 0;
  const policy = definition.make(machine, fullTable(instance), parameters);
  const startS = new Array<number>(instance.count).fill(Number.NaN);
  const endS = new Array<number>(instance.count).fill(Number.NaN);
  const { served } = machine;
  for (let job = 0; job < instance.count; job++) served.push(0);
  const rows: number[] = [];
  let arrived = 0;
  for (;;) {
    const ended = served
      .map((_, job) => job)
      .filter(
        (job) =>
          Number.isNaN(endS[job]) &&
          served[job] > 0 &&
          served[job] * slotS >= instance.runS[job] + (machine.lostS[job] ?? 0),
      )
      .sort((a, b) => startS[a] - startS[b] || a - b);
    for (const job of ended) {
      endS[job] = machine.nowS;
      machine.removeJob(job);
    }
    for (const job of ended) policy.depart(job);
    const arriving: JobIndex[] = [];
    for (; arrived < instance.count && instance.submitS[arrived] <= machine.nowS; arrived++)
      arriving.push(arrived);
    if (ended.length > 0 || arriving.length > 0) {
      policy.decide(arriving);
      rows.push(machine.rowCount);
    }
    const busy = machine.rows.some((row) => row.cells.some((cell) => cell !== -1));
    if (!busy && arrived === instance.count) return { startS, endS, rows };
    if (busy) {
      for (const job of new Set(machine.cells(machine.next))) {
        if (job === -1) continue;
        if (served[job]++ === 0) startS[job] = machine.nowS;
      }
      machine.serve();
    }
    machine.nowS += busy && machine.rowCount > 1 ? slotS + switchS : slotS;
  }
}
