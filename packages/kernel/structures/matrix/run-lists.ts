/**
 * Stores the Ousterhout matrix as lists of runs. A run is a stretch of consecutive processors that one job
 * has in one row. Each row has a list of its runs sorted by processor, and each job has a list of its runs.
 * Runs are records in a struct of arrays, linked within their row and with the job's other runs. Buckets of
 * processors (run-buckets.ts) find a run in the middle of a row. Nothing is checked here; matrix.ts checks
 * the rules.
 *
 *   row 0   AAAAAABBB.......
 *   row 1   CC..DDDDDDDD....
 *
 * A job's processors in a row may also be several stretches (scattered, or around the end of a ring). Then
 * each stretch is a run. The runs are linked in ascending order from the first one, the lead; only leads are
 * linked with the job's other rows.
 */
import type { JobIndex, ReadonlyColumn } from "../../core/jobs.ts";
import type { MatrixView, RowId, RunId } from "../../core/policy.ts";
import { doubled, grown } from "../grow.ts";
import { RunBuckets } from "./run-buckets.ts";

const NONE = -1;

export class RunLists implements MatrixView {
  readonly processors: number;
  /** Processors of each job, by job index. */
  protected readonly size: ReadonlyColumn;

  // Runs. #next also links the free records.
  #job = new Int32Array(16);
  #row = new Int32Array(16);
  #first = new Int32Array(16);
  #end = new Int32Array(16);
  #next = new Int32Array(16);
  #previous = new Int32Array(16);
  #nextOfJob = new Int32Array(16);
  #previousOfJob = new Int32Array(16);
  #lead = new Int32Array(16);
  #nextStretch = new Int32Array(16);
  #runsUsed = 0;
  #freeRun: RunId = NONE;
  /** Number of runs that are not leads. */
  #furtherStretches = 0;

  // Jobs.
  #runOfJob = new Int32Array(16).fill(NONE);
  #slots = new Int32Array(16);

  // Rows. A row that does not exist has position −1.
  #head = new Int32Array(4);
  #position = new Int32Array(4);
  #order = new Int32Array(4);
  #freeRows = new Int32Array(4);
  #freeRowCount = 0;
  #rowsUsed = 0;
  #rowCount = 0;

  readonly #buckets: RunBuckets;
  /**
   * By processor: no row before this position of the round is idle there. Jobs that are added keep the bound;
   * whatever may make the processor idle lowers it.
   */
  readonly #idleFrom: Int32Array;
  /** Whether a bound is above 0, so that it must be lowered. */
  #hasBounds = false;

  /**
   * @param processors 1 or more
   * @param size processors of each job, by job index
   */
  constructor(processors: number, size: ReadonlyColumn) {
    this.processors = processors;
    this.size = size;
    this.#buckets = new RunBuckets(processors);
    this.#idleFrom = new Int32Array(processors);
  }

  get rowCount(): number {
    return this.#rowCount;
  }
  rowAt(position: number): RowId {
    return this.#order[position];
  }
  positionOf(row: RowId): number {
    return this.#position[row];
  }
  firstRun(row: RowId): RunId {
    return this.#head[row];
  }
  nextRun(run: RunId): RunId {
    return this.#next[run];
  }
  runJob(run: RunId): JobIndex {
    return this.#job[run];
  }
  runRow(run: RunId): RowId {
    return this.#row[run];
  }
  runFirst(run: RunId): number {
    return this.#first[run];
  }
  runSize(run: RunId): number {
    return this.#end[run] - this.#first[run];
  }
  nextStretch(run: RunId): RunId {
    return this.#nextStretch[run];
  }
  /** The first stretch of the run's job in the row. */
  leadOf(run: RunId): RunId {
    return this.#lead[run];
  }
  firstRunOfJob(job: JobIndex): RunId {
    return job < this.#runOfJob.length ? this.#runOfJob[job] : NONE;
  }
  nextRunOfJob(run: RunId): RunId {
    return this.#nextOfJob[run];
  }
  slotsOf(job: JobIndex): number {
    return job < this.#slots.length ? this.#slots[job] : 0;
  }
  /** One past the last processor of the run. */
  runEnd(run: RunId): number {
    return this.#end[run];
  }
  isIdle(row: RowId, first: number, end: number): boolean {
    const run = this.runBefore(row, end - 1);
    return run === NONE || this.#end[run] <= first;
  }

  runBefore(row: RowId, processor: number): RunId {
    const bucket = this.#buckets.of(processor);
    let run = this.#buckets.head(row, bucket);
    if (run !== NONE && this.#first[run] > processor) return this.#previous[run];
    if (run === NONE) {
      run = this.#head[row] === NONE ? NONE : this.#buckets.headBefore(row, bucket);
      if (run === NONE) return NONE;
    }
    for (
      let next = this.#next[run];
      next !== NONE && this.#first[next] <= processor;
      next = this.#next[run]
    ) {
      run = next;
    }
    return run;
  }

  firstIdle(processor: number): number {
    let position = this.#idleFrom[processor];
    for (; position < this.#rowCount; position++) {
      const run = this.runBefore(this.#order[position], processor);
      if (run === NONE || this.#end[run] <= processor) break;
    }
    this.#idleFrom[processor] = position;
    this.#hasBounds = true;
    return position;
  }

  /** Processors first … end − 1 may have become idle in the row at a position. */
  #mayBeIdle(first: number, end: number, position: number): void {
    if (!this.#hasBounds) return;
    const idleFrom = this.#idleFrom;
    for (let processor = first; processor < end; processor++)
      if (idleFrom[processor] > position) idleFrom[processor] = position;
  }

  /** First run of the row that begins at or after the processor. */
  runFrom(row: RowId, processor: number): RunId {
    return this.after(row, processor > 0 ? this.runBefore(row, processor - 1) : NONE);
  }

  protected exists(row: RowId): boolean {
    return row >= 0 && row < this.#rowsUsed && this.#position[row] !== NONE;
  }

  protected hasStretches(): boolean {
    return this.#furtherStretches > 0;
  }

  /** Adds an empty row at a position; the rows after it move back. */
  protected insertRow(position: number): RowId {
    this.#mayBeIdle(0, this.processors, position);
    const row = this.#freeRowCount > 0 ? this.#freeRows[--this.#freeRowCount] : this.#newRow();
    this.#head[row] = NONE;
    for (let behind = this.#rowCount++; behind > position; behind--) {
      const moved = this.#order[behind - 1];
      this.#order[behind] = moved;
      this.#position[moved] = behind;
    }
    this.#order[position] = row;
    this.#position[row] = position;
    return row;
  }

  /**
   * Removes an empty row; the rows after it move up. All its processors are idle, so no bound of an idle
   * processor is after it.
   */
  protected takeRow(row: RowId): void {
    for (let position = this.#position[row] + 1; position < this.#rowCount; position++) {
      const moved = this.#order[position];
      this.#order[position - 1] = moved;
      this.#position[moved] = position - 1;
    }
    this.#rowCount--;
    this.#position[row] = NONE;
    this.#freeRows[this.#freeRowCount++] = row;
  }

  /**
   * Adds a job on idle processors.
   * @param stretches first processor and end of each stretch in turn, ascending
   */
  protected insert(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    let lead = NONE;
    let last = NONE;
    for (let i = 0; i < count; i++) {
      const run = this.#newRun();
      if (lead === NONE) lead = run;
      else this.#nextStretch[last] = run;
      this.#job[run] = job;
      this.#row[run] = row;
      this.#first[run] = stretches[2 * i];
      this.#end[run] = stretches[2 * i + 1];
      this.#lead[run] = lead;
      this.#nextStretch[run] = NONE;
      this.#linkRow(run, this.runBefore(row, this.#first[run]));
      this.#enterBucket(run);
      last = run;
    }
    this.#furtherStretches += count - 1;
    this.#linkJob(lead);
  }

  /**
   * Exchanges the runs between two legal cuts. `before…` and `last…`: the last run of each row before either
   * cut.
   */
  protected exchangeRuns(
    a: RowId,
    beforeA: RunId,
    lastA: RunId,
    b: RowId,
    beforeB: RunId,
    lastB: RunId,
  ): void {
    const firstA = lastA === beforeA ? NONE : this.after(a, beforeA);
    const firstB = lastB === beforeB ? NONE : this.after(b, beforeB);
    const restA = this.after(a, lastA);
    const restB = this.after(b, lastB);
    if (firstA !== NONE) this.#leaveBuckets(firstA, lastA);
    if (firstB !== NONE) this.#leaveBuckets(firstB, lastB);
    this.#join(a, beforeA, firstB, lastB, restA);
    this.#join(b, beforeB, firstA, lastA, restB);
    if (firstA !== NONE) this.#enterBuckets(firstA, lastA, b);
    if (firstB !== NONE) this.#enterBuckets(firstB, lastB, a);
  }

  /** The run of the row after a run; after −1, the row's first run. */
  protected after(row: RowId, run: RunId): RunId {
    return run === NONE ? this.#head[row] : this.#next[run];
  }

  /** Links the row as before, first … last, rest; an empty middle has first −1. */
  #join(row: RowId, before: RunId, first: RunId, last: RunId, rest: RunId): void {
    const head = first === NONE ? rest : first;
    if (before === NONE) this.#head[row] = head;
    else this.#next[before] = head;
    if (first !== NONE) {
      this.#previous[first] = before;
      this.#next[last] = rest;
    }
    if (rest !== NONE) this.#previous[rest] = first === NONE ? before : last;
  }

  #linkRow(run: RunId, before: RunId): void {
    const row = this.#row[run];
    const rest = this.after(row, before);
    this.#join(row, before, run, run, rest);
  }

  #linkJob(run: RunId): void {
    const job = this.#job[run];
    if (job >= this.#runOfJob.length) this.#growJobs(job);
    const other = this.#runOfJob[job];
    this.#nextOfJob[run] = other;
    this.#previousOfJob[run] = NONE;
    if (other !== NONE) this.#previousOfJob[other] = run;
    this.#runOfJob[job] = run;
    this.#slots[job]++;
  }

  /** Removes a lead and the stretches that follow it. */
  protected removeRun(lead: RunId): void {
    const job = this.#job[lead];
    const before = this.#previousOfJob[lead];
    const after = this.#nextOfJob[lead];
    if (before === NONE) this.#runOfJob[job] = after;
    else this.#nextOfJob[before] = after;
    if (after !== NONE) this.#previousOfJob[after] = before;
    this.#slots[job]--;
    for (let run = lead; run !== NONE; run = this.#nextStretch[run]) {
      this.#leaveBuckets(run, run);
      this.#mayBeIdle(this.#first[run], this.#end[run], this.#position[this.#row[run]]);
      this.#join(this.#row[run], this.#previous[run], NONE, NONE, this.#next[run]);
      this.#next[run] = this.#freeRun;
      this.#freeRun = run;
      if (run !== lead) this.#furtherStretches--;
    }
  }

  /** The job's lead in the row, or −1. */
  protected runIn(job: JobIndex, row: RowId): RunId {
    let run = this.firstRunOfJob(job);
    while (run !== NONE && this.#row[run] !== row) run = this.#nextOfJob[run];
    return run;
  }

  /** Removes the adjacent runs from … to from the buckets; their links are still valid. */
  #leaveBuckets(from: RunId, to: RunId): void {
    const buckets = this.#buckets;
    const row = this.#row[from];
    const rest = this.#next[to];
    for (let run = from; ; run = this.#next[run]) {
      const bucket = buckets.of(this.#first[run]);
      if (buckets.head(row, bucket) === run) {
        // The first run after the removed ones takes over, if it begins in the same bucket.
        const follows = rest !== NONE && buckets.of(this.#first[rest]) === bucket;
        buckets.setHead(row, bucket, follows ? rest : NONE);
      }
      if (run === to) return;
    }
  }

  #enterBuckets(from: RunId, to: RunId, row: RowId): void {
    for (let run = from; ; run = this.#next[run]) {
      this.#mayBeIdle(this.#first[run], this.#end[run], this.#position[this.#row[run]]);
      this.#row[run] = row;
      this.#enterBucket(run);
      if (run === to) return;
    }
  }

  #enterBucket(run: RunId): void {
    const row = this.#row[run];
    const bucket = this.#buckets.of(this.#first[run]);
    const head = this.#buckets.head(row, bucket);
    if (head === NONE || this.#first[head] > this.#first[run]) this.#buckets.setHead(row, bucket, run);
  }

  #newRun(): RunId {
    const run = this.#freeRun;
    if (run !== NONE) {
      this.#freeRun = this.#next[run];
      return run;
    }
    if (this.#runsUsed === this.#job.length) {
      this.#job = doubled(this.#job);
      this.#row = doubled(this.#row);
      this.#first = doubled(this.#first);
      this.#end = doubled(this.#end);
      this.#next = doubled(this.#next);
      this.#previous = doubled(this.#previous);
      this.#nextOfJob = doubled(this.#nextOfJob);
      this.#previousOfJob = doubled(this.#previousOfJob);
      this.#lead = doubled(this.#lead);
      this.#nextStretch = doubled(this.#nextStretch);
    }
    return this.#runsUsed++;
  }

  #newRow(): RowId {
    const row = this.#rowsUsed++;
    if (row === this.#head.length) {
      this.#head = doubled(this.#head);
      this.#position = doubled(this.#position);
      this.#order = doubled(this.#order);
      this.#freeRows = doubled(this.#freeRows);
    }
    this.#buckets.reserve(this.#head.length);
    return row;
  }

  #growJobs(job: JobIndex): void {
    const length = Math.max(2 * this.#runOfJob.length, job + 1);
    this.#runOfJob = grown(this.#runOfJob, length, NONE);
    this.#slots = grown(this.#slots, length, 0);
  }
}
