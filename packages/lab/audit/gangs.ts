/**
 * Checks gang schedules. Between two instants the checker serves the rows of its own matrix, and it compares
 * the result with the starts and ends that the simulator reports.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { Guarantees, ParameterValues, RowId } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { knowsOrder, type QueueKey, queueKey } from "../queue-keys.ts";
import { MemoryBook, overlap, ResourceBook } from "./capacity.ts";
import { type AuditCounts, Checker } from "./checker.ts";
import { type MatrixRow, ServedRows, type Stretches, widthOf } from "./served-rows.ts";
import { checkable } from "./withheld.ts";

/** Slot boundaries may differ from the checker's only by rounding. */
const ROUNDING = 1e-9;

export class GangChecker extends Checker {
  readonly #guarantees: Guarantees;
  readonly #slotS: number;
  readonly #switchS: number;
  readonly #matrix: ServedRows;
  /** The instant up to which rows have been served, and the length of a slot from then on. */
  #servedToS = 0;
  #slotLengthS: number;
  /** Seconds of service that each job has lost by migrations, and the number of migrations. */
  readonly #lostS: Float64Array;
  #migrations = 0;
  /** Processors of each job in the matrix; undefined for other jobs. */
  readonly #stretches: (Stretches | undefined)[] = [];
  readonly #rowsOf: Int32Array;
  /** Gangs that were paused, have been continued and have no row yet. */
  readonly #returning = new Set<JobIndex>();
  /** When each gang last came into the matrix or was continued, in seconds. */
  readonly #thereSinceS: Float64Array;
  readonly #memory: MemoryBook;
  readonly #resources: ResourceBook;
  readonly #orderKey: QueueKey;
  readonly #promisedS: Float64Array;
  /** The jobs as policies know them. */
  readonly #known: Instance;
  /** Jobs that were placed and whose first slot has not yet been compared with their start. */
  readonly #unstarted = new Set<JobIndex>();

  constructor(
    instance: Instance,
    counts: AuditCounts,
    guarantees: Guarantees,
    slots: { readonly slotS: number; readonly switchS: number },
    parameters: ParameterValues = {},
  ) {
    super(instance, counts);
    // Policies do not forecast when missing resources return, and a job that waits for them blocks the
    // others.
    const isLimited = (instance.resources?.length ?? 0) + (instance.interruptions?.outages.length ?? 0) > 0;
    const claimed = knowsOrder({ order: parameters.queueOrder ?? "arrival" })
      ? guarantees
      : { ...guarantees, headNeverFits: false };
    const limited = isLimited ? { ...claimed, workConserving: false, keepsPromises: false } : claimed;
    this.#guarantees = checkable(limited, instance);
    this.#slotS = slots.slotS;
    this.#switchS = slots.switchS;
    this.#slotLengthS = slots.slotS;
    this.#matrix = new ServedRows(instance.count);
    this.#lostS = new Float64Array(instance.count);
    this.#rowsOf = new Int32Array(instance.count);
    this.#memory = new MemoryBook(instance, guarantees.memory);
    this.#thereSinceS = new Float64Array(instance.count);
    this.#resources = new ResourceBook(this.instance);
    // `order` may be a parameter of the policy itself; the admission queue has an order of its own.
    this.#orderKey = queueKey({ order: parameters.queueOrder ?? "arrival" });
    this.#known = { ...this.instance, estimateS: instance.estimateS.slice() };
    this.#promisedS = new Float64Array(instance.count).fill(Number.NaN);
  }

  override arrived(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    super.arrived(timeS, job);
  }

  /** Called when the clock moves on, with the time of the job's first slot. */
  started(timeS: number, job: JobIndex): void {
    this.noteStart(timeS, job);
    const promisedS = this.#promisedS[job];
    if (this.#guarantees.keepsPromises && timeS > promisedS + ROUNDING * Math.max(timeS, this.#slotS)) {
      const text = `${this.name(job)} starts at ${timeS} s, but it was promised ${promisedS} s`;
      this.fail("promise-broken", job, text);
    }
  }

  promised(timeS: number, job: JobIndex, startS: number): void {
    this.counts.promises++;
    this.noteWithheld(timeS);
    if (!this.isWaiting(job) || this.#rowsOf[job] > 0 || !(startS >= timeS)) {
      const text = `${this.name(job)} is promised a start at ${startS} s, but it is ${timeS} s already`;
      this.fail("promise-void", job, text);
    }
    const beforeS = this.#promisedS[job];
    if (this.#guarantees.keepsPromises && startS > beforeS + ROUNDING * Math.max(startS, this.#slotS)) {
      const text = `${this.name(job)} is promised a start at ${startS} s, but an earlier promise was ${beforeS} s`;
      this.fail("promise-later", job, text);
    }
    this.#promisedS[job] = startS;
  }

  departed(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    this.onDriverEvent(timeS);
    this.noteEnd(timeS, job);
    const work = this.#slotsOfWork(job);
    if (this.#matrix.served[job] !== work) {
      this.fail(
        "service",
        job,
        `${this.name(job)} ends at ${timeS} s after ${this.#matrix.served[job]} slots, but its work is ${work}`,
      );
    }
    this.withheld.end(job);
    this.#takeOut(job);
  }

  #takeOut(job: JobIndex, keepsResources = false): void {
    this.#matrix.takeOut(job);
    this.#memory.count(job, this.#stretches[job], -1);
    if (this.#rowsOf[job] > 0 && !keepsResources) this.#resources.give(job);
    this.#stretches[job] = undefined;
    this.#rowsOf[job] = 0;
  }

  /** A stopped or paused job keeps the slots that it has had. */
  override suspended(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    this.#noteEarlierWithheld(timeS);
    const stretches = this.#stretches[job] ?? [];
    // Stops come before pauses, but they do not reach a gang that has no row.
    const isAsked =
      this.#rowsOf[job] > 0 &&
      (this.capacity.isStopped(job, this.decidedS, timeS) ||
        this.capacity.isAway(stretches, this.decidedS, timeS));
    if (!isAsked && !this.withheld.pause(job, this.decidedS, timeS))
      this.fail("stopped-needlessly", job, `${this.name(job)} is stopped at ${timeS} s`);
    super.suspended(timeS, job);
    this.#returning.delete(job);
    const leftS = this.instance.estimateS[job] - this.#matrix.served[job] * this.#slotS;
    this.#known.estimateS[job] = Math.max(0, leftS);
    this.#takeOut(job, !isAsked);
    // A gang that has had no slot has not started, so its limits may be used by others.
    if (isAsked && Number.isNaN(this.startS[job])) this.withheld.end(job);
  }

  override resumed(timeS: number, job: JobIndex): void {
    this.#serveUntil(timeS);
    this.#noteEarlierWithheld(timeS);
    super.resumed(timeS, job);
  }

  protected override isDue(job: JobIndex, timeS: number): boolean {
    if (!this.withheld.isPaused(job)) return super.isDue(job, timeS);
    const sinceS = this.withheld.continue(job, this.decidedS, timeS);
    if (sinceS === undefined) return false;
    this.#returning.add(job);
    this.#thereSinceS[job] = sinceS;
    return true;
  }

  protected hasProcessors(job: JobIndex): boolean {
    return this.#rowsOf[job] > 0 || this.#returning.has(job);
  }

  /** A gang that has a row, or comes back to one, is not in the queue, though it may not have started. */
  protected override isInQueue(job: JobIndex): boolean {
    return this.isWaiting(job) && !this.hasProcessors(job);
  }

  /**
   * Under limits, what happens within a slot happens before the stops that are noticed at its end; otherwise
   * after them.
   */
  #noteEarlierWithheld(timeS: number): void {
    const { limits } = this.instance.workload;
    if (limits !== undefined && this.withheld.advanceBefore(timeS)) this.onQueueChange();
  }

  protected onEdit(job: JobIndex): void {
    this.#known.estimateS[job] = this.instance.estimateS[job];
  }

  /** Promises hold only until waiting jobs leave the queue or come back. */
  protected onQueueChange(): void {
    this.#promisedS.fill(Number.NaN);
  }

  decided(timeS: number): void {
    this.#serveUntil(timeS);
    this.onDriverEvent(timeS);
    this.noteWithheld(timeS);
    this.counts.instants++;
    this.decidedS = timeS;
    this.#checkPaused(timeS);
    const lost = this.#stretches.findIndex(
      (own) => own !== undefined && this.capacity.isAway(own, timeS, timeS),
    );
    if (lost >= 0)
      this.fail("processor-away", lost, `${this.name(lost)} has processors that are away at ${timeS} s`);
    const { rows, hasJobs } = this.#matrix;
    this.#slotLengthS = rows.length > 1 && hasJobs ? this.#slotS + this.#switchS : this.#slotS;
    this.#servedToS = timeS;
    if (!this.#guarantees.workConserving && !this.#guarantees.headNeverFits) return;
    if (rows.length >= (this.#guarantees.maxRows ?? Number.POSITIVE_INFINITY)) return;
    this.#checkQueue(timeS);
  }

  /** A new row has room for any job, if all processors have memory for it. */
  #checkQueue(timeS: number): void {
    if (this.capacity.awayAt(timeS) > 0) return;
    this.counts.queueChecks++;
    const { maxKB } = this.#memory;
    const isDrained = this.withheld.isDrained(timeS);
    // Gangs that were paused go before the queue, also during a drain, and hold their resources.
    const isReturning = (job: JobIndex) => this.#returning.has(job);
    const isHere = (job: JobIndex) =>
      isReturning(job) || (this.#rowsOf[job] === 0 && !isDrained && !this.withheld.isHeld(job, timeS));
    const [firstBack] = this.#returning;
    const head = this.#guarantees.workConserving
      ? undefined
      : (firstBack ?? this.firstWaiting(this.#orderKey, timeS, isHere, this.#known));
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (!isHere(job) || (head !== undefined && job !== head)) continue;
      if (!this.#memory.hasRoom(job, maxKB) || !(isReturning(job) || this.#resources.has(job))) continue;
      this.fail(
        head === undefined ? "fitting-job-waits" : "head-waits",
        job,
        `${this.name(job)} is in no row at ${timeS} s, although a row could be added for it`,
      );
    }
  }

  /** A gang whose pause has begun is in no row, unless it got one afterwards. */
  #checkPaused(timeS: number): void {
    for (const { job, fromS } of this.withheld.begunPauses(timeS)) {
      if (!this.hasProcessors(job) || this.#thereSinceS[job] >= fromS) continue;
      const text = `${this.name(job)} is not taken out at ${timeS} s, although it is paused at ${fromS} s`;
      this.fail("paused", job, text);
    }
  }

  placed(timeS: number, job: JobIndex, row: RowId, first: number, told?: Stretches): void {
    this.#noteChange(timeS);
    const placed = `${this.name(job)} is placed at ${timeS} s`;
    if (!this.hasArrived(job)) this.fail("start-before-arrival", job, `${placed}, before it has arrived`);
    if (!Number.isNaN(this.endS[job]))
      this.fail("already-ended", job, `${placed}, but it ended at ${this.endS[job]} s`);
    const stretches = told ?? [first, first + this.instance.size[job]];
    this.#checkShape(job, stretches);
    const target = this.#find(row, job);
    this.#checkIdle(target, job, stretches, `${placed} from processor ${first}`);
    const others = this.#stretches[job];
    if (others !== undefined && others.join() !== stretches.join()) {
      const text = `${placed} from processor ${first}, but in its other rows it begins at ${others[0]}`;
      this.fail("migrated", job, text);
    }
    this.#stretches[job] = stretches;
    if (this.#rowsOf[job]++ === 0) this.#enter(timeS, job, stretches);
    target.runs.push({ job, stretches });
    if (this.isWaiting(job)) this.#unstarted.add(job);
  }

  /** The job gets its first row, or a first row again after a stop. */
  #enter(timeS: number, job: JobIndex, stretches: Stretches): void {
    const placed = `${this.name(job)} is placed at ${timeS} s`;
    if (this.capacity.isAway(stretches, timeS, timeS))
      this.fail("processor-away", job, `${placed} on processors that are away`);
    if (!this.isWaiting(job)) this.fail("stopped", job, `${placed}, but it is stopped or paused`);
    if (!this.#returning.delete(job)) {
      this.checkMayStart(timeS, job);
      if (!this.#resources.has(job))
        this.fail("resource-twice", job, `${placed}, but its resources are not free`);
      this.#resources.take(job);
      this.#thereSinceS[job] = timeS;
    }
    this.#countMemory(job, stretches, 1);
    if (this.isWaiting(job) && !Number.isNaN(this.startS[job])) this.noteRestart(timeS, job);
  }

  #countMemory(job: JobIndex, stretches: Stretches, sign: number): void {
    const excess = this.#memory.count(job, stretches, sign);
    if (excess !== undefined) this.fail("memory-exceeded", job, `${this.name(job)} is placed ${excess}`);
  }

  released(timeS: number, job: JobIndex, row: RowId): void {
    this.#noteChange(timeS);
    const target = this.#find(row, job);
    const at = target.runs.findIndex((run) => run.job === job);
    const text = `${this.name(job)} gives back row ${row} at ${timeS} s, but it`;
    if (at < 0) this.fail("not-there", job, `${text} is not in that row`);
    if (this.#rowsOf[job] === 1) this.fail("last-slot", job, `${text} has no other`);
    this.#rowsOf[job]--;
    target.runs.splice(at, 1);
  }

  rowAdded(timeS: number, row: RowId): void {
    this.#noteChange(timeS);
    if (this.#matrix.rows.some((other) => other.row === row))
      this.fail("no-such-row", undefined, `Row ${row} is added at ${timeS} s, but it exists already`);
    this.#matrix.add(row);
    const maxRows = this.#guarantees.maxRows ?? Number.POSITIVE_INFINITY;
    if (this.#matrix.rows.length > maxRows)
      this.fail("too-many-rows", undefined, `A row is added at ${timeS} s, but there are ${maxRows} already`);
  }

  rowDeleted(timeS: number, row: RowId): void {
    this.#noteChange(timeS);
    const matrixRow = this.#find(row, undefined);
    const [remaining] = matrixRow.runs;
    if (remaining !== undefined)
      this.fail(
        "row-not-empty",
        remaining.job,
        `Row ${row} is deleted at ${timeS} s, but it holds ${this.name(remaining.job).toLowerCase()}`,
      );
    this.#matrix.delete(matrixRow);
  }

  exchanged(timeS: number, a: RowId, b: RowId, first: number, end: number): void {
    this.#noteChange(timeS);
    const torn = this.#matrix.exchange(this.#find(a, undefined), this.#find(b, undefined), first, end);
    if (torn === undefined) return;
    const would = `${this.name(torn)} would be torn at ${timeS} s`;
    this.fail("torn-gang", torn, `${would}: two rows exchange processors ${first} to ${end - 1}`);
  }

  /**
   * A move to other processors must be declared and paid for. Only a job with one slot per round may move,
   * and only to idle processors.
   */
  migrated(timeS: number, job: JobIndex, row: RowId, first: number, costS: number): void {
    this.#noteChange(timeS);
    this.#migrations++;
    const { migrationS } = this.#guarantees;
    const moved = `${this.name(job)} is moved to the processors from ${first} at ${timeS} s`;
    if (migrationS === undefined)
      this.fail("migrated", job, `${moved}, but the policy does not declare migration`);
    if (costS !== migrationS)
      this.fail(
        "migration-cost",
        job,
        `${moved} for ${costS} s of service, but the policy declares ${migrationS} s`,
      );
    if (this.#rowsOf[job] !== 1)
      this.fail("migrated", job, `${moved}, but it has ${this.#rowsOf[job]} slots per round`);
    const stretches = [first, first + this.instance.size[job]];
    this.#checkShape(job, stretches);
    const target = this.#find(row, job);
    this.#checkIdle(target, job, stretches, moved);
    this.#matrix.takeOut(job);
    target.runs.push({ job, stretches });
    this.#memory.count(job, this.#stretches[job], -1);
    this.#stretches[job] = stretches;
    this.#countMemory(job, stretches, 1);
    this.#lostS[job] += costS;
  }

  override finish(schedule: Schedule): void {
    super.finish(schedule);
    const recorded = schedule.gang?.migrations ?? 0;
    const text = `${recorded} migrations are recorded, but ${this.#migrations} were observed`;
    if (recorded !== this.#migrations) this.fail("wrong-record", undefined, text);
  }

  /** The machine reports an arrival at the first slot boundary at or after the submit time. */
  protected isArrivalTime(timeS: number, submitS: number): boolean {
    return timeS >= submitS && timeS - submitS <= this.#slotS + this.#switchS;
  }

  #noteChange(timeS: number): void {
    this.#serveUntil(timeS);
    this.noteWithheld(timeS);
    this.counts.matrixChanges++;
  }

  /** Serves the rows in turn up to an instant. */
  #serveUntil(timeS: number): void {
    if (this.violation !== undefined || !(timeS > this.#servedToS)) return;
    const lengthS = this.#slotLengthS;
    const slots = Math.round((timeS - this.#servedToS) / lengthS);
    const offS = Math.abs(this.#servedToS + slots * lengthS - timeS);
    if (offS > ROUNDING * Math.max(timeS, lengthS)) {
      this.nowS = timeS;
      this.fail(
        "off-slot",
        undefined,
        `An event comes at ${timeS} s, which is ${offS} s away from a slot boundary`,
      );
    }
    if (this.#matrix.hasJobs) {
      this.counts.slots += slots;
      this.#matrix.serve(slots, this.#servedToS, lengthS);
    }
    this.#servedToS = timeS;
    this.#checkStarts();
  }

  /** Compares the first slots with the reported starts. */
  #checkStarts(): void {
    for (const job of this.#unstarted) {
      const firstS = this.#matrix.firstSlotS[job];
      const reportedS = this.startS[job];
      if (Number.isNaN(firstS) && Number.isNaN(reportedS)) continue;
      if (!(Math.abs(firstS - reportedS) <= ROUNDING * Math.max(firstS, this.#slotS))) {
        const text = `${this.name(job)} has its first slot at ${firstS} s, but its start is reported as ${reportedS} s`;
        this.fail("start-time", job, text);
      }
      this.#unstarted.delete(job);
    }
  }

  #checkShape(job: JobIndex, stretches: Stretches): void {
    const end = stretches[stretches.length - 1];
    if (!(stretches[0] >= 0 && end <= this.instance.processors)) {
      const text = `${this.name(job)} is placed on processors ${stretches[0]} to ${end - 1}, but there are only ${this.instance.processors}`;
      this.fail("off-machine", job, text);
    }
    if (widthOf(stretches) !== this.instance.size[job]) {
      const text = `${this.name(job)} is placed on stretches ${stretches.join(" ")}, but its size is ${this.instance.size[job]}`;
      this.fail("wrong-size", job, text);
    }
  }

  #checkIdle(target: MatrixRow, job: JobIndex, stretches: Stretches, what: string): void {
    for (const run of target.runs) {
      if (!overlap(run.stretches, stretches)) continue;
      const other = `${this.name(run.job).toLowerCase()} from processor ${run.stretches[0]}`;
      this.fail("not-idle", job, `${what}, but the row holds ${other}`);
    }
  }

  #slotsOfWork(job: JobIndex): number {
    const neededS = this.instance.runS[job] + this.#lostS[job];
    // Rounding may put a quotient slightly above the whole number that it should be.
    return Math.max(1, Math.ceil(neededS / this.#slotS - ROUNDING));
  }

  #find(row: RowId, job: JobIndex | undefined): MatrixRow {
    const matrixRow = this.#matrix.rows.find((other) => other.row === row);
    if (matrixRow === undefined)
      return this.fail("no-such-row", job, `Row ${row} is used at ${this.nowS} s, but there is no such row`);
    return matrixRow;
  }
}
