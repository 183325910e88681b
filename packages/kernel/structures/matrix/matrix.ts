/**
 * Implements the Ousterhout matrix, whose rows take turns, one slot each per round. All processes of a job
 * are in the same row, so that they always run at the same time (Ousterhout 1982; Zhou, Walsh and Brent 2000,
 * section 1).
 *
 *   position 0   AAAAAABBB.......
 *   position 1   CC..DDDDDDDD....
 *   position 2   CC......EEEEEEEE
 *
 * A run is a stretch of consecutive processors that one job has in one row, such as AAAAAA. Rows are not
 * stored as cells but as lists of runs, sorted by processor (run-lists.ts). A job may have several rows,
 * always on the same processors, as C does.
 *
 * Every operation that would tear a gang or use a processor twice throws a RuleViolation.
 */
import { RuleViolation } from "../../core/errors.ts";
import type { JobIndex, ReadonlyColumn } from "../../core/jobs.ts";
import type { RowId, RunId } from "../../core/policy.ts";
import { RunLists } from "./run-lists.ts";

const NONE = -1;

export class OusterhoutMatrix extends RunLists {
  /** The present instant in seconds, reported with violations; the owner of the matrix sets it. */
  nowS = 0;
  // The matrix itself knows no time and moves no gangs; machines do.
  readonly switchS: number = 0;
  readonly movesGangs: boolean = false;
  readonly #oneStretch = new Int32Array(2);

  servedSlots(_job: JobIndex): number {
    return 0;
  }

  promise(_job: JobIndex, _startS: number): void {}

  migrate(job: JobIndex, _row: RowId, _first: number): void {
    throw this.#violation(
      "migrated",
      job,
      `Cannot move job ${this.jobName(job)}: gangs keep their processors on this machine`,
    );
  }

  /** Adds an empty row at a position of the round, by default at its end. The rows after it move back. */
  addRow(position = this.rowCount): RowId {
    return this.insertRow(position);
  }

  /** Removes an empty row. The rows after it move up. */
  deleteRow(row: RowId): void {
    this.#checkRow("delete", row);
    const run = this.firstRun(row);
    if (run !== NONE) {
      throw this.#violation("row-not-empty", this.runJob(run), `Cannot delete row ${row}: it holds a job`);
    }
    this.takeRow(row);
  }

  /**
   * Gives the job the processors first … first + size − 1 in the row; all its rows have the same processors.
   */
  place(job: JobIndex, row: RowId, first: number): void {
    this.#oneStretch[0] = first;
    this.#oneStretch[1] = first + this.size[job];
    this.#place(job, row, this.#oneStretch, 1);
  }

  /**
   * Gives the job processors in several stretches.
   * @param stretches first processor and end of each stretch in turn, ascending
   * @param count number of stretches
   */
  placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const isBehind = i === 0 || stretches[2 * i] > stretches[2 * i - 1];
      sum = isBehind ? sum + Math.max(0, stretches[2 * i + 1] - stretches[2 * i]) : Number.NaN;
    }
    if (sum !== this.size[job]) {
      throw this.#violation(
        "wrong-size",
        job,
        `Cannot place job ${this.jobName(job)} on ${count} stretches: expected ${this.size[job]} processors in ascending stretches that do not touch`,
      );
    }
    this.#place(job, row, stretches, count);
  }

  /** Takes one slot back from a job that has more than one. */
  release(job: JobIndex, row: RowId): void {
    // A job index outside the table has no runs.
    const run = this.slotsOf(job) > 0 ? this.runIn(job, row) : NONE;
    if (run === NONE) {
      throw this.#violation(
        "not-there",
        job,
        `Cannot take job ${this.jobName(job)} out of row ${row}: it is not in that row`,
      );
    }
    if (this.slotsOf(job) < 2) {
      throw this.#violation(
        "last-slot",
        job,
        `Cannot take job ${this.jobName(job)} out of row ${row}: it has no other slot`,
      );
    }
    this.removeRun(run);
  }

  /** Moves a job that has one slot to idle processors first … first + size − 1 of a row. */
  move(job: JobIndex, row: RowId, first: number): void {
    const slots = this.slotsOf(job) ?? 0;
    if (slots !== 1) {
      throw this.#violation(
        slots === 0 ? "not-there" : "migrated",
        job,
        `Cannot move job ${this.jobName(job)}: it has ${slots} slots per round, expected 1`,
      );
    }
    this.#checkRow("move a job to", row, job);
    this.#checkIdle(job, row, first, first + this.size[job]);
    this.removeRun(this.firstRunOfJob(job));
    this.#oneStretch[0] = first;
    this.#oneStretch[1] = first + this.size[job];
    this.insert(job, row, this.#oneStretch, 1);
  }

  /** Gives a job that has one slot other processors in the same row, as many as its size now says. */
  protected reshape(job: JobIndex, stretches: ReadonlyColumn, count: number): void {
    const run = this.firstRunOfJob(job);
    const row = this.runRow(run);
    this.removeRun(run);
    this.placeStretches(job, row, stretches, count);
  }

  /** Removes all runs of a job that has ended. */
  removeJob(job: JobIndex): void {
    for (let run = this.firstRunOfJob(job); run !== NONE; run = this.firstRunOfJob(job)) this.removeRun(run);
  }

  /**
   * Exchanges what two rows hold on processors first … end − 1. Both cuts must be legal: no job of either row
   * spans `first` or `end` (Zhou, Brent, Johnson and Walsh 1999, property 1).
   */
  exchange(a: RowId, b: RowId, first: number, end: number): void {
    this.#checkRow("exchange", a);
    this.#checkRow("exchange", b);
    if (!(first >= 0 && first <= end && end <= this.processors)) {
      throw this.#violation(
        "off-machine",
        NONE,
        `Cannot exchange processors ${first} to ${end - 1}: the machine has 0 to ${this.processors - 1}`,
      );
    }
    if (a === b || first === end) return;
    if (this.hasStretches()) {
      this.#checkStretches(a, first, end);
      this.#checkStretches(b, first, end);
    }
    const beforeA = this.#cut(a, first);
    const beforeB = this.#cut(b, first);
    const lastA = this.#cut(a, end);
    const lastB = this.#cut(b, end);
    this.exchangeRuns(a, beforeA, lastA, b, beforeB, lastB);
  }

  /** The name of a job in messages: its row in the table, unless a subclass knows better. */
  protected jobName(job: JobIndex): string {
    return String(job);
  }

  #place(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    this.#checkRow("place a job in", row, job);
    for (let i = 0; i < count; i++) this.#checkIdle(job, row, stretches[2 * i], stretches[2 * i + 1]);
    this.#checkSame(job, stretches, count);
    this.insert(job, row, stretches, count);
  }

  #checkIdle(job: JobIndex, row: RowId, first: number, end: number): void {
    if (!(first >= 0 && end <= this.processors)) {
      throw this.#violation(
        "off-machine",
        job,
        `Cannot place job ${this.jobName(job)} on processors ${first} to ${end - 1}: the machine has 0 to ${this.processors - 1}`,
      );
    }
    const before = this.runBefore(row, end - 1);
    if (before !== NONE && this.runEnd(before) > first) {
      throw this.#violation(
        "not-idle",
        job,
        `Cannot place job ${this.jobName(job)} on processors ${first} to ${end - 1} of row ${row}: job ${this.jobName(this.runJob(before))} is there`,
      );
    }
  }

  /** Throws unless the processors are those of the job's other slots. */
  #checkSame(job: JobIndex, stretches: ReadonlyColumn, count: number): void {
    const lead = this.firstRunOfJob(job);
    if (lead === NONE) return;
    let run = lead;
    let i = 0;
    for (; i < count && run !== NONE; i++, run = this.nextStretch(run)) {
      if (this.runFirst(run) !== stretches[2 * i] || this.runEnd(run) !== stretches[2 * i + 1]) break;
    }
    if (i === count && run === NONE) return;
    const at = Math.min(i, count - 1);
    throw this.#violation(
      "migrated",
      job,
      run === NONE
        ? `Cannot place job ${this.jobName(job)} on ${count} stretches: its other slots have ${i}`
        : `Cannot place job ${this.jobName(job)} at processor ${stretches[2 * at]}: its other slots are at processor ${this.runFirst(run)}`,
    );
  }

  /** Throws if the exchange would move some stretches of a job without the others. */
  #checkStretches(row: RowId, first: number, end: number): void {
    for (
      let run = this.runFrom(row, first);
      run !== NONE && this.runFirst(run) < end;
      run = this.nextRun(run)
    ) {
      const lead = this.leadOf(run);
      // The lead checks all stretches of its job; another stretch checks only its lead.
      let stretch = lead;
      while (stretch !== NONE && this.runFirst(stretch) >= first && this.runEnd(stretch) <= end)
        stretch = run === lead ? this.nextStretch(stretch) : NONE;
      if (stretch === NONE) continue;
      throw this.#violation(
        "torn-gang",
        this.runJob(run),
        `Cannot exchange processors ${first} to ${end - 1} of row ${row}: job ${this.jobName(this.runJob(run))} also has processor ${this.runFirst(stretch)}`,
      );
    }
  }

  /** Last run that begins before a cut. Throws if it spans the cut. */
  #cut(row: RowId, processor: number): RunId {
    const run = processor > 0 ? this.runBefore(row, processor - 1) : NONE;
    if (run !== NONE && this.runEnd(run) > processor) {
      throw this.#violation(
        "torn-gang",
        this.runJob(run),
        `Cannot cut row ${row} before processor ${processor}: job ${this.jobName(this.runJob(run))} is on both sides`,
      );
    }
    return run;
  }

  #checkRow(action: string, row: RowId, job: JobIndex = NONE): void {
    if (!this.exists(row)) {
      throw this.#violation("no-such-row", job, `Cannot ${action} row ${row}: there is no such row`);
    }
  }

  #violation(rule: string, job: JobIndex, message: string): RuleViolation {
    return new RuleViolation(rule, job, this.nowS, message);
  }
}
