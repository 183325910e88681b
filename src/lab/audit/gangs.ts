/**
 * The checker's own Ousterhout matrix and its own clock of slots. Between two instants it serves the rows in turn, the first round slot by
 * slot and whole rounds at once after that, and compares with the starts and ends that it is told.
 */
import type { Instance, JobIndex } from "../../core/jobs.ts";
import type { Guarantees, ParameterValues, RowId } from "../../core/policy.ts";
import type { Schedule } from "../../core/schedule.ts";
import { type QueueKey, queueKey } from "../queue-keys.ts";
import { type AuditCounts, Checker } from "./checker.ts";

/** One job's processors in one row. */
interface Run {
  readonly job: JobIndex;
  readonly stretches: Stretches;
}

/** First processor and end of each stretch in turn, ascending. */
type Stretches = readonly number[];

/** Instants of slots may differ from the checker's by rounding only. */
const ROUNDING = 1e-9;

export class GangChecker extends Checker {
  readonly #guarantees: Guarantees;
  readonly #slotS: number;
  readonly #switchS: number;
  /** Rows in the order of the round. */
  readonly #rows: { readonly row: RowId; runs: Run[] }[] = [];
  /** Position of the row that is served next. */
  #pointer = 0;
  /** Rows when the round began, and those that it has taken in since. */
  #begunWith = 0;
  #joined = 0;
  /** The instant up to which rows have been served, and the length of a slot from then on. */
  #servedToS = 0;
  #slotLengthS: number;
  readonly #served: Float64Array;
  /** Seconds of service that each job has lost by migrations; and how many there were. */
  readonly #lostS: Float64Array;
  #migrations = 0;
  readonly #firstSlotS: Float64Array;
  /** Processors of each job in the matrix; undefined outside. */
  readonly #stretches: (Stretches | undefined)[] = [];
  readonly #rowsOf: Int32Array;
  /** Memory in use on each processor in KB. */
  readonly #memoryKB: Float64Array;
  readonly #orderKey: QueueKey;
  readonly #promisedS: Float64Array;
  /** Jobs that have been placed and not had a slot that was checked against their start. */
  readonly #unstarted = new Set<JobIndex>();

  constructor(
    instance: Instance,
    counts: AuditCounts,
    guarantees: Guarantees,
    slots: { readonly slotS: number; readonly switchS: number },
    parameters: ParameterValues = {},
  ) {
    super(instance, counts);
    this.#guarantees = guarantees;
    this.#slotS = slots.slotS;
    this.#switchS = slots.switchS;
    this.#slotLengthS = slots.slotS;
    this.#served = new Float64Array(instance.count);
    this.#lostS = new Float64Array(instance.count);
    this.#firstSlotS = new Float64Array(instance.count).fill(Number.NaN);
    this.#rowsOf = new Int32Array(instance.count);
    this.#memoryKB = new Float64Array(guarantees.memory === undefined ? 0 : instance.processors);
    // `order` may be the policy's own; the queue in front of the matrix has an order of its own.
    this.#orderKey = queueKey({ order: parameters.queueOrder ?? "arrival" });
    this.#promisedS = new Float64Array(instance.count).fill(Number.NaN);
  }

  override arrived(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    super.arrived(timeS, job);
  }

  /** Told when the clock moves on, with the time of the job's first slot. */
  started(timeS: number, job: JobIndex): void {
    this.noteStart(timeS, job);
    const promisedS = this.#promisedS[job];
    if (this.#guarantees.keepsPromises && timeS > promisedS + ROUNDING * Math.max(timeS, this.#slotS)) {
      const text = `${this.name(job)} starts at ${timeS} s, it was promised ${promisedS} s`;
      this.fail("promise-broken", job, text);
    }
  }

  promised(timeS: number, job: JobIndex, startS: number): void {
    this.counts.promises++;
    if (!this.isWaiting(job) || this.#rowsOf[job] > 0 || !(startS >= timeS)) {
      this.fail("promise-void", job, `${this.name(job)} is promised a start at ${startS} s, at ${timeS} s`);
    }
    const beforeS = this.#promisedS[job];
    if (this.#guarantees.keepsPromises && startS > beforeS + ROUNDING * Math.max(startS, this.#slotS)) {
      const text = `${this.name(job)} is promised a start at ${startS} s, before it was promised ${beforeS} s`;
      this.fail("promise-later", job, text);
    }
    this.#promisedS[job] = startS;
  }

  departed(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    this.driverTells(timeS);
    this.noteEnd(timeS, job);
    const work = this.#slotsOfWork(job);
    if (this.#served[job] !== work) {
      this.fail(
        "service",
        job,
        `${this.name(job)} ends at ${timeS} s after ${this.#served[job]} slots, its work is ${work}`,
      );
    }
    for (const one of this.#rows)
      if (one.runs.some((run) => run.job === job)) one.runs = one.runs.filter((run) => run.job !== job);
    this.#countMemory(job, -1);
    this.#stretches[job] = undefined;
    this.#rowsOf[job] = 0;
  }

  decided(timeS: number): void {
    this.#serveUntil(timeS);
    this.driverTells(timeS);
    this.counts.instants++;
    const hasJobs = this.#rows.some((one) => one.runs.length > 0);
    this.#slotLengthS = this.#rows.length > 1 && hasJobs ? this.#slotS + this.#switchS : this.#slotS;
    this.#servedToS = timeS;
    if (!this.#guarantees.workConserving && !this.#guarantees.headNeverFits) return;
    if (this.#rows.length >= (this.#guarantees.maxRows ?? Number.POSITIVE_INFINITY)) return;
    this.#checkQueue(timeS);
  }

  /** There is room in a row of its own for any job, if all processors have memory for it. */
  #checkQueue(timeS: number): void {
    this.counts.queueChecks++;
    let mostInUseKB = 0;
    for (const inUseKB of this.#memoryKB) mostInUseKB = Math.max(mostInUseKB, inUseKB);
    const limitKB = this.#guarantees.memory?.limitKB ?? Number.POSITIVE_INFINITY;
    const head = this.#guarantees.workConserving ? undefined : this.#head(timeS);
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (this.#rowsOf[job] > 0 || (head !== undefined && job !== head)) continue;
      if (mostInUseKB + this.#memoryOf(job) > limitKB) continue;
      this.fail(
        head === undefined ? "fitting-job-waits" : "head-waits",
        job,
        `${this.name(job)} is in no row at ${timeS} s, though a row could be added for it`,
      );
    }
  }

  /** The first of the jobs that are in no row, in queue order. */
  #head(timeS: number): JobIndex {
    let head = -1;
    let headKey = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (this.#rowsOf[job] > 0) continue;
      const key = this.#orderKey(this.instance, job, timeS);
      if (head >= 0 && !(key < headKey || (key === headKey && job < head))) continue;
      head = job;
      headKey = key;
    }
    return head;
  }

  /** What the job counts as: what it tells, else what the rule says; whole KB, at most the limit. */
  #memoryOf(job: JobIndex): number {
    const rule = this.#guarantees.memory;
    if (rule === undefined) return 0;
    const toldKB = this.instance.memoryKB?.[job] ?? -1;
    return Math.min(Math.ceil(toldKB > 0 ? toldKB : rule.unknownKB), rule.limitKB);
  }

  /** Adds or takes away the memory of a job on its processors. */
  #countMemory(job: JobIndex, sign: number): void {
    const rule = this.#guarantees.memory;
    const stretches = this.#stretches[job];
    if (rule === undefined || stretches === undefined) return;
    for (let i = 0; i < stretches.length; i += 2) {
      for (let processor = stretches[i]; processor < stretches[i + 1]; processor++) {
        this.#memoryKB[processor] += sign * this.#memoryOf(job);
        if (sign < 0 || this.#memoryKB[processor] <= rule.limitKB) continue;
        const text = `${this.name(job)} is placed on processor ${processor}, whose jobs then need ${this.#memoryKB[processor]} of ${rule.limitKB} KB`;
        this.fail("memory-exceeded", job, text);
      }
    }
  }

  placed(timeS: number, job: JobIndex, row: RowId, first: number, told?: Stretches): void {
    this.counts.matrixChanges++;
    if (!this.hasArrived(job)) {
      this.fail(
        "start-before-arrival",
        job,
        `${this.name(job)} is placed at ${timeS} s, before it has arrived`,
      );
    }
    if (!Number.isNaN(this.endS[job])) {
      this.fail(
        "already-ended",
        job,
        `${this.name(job)} is placed at ${timeS} s, it ended at ${this.endS[job]} s`,
      );
    }
    const stretches = told ?? [first, first + this.instance.size[job]];
    this.#checkShape(job, stretches);
    const target = this.#find(row, job);
    this.#checkIdle(
      target,
      job,
      stretches,
      `${this.name(job)} is placed at ${timeS} s from processor ${first} on`,
    );
    const others = this.#stretches[job];
    if (others !== undefined && others.join() !== stretches.join()) {
      this.fail(
        "migrated",
        job,
        `${this.name(job)} is placed from processor ${first} on, in its other rows from ${others[0]} on`,
      );
    }
    this.#stretches[job] = stretches;
    if (this.#rowsOf[job]++ === 0) this.#countMemory(job, 1);
    target.runs.push({ job, stretches });
    if (this.isWaiting(job)) this.#unstarted.add(job);
  }

  released(timeS: number, job: JobIndex, row: RowId): void {
    this.counts.matrixChanges++;
    const target = this.#find(row, job);
    const at = target.runs.findIndex((run) => run.job === job);
    if (at < 0)
      this.fail(
        "not-there",
        job,
        `${this.name(job)} gives back row ${row} at ${timeS} s, it is not in that row`,
      );
    if (this.#rowsOf[job] === 1)
      this.fail("last-slot", job, `${this.name(job)} gives back its only row at ${timeS} s`);
    this.#rowsOf[job]--;
    target.runs.splice(at, 1);
  }

  rowAdded(timeS: number, row: RowId): void {
    this.counts.matrixChanges++;
    if (this.#rows.some((one) => one.row === row))
      this.fail("no-such-row", undefined, `Row ${row} is added at ${timeS} s, it exists`);
    // Last in the round, which takes in as many as it began with; further ones are behind those that had their slot.
    const hasRoom = this.#pointer === 0 || this.#joined < this.#begunWith;
    if (this.#pointer > 0 && hasRoom) this.#joined++;
    this.#rows.splice(hasRoom ? this.#rows.length : this.#pointer++, 0, { row, runs: [] });
    const most = this.#guarantees.maxRows ?? Number.POSITIVE_INFINITY;
    if (this.#rows.length > most)
      this.fail("too-many-rows", undefined, `A row is added at ${timeS} s, there are ${most} already`);
  }

  rowDeleted(timeS: number, row: RowId): void {
    this.counts.matrixChanges++;
    const at = this.#rows.indexOf(this.#find(row, undefined));
    const [left] = this.#rows[at].runs;
    if (left !== undefined)
      this.fail(
        "row-not-empty",
        left.job,
        `Row ${row} is deleted at ${timeS} s, it holds ${this.name(left.job).toLowerCase()}`,
      );
    this.#rows.splice(at, 1);
    if (at < this.#pointer) this.#pointer--;
    if (this.#pointer >= this.#rows.length) this.#pointer = 0;
  }

  exchanged(timeS: number, a: RowId, b: RowId, first: number, end: number): void {
    this.counts.matrixChanges++;
    const sides = [this.#find(a, undefined), this.#find(b, undefined)].map((one) => {
      const inside: Run[] = [];
      const outside: Run[] = [];
      for (const run of one.runs) {
        if (!overlap(run.stretches, [first, end])) outside.push(run);
        else if (run.stretches[0] >= first && run.stretches[run.stretches.length - 1] <= end)
          inside.push(run);
        else {
          const cut = `processors ${first} to ${end - 1}`;
          this.fail(
            "torn-gang",
            run.job,
            `${this.name(run.job)} would be torn at ${timeS} s: ${cut} of two rows are exchanged`,
          );
        }
      }
      return { one, inside, outside };
    });
    sides[0].one.runs = [...sides[0].outside, ...sides[1].inside];
    sides[1].one.runs = [...sides[1].outside, ...sides[0].inside];
  }

  /** A move to other processors: declared, paid for, from its one slot per round to idle processors. */
  migrated(timeS: number, job: JobIndex, row: RowId, first: number, costS: number): void {
    this.counts.matrixChanges++;
    this.#migrations++;
    const { migrationS } = this.#guarantees;
    const moved = `${this.name(job)} is moved to processors from ${first} on at ${timeS} s`;
    if (migrationS === undefined) this.fail("migrated", job, `${moved}, the policy does not declare that`);
    if (costS !== migrationS)
      this.fail("migration-cost", job, `${moved} for ${costS} s of service, ${migrationS} s are declared`);
    if (this.#rowsOf[job] !== 1)
      this.fail("migrated", job, `${moved}, it has ${this.#rowsOf[job]} slots per round`);
    const stretches = [first, first + this.instance.size[job]];
    this.#checkShape(job, stretches);
    const target = this.#find(row, job);
    this.#checkIdle(target, job, stretches, moved);
    for (const one of this.#rows) one.runs = one.runs.filter((run) => run.job !== job);
    target.runs.push({ job, stretches });
    this.#countMemory(job, -1);
    this.#stretches[job] = stretches;
    this.#countMemory(job, 1);
    this.#lostS[job] += costS;
  }

  override finish(schedule: Schedule): void {
    super.finish(schedule);
    const recorded = schedule.gang?.migrations ?? 0;
    if (recorded !== this.#migrations)
      this.fail(
        "wrong-record",
        undefined,
        `${recorded} migrations are recorded, ${this.#migrations} were observed`,
      );
  }

  /** An arrival is told at the first slot boundary at or after the submit time. */
  protected isArrivalTime(timeS: number, submitS: number): boolean {
    return timeS >= submitS && timeS - submitS <= this.#slotS + this.#switchS;
  }

  /** Serves the rows in turn up to an instant. */
  #serveUntil(timeS: number): void {
    if (this.violation !== undefined || !(timeS > this.#servedToS)) return;
    const lengthS = this.#slotLengthS;
    const slots = Math.round((timeS - this.#servedToS) / lengthS);
    const offS = Math.abs(this.#servedToS + slots * lengthS - timeS);
    if (offS > ROUNDING * Math.max(timeS, lengthS)) {
      this.nowS = timeS;
      this.fail("off-slot", undefined, `An event is told at ${timeS} s, ${offS} s off a slot boundary`);
    }
    if (this.#rows.some((one) => one.runs.length > 0)) this.#serve(slots, lengthS);
    this.#servedToS = timeS;
    this.#checkStarts();
  }

  #serve(slots: number, lengthS: number): void {
    const rows = this.#rows;
    this.counts.slots += slots;
    const firstRound = Math.min(slots, rows.length);
    for (let slot = 0; slot < firstRound; slot++) {
      this.#noteRound();
      for (const { job } of rows[this.#pointer].runs) {
        this.#served[job]++;
        if (Number.isNaN(this.#firstSlotS[job])) this.#firstSlotS[job] = this.#servedToS + slot * lengthS;
      }
      this.#pointer = (this.#pointer + 1) % rows.length;
    }
    const wholeRounds = Math.floor((slots - firstRound) / rows.length);
    for (const one of rows) for (const { job } of one.runs) this.#served[job] += wholeRounds;
    for (let slot = firstRound + wholeRounds * rows.length; slot < slots; slot++) {
      for (const { job } of rows[this.#pointer].runs) this.#served[job]++;
      this.#pointer = (this.#pointer + 1) % rows.length;
    }
  }

  #noteRound(): void {
    if (this.#pointer > 0) return;
    this.#begunWith = this.#rows.length;
    this.#joined = 0;
  }

  /** Compares the first slots with the starts that were told. */
  #checkStarts(): void {
    for (const job of this.#unstarted) {
      const firstS = this.#firstSlotS[job];
      const toldS = this.startS[job];
      if (Number.isNaN(firstS) && Number.isNaN(toldS)) continue;
      if (!(Math.abs(firstS - toldS) <= ROUNDING * Math.max(firstS, this.#slotS))) {
        this.fail(
          "start-time",
          job,
          `${this.name(job)} has its first slot at ${firstS} s, its start is told as ${toldS} s`,
        );
      }
      this.#unstarted.delete(job);
    }
  }

  #checkShape(job: JobIndex, stretches: Stretches): void {
    const end = stretches[stretches.length - 1];
    if (!(stretches[0] >= 0 && end <= this.instance.processors)) {
      this.fail(
        "off-machine",
        job,
        `${this.name(job)} is placed on processors ${stretches[0]} to ${end - 1} of ${this.instance.processors}`,
      );
    }
    let size = 0;
    for (let i = 0; i < stretches.length; i++) {
      if (i > 0 && !(stretches[i] > stretches[i - 1])) size = Number.NaN;
      size += i % 2 === 0 ? -stretches[i] : stretches[i];
    }
    if (size !== this.instance.size[job]) {
      this.fail(
        "wrong-size",
        job,
        `${this.name(job)} is placed on stretches ${stretches.join(" ")}, its size is ${this.instance.size[job]}`,
      );
    }
  }

  #checkIdle(target: { readonly runs: Run[] }, job: JobIndex, stretches: Stretches, what: string): void {
    for (const run of target.runs) {
      if (!overlap(run.stretches, stretches)) continue;
      const other = `${this.name(run.job).toLowerCase()} from processor ${run.stretches[0]} on`;
      this.fail("not-idle", job, `${what}, the row holds ${other}`);
    }
  }

  #slotsOfWork(job: JobIndex): number {
    const neededS = this.instance.runS[job] + this.#lostS[job];
    // A quotient that should be whole may lie just beside it.
    return Math.max(1, Math.ceil(neededS / this.#slotS - ROUNDING));
  }

  #find(row: RowId, job: JobIndex | undefined): { readonly row: RowId; runs: Run[] } {
    const found = this.#rows.find((one) => one.row === row);
    if (found === undefined)
      return this.fail("no-such-row", job, `Row ${row} is used at ${this.nowS} s, there is no such row`);
    return found;
  }
}

/** Whether two lists of stretches have a processor in common. */
function overlap(a: Stretches, b: Stretches): boolean {
  for (let i = 0; i < a.length; i += 2) {
    for (let j = 0; j < b.length; j += 2) if (a[i] < b[j + 1] && b[j] < a[i + 1]) return true;
  }
  return false;
}
