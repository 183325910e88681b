/**
 * Watches one gang during a simulation: its rows, its share of the rounds, and the jobs that changed this
 * share.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { RowId, StartRule } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { slotsOfWork } from "@tutti/kernel/simulator/gang-work.ts";
import type { GangFacts } from "../results/explanation.ts";
import { type JobWatch, orNull } from "./watch.ts";

const LISTED = 12;

export class GangWatch implements JobWatch {
  rule: StartRule | undefined;
  readonly #instance: Instance;
  readonly #job: JobIndex;
  readonly #slotS: number;
  /** Rows in the order of the round. */
  readonly #rows: RowId[] = [];
  readonly #ownRows = new Set<RowId>();
  #isPresent = false;
  #isNew = false;
  #placedS = Number.NaN;
  #position = 0;
  #rowsThen = 0;
  #first = 0;
  readonly #processors: [first: number, last: number][] = [];
  #maxRows = 0;
  #slotsGiven = 0;
  #slotsTaken = 0;
  #moves = 0;
  #migrations = 0;
  #migrationS = 0;
  /** Slots per round in the last event. */
  #lastSlots = 1;
  #changeCount = 0;
  readonly #changes: { atS: number; slots: number; rows: number }[] = [];
  // Integrals since the placement.
  #sinceS = 0;
  #rowSeconds = 0;
  #slotSeconds = 0;

  constructor(instance: Instance, job: JobIndex, slotS: number) {
    this.#instance = instance;
    this.#job = job;
    this.#slotS = slotS;
  }

  started(_timeS: number, job: JobIndex, rule: StartRule): void {
    if (job === this.#job) this.rule = rule;
  }

  placed(timeS: number, job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void {
    if (job !== this.#job) return;
    if (this.#ownRows.size > 0) this.#slotsGiven++;
    else {
      this.#isPresent = true;
      this.#isNew = true;
      this.#placedS = timeS;
      this.#sinceS = timeS;
      this.#first = first;
      const bounds = stretches ?? [first, first + this.#instance.size[job]];
      for (let i = 0; i < bounds.length; i += 2) this.#processors.push([bounds[i], bounds[i + 1] - 1]);
    }
    this.#ownRows.add(row);
  }

  released(_timeS: number, job: JobIndex, row: RowId): void {
    if (job !== this.#job) return;
    this.#slotsTaken++;
    this.#ownRows.delete(row);
  }

  rowAdded(_timeS: number, row: RowId): void {
    this.#rows.push(row);
  }

  rowDeleted(_timeS: number, row: RowId): void {
    this.#rows.splice(this.#rows.indexOf(row), 1);
  }

  exchanged(_timeS: number, a: RowId, b: RowId, first: number, end: number): void {
    const own = this.#ownRows;
    if (!this.#isPresent || this.#first < first || this.#first >= end || own.has(a) === own.has(b)) return;
    const [from, to] = own.has(a) ? [a, b] : [b, a];
    own.delete(from);
    own.add(to);
    this.#moves++;
  }

  migrated(_timeS: number, job: JobIndex, row: RowId, first: number, costS: number): void {
    if (job !== this.#job) return;
    this.#ownRows.clear();
    this.#ownRows.add(row);
    this.#first = first;
    this.#migrations++;
    this.#migrationS += costS;
  }

  /** Comes before any decision of the instant: the rows have not changed until now. */
  arrived(timeS: number): void {
    this.#pass(timeS);
  }

  departed(timeS: number, job: JobIndex): void {
    this.#pass(timeS);
    if (job === this.#job) this.#isPresent = false;
  }

  decided(timeS: number): void {
    if (!this.#isPresent) return;
    const rows = this.#rows.length;
    if (this.#isNew) {
      this.#isNew = false;
      this.#rowsThen = rows;
      this.#position = 1 + this.#rows.findIndex((row) => this.#ownRows.has(row));
    }
    if (rows > this.#maxRows) this.#maxRows = rows;
    if (this.#ownRows.size === this.#lastSlots) return;
    this.#lastSlots = this.#ownRows.size;
    if (this.#changeCount++ < LISTED) this.#changes.push({ atS: timeS, slots: this.#lastSlots, rows });
  }

  facts(schedule: Schedule): GangFacts {
    const { runS, submitS } = this.#instance;
    const inMatrixS = this.#sinceS - this.#placedS;
    const workSlots = slotsOfWork(runS[this.#job], this.#slotS);
    return {
      sharing: "time",
      slotS: this.#slotS,
      placedS: orNull(this.#placedS),
      position: this.#position,
      rowsThen: this.#rowsThen,
      processors: this.#processors,
      workSlots,
      meanRows: this.#rowSeconds / inMatrixS,
      mostRows: this.#maxRows,
      meanSlots: this.#slotSeconds / inMatrixS,
      slotsGiven: this.#slotsGiven,
      slotsTaken: this.#slotsTaken,
      moves: this.#moves,
      migrations: this.#migrations,
      migrationS: this.#migrationS,
      changes: this.#changes,
      slowdown: (schedule.endS[this.#job] - submitS[this.#job]) / (workSlots * this.#slotS),
    };
  }

  #pass(timeS: number): void {
    if (!this.#isPresent) return;
    const lengthS = timeS - this.#sinceS;
    this.#rowSeconds += lengthS * this.#rows.length;
    this.#slotSeconds += lengthS * this.#ownRows.size;
    this.#sinceS = timeS;
  }
}
