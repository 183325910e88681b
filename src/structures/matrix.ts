/**
 * The Ousterhout matrix: rows take turns, one slot each per round; a job's processes stand in one row, side by side, so
 * that they always run at the same time (Ousterhout 1982; Zhou, Walsh and Brent 2000, section 1).
 *
 *   position 0   AAAAAABBB.......     a run: one job's processors in one row
 *   position 1   CC..DDDDDDDD....     rows keep lists of runs sorted by processor, not cells
 *   position 2   CC......EEEEEEEE     a job may have several rows, always on the same processors
 *
 * Runs are records in a struct of arrays, linked within their row and with the job's other runs; buckets of processors
 * (run-buckets.ts) lead to a run in the middle of a row.
 *
 * A job's processors in a row may also lie in several stretches (scattered, or around the end of a ring). Then each stretch is a
 * run, linked in ascending order from the first one, the lead; only leads are linked with the job's other rows.
 */
import { assert, RuleViolation } from "../core/errors.ts";
import type { JobIndex, ReadonlyColumn } from "../core/jobs.ts";
import type { MatrixView, RowId, RunId } from "../core/policy.ts";
import { doubled, grown } from "./grow.ts";
import { RunBuckets } from "./run-buckets.ts";

const NONE = -1;
export class OusterhoutMatrix implements MatrixView {
  readonly processors: number;
  /** The present instant in seconds, told with violations; kept by whoever owns the matrix. */
  nowS = 0;
  readonly #size: ReadonlyColumn;

  // Runs. #next also links the free ones.
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
  /** Runs that are not leads. */
  #furtherStretches = 0;
  readonly #oneStretch = new Int32Array(2);

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
   * @param processors 1 or more
   * @param size processors of each job, by job index
   */
  constructor(processors: number, size: ReadonlyColumn) {
    this.processors = processors;
    this.#size = size;
    this.#buckets = new RunBuckets(processors);
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
  /** The first of the stretches that the job of the run has in the row. */
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

  /** Appends an empty row at the end of the round. */
  addRow(): RowId {
    const row = this.#freeRowCount > 0 ? this.#freeRows[--this.#freeRowCount] : this.#newRow();
    this.#head[row] = NONE;
    this.#order[this.#rowCount] = row;
    this.#position[row] = this.#rowCount++;
    return row;
  }

  /** Removes an empty row; the rows behind it move up. */
  deleteRow(row: RowId): void {
    this.#checkRow("delete", row);
    if (this.#head[row] !== NONE) {
      throw this.#violation(
        "row-not-empty",
        this.#job[this.#head[row]],
        `Cannot delete row ${row}: it holds a job`,
      );
    }
    for (let position = this.#position[row] + 1; position < this.#rowCount; position++) {
      const moved = this.#order[position];
      this.#order[position - 1] = moved;
      this.#position[moved] = position - 1;
    }
    this.#rowCount--;
    this.#position[row] = NONE;
    this.#freeRows[this.#freeRowCount++] = row;
  }

  /** Gives the job the processors first … first + size − 1 in the row; all its rows have the same processors. */
  place(job: JobIndex, row: RowId, first: number): void {
    this.#oneStretch[0] = first;
    this.#oneStretch[1] = first + this.#size[job];
    this.#place(job, row, this.#oneStretch, 1);
  }

  /** Gives the job processors that lie in `count` stretches, `stretches` their first processors and ends in turn, ascending. */
  placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const isBehind = i === 0 || stretches[2 * i] > stretches[2 * i - 1];
      sum = isBehind ? sum + Math.max(0, stretches[2 * i + 1] - stretches[2 * i]) : Number.NaN;
    }
    if (sum !== this.#size[job]) {
      throw this.#violation(
        "wrong-size",
        job,
        `Cannot place job ${job} on ${count} stretches: expected ${this.#size[job]} processors in ascending stretches that do not touch`,
      );
    }
    this.#place(job, row, stretches, count);
  }

  /** Takes one slot back from a job that has more than one. */
  release(job: JobIndex, row: RowId): void {
    const run = this.#runIn(job, row);
    if (run === NONE) {
      throw this.#violation("not-there", job, `Cannot take job ${job} out of row ${row}: it is not there`);
    }
    if (this.#slots[job] < 2) {
      throw this.#violation(
        "last-slot",
        job,
        `Cannot take job ${job} out of row ${row}: it has no other slot`,
      );
    }
    this.#removeRun(run);
  }

  /** Removes all runs of a job, at its end. */
  removeJob(job: JobIndex): void {
    for (let run = this.firstRunOfJob(job); run !== NONE; run = this.firstRunOfJob(job)) this.#removeRun(run);
  }

  /**
   * Exchanges what two rows hold on processors first … end − 1. Both cuts must be legal: no job of either row stands on
   * both sides of `first` or of `end` (Zhou, Brent, Johnson and Walsh 1999, property 1).
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
    if (this.#furtherStretches > 0) {
      this.#checkStretches(a, first, end);
      this.#checkStretches(b, first, end);
    }
    const beforeA = this.#cut(a, first);
    const beforeB = this.#cut(b, first);
    const lastA = this.#cut(a, end);
    const lastB = this.#cut(b, end);
    const firstA = lastA === beforeA ? NONE : this.#after(a, beforeA);
    const firstB = lastB === beforeB ? NONE : this.#after(b, beforeB);
    const restA = this.#after(a, lastA);
    const restB = this.#after(b, lastB);
    if (firstA !== NONE) this.#leaveBuckets(firstA, lastA);
    if (firstB !== NONE) this.#leaveBuckets(firstB, lastB);
    this.#join(a, beforeA, firstB, lastB, restA);
    this.#join(b, beforeB, firstA, lastA, restB);
    if (firstA !== NONE) this.#enterBuckets(firstA, lastA, b);
    if (firstB !== NONE) this.#enterBuckets(firstB, lastB, a);
  }

  /** First run of the row that begins at or behind the processor. */
  runFrom(row: RowId, processor: number): RunId {
    return this.#after(row, processor > 0 ? this.runBefore(row, processor - 1) : NONE);
  }

  /** Checks all links, counts and buckets against the runs themselves. Throws an Error where they disagree. */
  audit(): void {
    let runs = 0;
    for (let position = 0; position < this.#rowCount; position++) {
      const row = this.#order[position];
      assert(this.#position[row] === position, `position of row ${row}`);
      runs += this.#auditRow(row);
    }
    let runsOfJobs = 0;
    let leads = 0;
    for (let job = 0; job < this.#runOfJob.length; job++) {
      let slots = 0;
      let previous = NONE;
      for (let run = this.#runOfJob[job]; run !== NONE; run = this.#nextOfJob[run]) {
        assert(this.#job[run] === job && this.#previousOfJob[run] === previous, `runs of job ${job}`);
        runsOfJobs += this.#auditStretches(run, this.#runOfJob[job]);
        leads++;
        previous = run;
        slots++;
      }
      assert(slots === this.#slots[job], `number of slots of job ${job}`);
    }
    assert(runs === runsOfJobs, "every run is in a row and with its job");
    assert(runs - leads === this.#furtherStretches, "number of runs that are not leads");
    let free = 0;
    for (let run = this.#freeRun; run !== NONE; run = this.#next[run]) free++;
    assert(runs + free === this.#runsUsed, "every run is in use or free");
    assert(this.#rowCount + this.#freeRowCount === this.#rowsUsed, "every row is in use or free");
  }

  #auditRow(row: RowId): number {
    let runs = 0;
    let previous = NONE;
    const firstIn = new Int32Array(this.#buckets.count).fill(NONE);
    for (let run = this.#head[row]; run !== NONE; run = this.#next[run]) {
      assert(this.#row[run] === row && this.#previous[run] === previous, `links of row ${row}`);
      assert(previous === NONE || this.#end[previous] <= this.#first[run], `order of row ${row}`);
      assert(this.#first[run] >= 0 && this.#end[run] <= this.processors, `row ${row} stays on the machine`);
      const bucket = this.#buckets.of(this.#first[run]);
      if (firstIn[bucket] === NONE) firstIn[bucket] = run;
      previous = run;
      runs++;
    }
    let last = NONE;
    for (let bucket = 0; bucket < this.#buckets.count; bucket++) {
      assert(this.#buckets.head(row, bucket) === firstIn[bucket], `bucket ${bucket} of row ${row}`);
      assert(this.#buckets.headBefore(row, bucket) === last, `buckets before ${bucket} of row ${row}`);
      if (firstIn[bucket] !== NONE) last = firstIn[bucket];
    }
    return runs;
  }

  /** Returns the number of stretches of a lead; `other` is a lead of the same job. */
  #auditStretches(lead: RunId, other: RunId): number {
    const job = this.#job[lead];
    let stretches = 0;
    let size = 0;
    let end = NONE;
    let same = other;
    for (let run = lead; run !== NONE; run = this.#nextStretch[run]) {
      assert(this.#lead[run] === lead && this.#job[run] === job, `stretches of job ${job} belong together`);
      assert(this.#row[run] === this.#row[lead], `stretches of job ${job} are in one row`);
      assert(this.#first[run] > end, `stretches of job ${job} ascend`);
      assert(
        same !== NONE && this.#first[run] === this.#first[same] && this.#end[run] === this.#end[same],
        `job ${job} has the same processors in each row`,
      );
      end = this.#end[run];
      size += end - this.#first[run];
      same = this.#nextStretch[same];
      stretches++;
    }
    assert(same === NONE && size === this.#size[job], `size of job ${job} in row ${this.#row[lead]}`);
    return stretches;
  }

  #place(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    this.#checkRow(`place job ${job} in`, row);
    for (let i = 0; i < count; i++) this.#checkIdle(job, row, stretches[2 * i], stretches[2 * i + 1]);
    this.#checkSame(job, stretches, count);
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

  #checkIdle(job: JobIndex, row: RowId, first: number, end: number): void {
    if (!(first >= 0 && end <= this.processors)) {
      throw this.#violation(
        "off-machine",
        job,
        `Cannot place job ${job} on processors ${first} to ${end - 1}: the machine has 0 to ${this.processors - 1}`,
      );
    }
    const before = this.runBefore(row, end - 1);
    if (before !== NONE && this.#end[before] > first) {
      throw this.#violation(
        "not-idle",
        job,
        `Cannot place job ${job} on processors ${first} to ${end - 1} of row ${row}: job ${this.#job[before]} is there`,
      );
    }
  }

  /** Refuses other processors than those of the job's other slots. */
  #checkSame(job: JobIndex, stretches: ReadonlyColumn, count: number): void {
    const lead = this.firstRunOfJob(job);
    if (lead === NONE) return;
    let run = lead;
    let i = 0;
    for (; i < count && run !== NONE; i++, run = this.#nextStretch[run]) {
      if (this.#first[run] !== stretches[2 * i] || this.#end[run] !== stretches[2 * i + 1]) break;
    }
    if (i === count && run === NONE) return;
    const at = Math.min(i, count - 1);
    throw this.#violation(
      "migrated",
      job,
      run === NONE
        ? `Cannot place job ${job} on ${count} stretches: its other slots have ${i}`
        : `Cannot place job ${job} at processor ${stretches[2 * at]}: its other slots are at processor ${this.#first[run]}`,
    );
  }

  /** Refuses to move some stretches of a job without the others. */
  #checkStretches(row: RowId, first: number, end: number): void {
    for (let run = this.runFrom(row, first); run !== NONE && this.#first[run] < end; run = this.#next[run]) {
      const lead = this.#lead[run];
      // Each stretch looks at its lead, the lead at all of them.
      let stretch = lead;
      while (stretch !== NONE && this.#first[stretch] >= first && this.#end[stretch] <= end)
        stretch = run === lead ? this.#nextStretch[stretch] : NONE;
      if (stretch === NONE) continue;
      throw this.#violation(
        "torn-gang",
        this.#job[run],
        `Cannot exchange processors ${first} to ${end - 1} of row ${row}: job ${this.#job[run]} also has processor ${this.#first[stretch]}`,
      );
    }
  }

  /** Last run that begins before a cut; throws when it reaches over the cut. */
  #cut(row: RowId, processor: number): RunId {
    const run = processor > 0 ? this.runBefore(row, processor - 1) : NONE;
    if (run !== NONE && this.#end[run] > processor) {
      throw this.#violation(
        "torn-gang",
        this.#job[run],
        `Cannot cut row ${row} before processor ${processor}: job ${this.#job[run]} stands on both sides`,
      );
    }
    return run;
  }

  #after(row: RowId, run: RunId): RunId {
    return run === NONE ? this.#head[row] : this.#next[run];
  }

  /** Makes the row read before, first … last, rest; an empty middle has first −1. */
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
    const rest = this.#after(row, before);
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
  #removeRun(lead: RunId): void {
    const job = this.#job[lead];
    const before = this.#previousOfJob[lead];
    const after = this.#nextOfJob[lead];
    if (before === NONE) this.#runOfJob[job] = after;
    else this.#nextOfJob[before] = after;
    if (after !== NONE) this.#previousOfJob[after] = before;
    this.#slots[job]--;
    for (let run = lead; run !== NONE; run = this.#nextStretch[run]) {
      this.#leaveBuckets(run, run);
      this.#join(this.#row[run], this.#previous[run], NONE, NONE, this.#next[run]);
      this.#next[run] = this.#freeRun;
      this.#freeRun = run;
      if (run !== lead) this.#furtherStretches--;
    }
  }

  #runIn(job: JobIndex, row: RowId): RunId {
    let run = this.firstRunOfJob(job);
    while (run !== NONE && this.#row[run] !== row) run = this.#nextOfJob[run];
    return run;
  }

  /** Takes the runs from … to, which are neighbours, out of the buckets; their links still hold. */
  #leaveBuckets(from: RunId, to: RunId): void {
    const buckets = this.#buckets;
    const row = this.#row[from];
    const rest = this.#next[to];
    for (let run = from; ; run = this.#next[run]) {
      const bucket = buckets.of(this.#first[run]);
      if (buckets.head(row, bucket) === run) {
        // The first run behind the ones that leave follows, if it begins in the same bucket.
        const follows = rest !== NONE && buckets.of(this.#first[rest]) === bucket;
        buckets.setHead(row, bucket, follows ? rest : NONE);
      }
      if (run === to) return;
    }
  }

  #enterBuckets(from: RunId, to: RunId, row: RowId): void {
    for (let run = from; ; run = this.#next[run]) {
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

  #checkRow(action: string, row: RowId): void {
    if (!(row >= 0 && row < this.#rowsUsed && this.#position[row] !== NONE)) {
      throw this.#violation("no-such-row", NONE, `Cannot ${action} row ${row}: there is no such row`);
    }
  }

  #violation(rule: string, job: JobIndex, message: string): RuleViolation {
    return new RuleViolation(rule, job, this.nowS, message);
  }
}
