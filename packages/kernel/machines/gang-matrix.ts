/**
 * Implements the machine of gang scheduling: an Ousterhout matrix whose rows take turns, one slot each per
 * round (Zhou, Walsh and Brent 2000, section 1). The machine refuses wrong decisions, counts the slots that
 * each job has had, and knows when a job has its first slot. It has no clock of its own.
 *
 *   slot        0    1    2    3    4    5
 *   row       | 0  | 1  | 2  | 0  | 1  | 2  |…
 *
 * Rows are in order of the round (structures/matrix/round-robin.ts). A subclass with a clock
 * (simulator/rounds.ts in virtual time, daemon/scheduling/live-rounds.ts in real time) determines when a slot
 * begins, how many slots have passed, and which jobs arrive and leave.
 *
 * Slots are not simulated one by one. Let S be the number of slots that a job with k rows has had. In round
 * r, after b of the job's rows have had their slot, S has grown by exactly as much as r·k + b. The difference
 * S − (r·k + b), called `base`, is therefore constant as long as the job's rows stay the same. Adding a row
 * or deleting another job's row changes neither r·k + b nor the order of the job's rows. Only jobs that are
 * placed, released, exchanged or moved need more: `touch` computes S before the change, and `settle` computes
 * a new base after the decision.
 */
import { RuleViolation } from "../core/errors.ts";
import type { JobChange, Outage } from "../core/interruptions.ts";
import type { JobIndex, ReadonlyColumn } from "../core/jobs.ts";
import { type GangMachine, type Policy, type RowId, type RunId, StartRule } from "../core/policy.ts";
import type { Observer } from "../core/schedule.ts";
import { doubled } from "../structures/grow.ts";
import { OusterhoutMatrix } from "../structures/matrix/matrix.ts";
import { RoundRobin } from "../structures/matrix/round-robin.ts";
import { Arrivals } from "./arrivals.ts";
import { type Interruptible, Pauses } from "./interruptions.ts";
import { Sizes } from "./sizes.ts";
import { type MachineFeatures, Stock } from "./stock.ts";
import { Withholder } from "./withdrawals.ts";

/** Where a job is, by its row in the job table. */
const Presence = { unknown: 0, here: 1, stopped: 2, gone: 3, paused: 4, returning: 5 } as const;

interface GangMatrixOptions extends MachineFeatures {
  readonly slotS: number;
  readonly switchS: number;
  readonly observer?: Observer | undefined;
}

export abstract class GangMatrix extends OusterhoutMatrix implements GangMachine, Interruptible {
  readonly slotS: number;
  override readonly switchS: number;
  protected readonly observer: Observer | undefined;
  protected readonly roundRobin = new RoundRobin();
  /** Beginning of a job's first slot, in seconds; NaN before that. */
  protected readonly startS: Float64Array;
  /** Jobs that have a row. */
  protected placedCount = 0;
  protected startedCount = 0;
  /** How often a job that already had a slot got one more. */
  protected unifications = 0;
  /** How often a job changed its row in an exchange. */
  protected moves = 0;

  readonly pauses = new Pauses();
  readonly #arrivals = new Arrivals();
  readonly withholder: Withholder;
  readonly #sizes: Sizes;
  readonly #stock: Stock | undefined;
  /** 1 for each processor that is away; undefined as long as all have been present. */
  #away: Uint8Array | undefined;
  readonly #presence: Uint8Array;
  /** While a job is touched or has no row, the number of slots that it has had; otherwise its base. */
  readonly #served: Float64Array;
  readonly #isTouched: Uint8Array;
  #touched = new Int32Array(64);
  #touchedCount = 0;
  readonly #unstarted = new UnstartedGangs();
  readonly #startedNow: JobIndex[] = [];
  /** Gangs that were resumed since the last decision. */
  readonly #resumed: JobIndex[] = [];

  /** @param size processors of each job, by its row in the table. Written to when a job gets another size. */
  constructor(processors: number, size: Int32Array, options: GangMatrixOptions) {
    const { slotS, switchS, observer, resources = [], demand = [], molding, limits, priority } = options;
    super(processors, size);
    this.#sizes = new Sizes(size, molding);
    this.#stock = resources.length > 0 ? new Stock(resources, demand) : undefined;
    this.slotS = slotS;
    this.switchS = switchS;
    this.observer = observer;
    this.startS = new Float64Array(size.length).fill(Number.NaN);
    const presence = new Uint8Array(size.length);
    this.#presence = presence;
    this.withholder = new Withholder(
      {
        count: size.length,
        isWaiting: (job) => presence[job] === Presence.here && this.slotsOf(job) === 0,
        isUnknown: (job) => presence[job] === Presence.unknown,
        hasStarted: (job) => !Number.isNaN(this.startS[job]),
        setWaiting: (job, isWaiting) => {
          presence[job] = isWaiting ? Presence.here : Presence.stopped;
        },
        change: (job, change) => {
          if (change.size !== undefined) size[job] = change.size;
          this.onChange(job, change);
        },
      },
      this.#arrivals,
      limits,
      priority !== undefined,
    );
    this.#served = new Float64Array(size.length);
    this.#isTouched = new Uint8Array(size.length);
  }

  // What a clock provides.

  /** Beginning of the slot that is `ahead` slots after the present one, in seconds. */
  protected abstract slotStartS(ahead: number): number;

  /** The job has got its first row. */
  protected onPlaced(_job: JobIndex, _row: RowId): void {}

  /** The job has got one more slot per round. */
  protected onSlotAdded(_job: JobIndex, _row: RowId): void {}

  /** The job's rows have changed, and so has its base. */
  protected onSettled(_job: JobIndex): void {}

  /** The job has left its rows, though it has not ended. */
  protected onSuspend(_job: JobIndex): void {}

  /** The job has been changed while it waits; its size is already the new one. */
  protected onChange(_job: JobIndex, _change: JobChange): void {}

  /** The job has got another size and takes `factor` times as long. */
  protected onMold(_job: JobIndex, _factor: number): void {}

  // What a clock calls.

  protected enter(job: JobIndex): void {
    this.observer?.arrived?.(this.nowS, job);
    this.withholder.wait(job);
  }

  /** The job may be placed without an arrival, because the policy already knows it. */
  protected enterKnown(job: JobIndex): void {
    this.#presence[job] = Presence.here;
  }

  /** The job can no longer be placed. */
  protected forget(job: JobIndex): void {
    this.#presence[job] = Presence.gone;
  }

  /** The jobs that have arrived since the last call. */
  protected takeArrivals(): readonly JobIndex[] {
    if (this.#resumed.length === 0) return this.#arrivals.take();
    return [...this.#resumed.splice(0), ...this.#arrivals.take()];
  }

  /** Removes a job that has ended from its rows. */
  protected leave(job: JobIndex): void {
    this.#takeOut(job);
    this.#presence[job] = Presence.gone;
  }

  #takeOut(job: JobIndex, keepsResources = false): void {
    if (this.slotsOf(job) > 0) {
      this.placedCount--;
      if (!keepsResources) this.#stock?.give(job);
    }
    if (Number.isNaN(this.startS[job])) this.#unstarted.remove(job);
    this.removeJob(job);
  }

  announce(): void {}

  /** Stops all jobs that have one of the processors. */
  lose({ first, processors }: Outage): readonly JobIndex[] {
    const end = first + processors;
    const stopped = new Set<JobIndex>();
    for (let position = 0; position < this.rowCount; position++) {
      for (let run = this.firstRun(this.rowAt(position)); run !== -1; run = this.nextRun(run))
        if (this.runFirst(run) < end && first < this.runEnd(run)) stopped.add(this.runJob(run));
    }
    for (const job of stopped) this.suspend(job);
    this.#away ??= new Uint8Array(this.processors);
    this.#away.fill(1, first, end);
    return [...stopped];
  }

  regain({ first, processors }: Outage): void {
    this.#away?.fill(0, first, first + processors);
  }

  suspend(job: JobIndex): boolean {
    if (this.slotsOf(job) === 0) return false;
    this.touch(job);
    this.#takeOut(job);
    this.#presence[job] = Presence.stopped;
    if (!Number.isNaN(this.startS[job])) this.pauses.begin(job, this.nowS);
    this.onSuspend(job);
    this.observer?.suspended?.(this.nowS, job);
    return true;
  }

  resume(job: JobIndex): void {
    this.withholder.wait(job);
    this.observer?.resumed?.(this.nowS, job);
  }

  /** A gang leaves rows and policy, and keeps its resources. False: it is in no row, and not returning. */
  protected pause(job: JobIndex, policy: Policy): boolean {
    if (this.slotsOf(job) > 0) {
      this.touch(job);
      this.#takeOut(job, true);
      if (!Number.isNaN(this.startS[job])) this.pauses.begin(job, this.nowS);
      this.onSuspend(job);
      policy.depart(job);
    } else if (this.isReturning(job)) {
      const at = this.#resumed.indexOf(job);
      if (at >= 0) this.#resumed.splice(at, 1);
      else policy.withdraw!(job);
    } else return false;
    this.#presence[job] = Presence.paused;
    this.observer?.suspended?.(this.nowS, job);
    return true;
  }

  /** A paused gang arrives again, also during a drain. */
  protected unpause(job: JobIndex): void {
    this.#presence[job] = Presence.returning;
    this.#resumed.push(job);
    this.observer?.resumed?.(this.nowS, job);
  }

  protected isPaused(job: JobIndex): boolean {
    return this.#presence[job] === Presence.paused;
  }

  isReturning(job: JobIndex): boolean {
    return this.#presence[job] === Presence.returning;
  }

  /** Whether the resources that the job needs are free, or are still its own. */
  protected hasResources(job: JobIndex): boolean {
    return this.isReturning(job) || this.#stock?.lacking(job) === undefined;
  }

  /** Whether all of the processors are present. */
  protected areThere(first: number, end: number): boolean {
    return this.#away === undefined || !this.#away.subarray(first, end).includes(1);
  }

  /** Advances the round by a number of slots. */
  protected pass(slots: number): void {
    if (this.placedCount === 0) return;
    this.#startJobs(slots);
    this.roundRobin.pass(slots, this.rowCount);
  }

  /** After a decision, computes the base of jobs whose rows have changed. */
  protected settle(): void {
    for (let i = 0; i < this.#touchedCount; i++) {
      const job = this.#touched[i];
      this.#isTouched[job] = 0;
      if (this.slotsOf(job) === 0) continue;
      this.#served[job] -= this.#service(job);
      this.onSettled(job);
    }
    this.#touchedCount = 0;
  }

  /** Sets the number of slots that a job has had, for a job that another machine has served before. */
  protected setServed(job: JobIndex, slots: number): void {
    this.#served[job] = slots;
  }

  /** The base of a settled job; see the head comment. */
  protected baseOf(job: JobIndex): number {
    return this.#served[job];
  }

  /** Computes the slots that a job has had, before its rows change. */
  protected touch(job: JobIndex): void {
    if (this.#isTouched[job] === 1) return;
    this.#isTouched[job] = 1;
    if (this.#touchedCount === this.#touched.length) this.#touched = doubled(this.#touched);
    this.#touched[this.#touchedCount++] = job;
    if (this.slotsOf(job) > 0) this.#served[job] += this.#service(job);
  }

  /** Slots until the row of a run has its turn, 0 … rowCount − 1. */
  protected slotsAhead(run: RunId): number {
    const rows = this.rowCount;
    return (this.positionOf(this.runRow(run)) - this.roundRobin.pointer + rows) % rows;
  }

  /** Order by first slot (jobs without one last), then by index. */
  protected startsBefore(a: JobIndex, b: JobIndex): boolean {
    const aS = this.startS[a];
    const bS = this.startS[b];
    if (aS === bS || (Number.isNaN(aS) && Number.isNaN(bS))) return a < b;
    return aS < bS || Number.isNaN(bS);
  }

  // What the policy calls.

  override servedSlots(job: JobIndex): number {
    const isSettled = this.#isTouched[job] === 0 && this.slotsOf(job) > 0;
    return this.#served[job] + (isSettled ? this.#service(job) : 0);
  }

  override promise(job: JobIndex, startS: number): void {
    this.observer?.promised?.(this.nowS, job, startS);
  }

  override addRow(): RowId {
    const row = super.addRow(this.roundRobin.enter(this.rowCount));
    this.observer?.rowAdded?.(this.nowS, row);
    return row;
  }

  override deleteRow(row: RowId): void {
    const position = this.positionOf(row);
    super.deleteRow(row);
    this.roundRobin.leave(position, this.rowCount);
    this.observer?.rowDeleted?.(this.nowS, row);
  }

  override place(job: JobIndex, row: RowId, first: number, size = this.size[job]): void {
    this.#beforePlacing(job);
    if (size !== this.size[job]) this.#mold(job, size);
    this.checkThere(job, first, first + size);
    super.place(job, row, first);
    this.#afterPlacing(job, row);
    this.observer?.placed?.(this.nowS, job, row, first);
  }

  override placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    this.#beforePlacing(job);
    for (let i = 0; i < count; i++) this.checkThere(job, stretches[2 * i], stretches[2 * i + 1]);
    super.placeStretches(job, row, stretches, count);
    this.#afterPlacing(job, row);
    if (this.observer?.placed === undefined) return;
    const copied = count === 1 ? undefined : Array.from({ length: 2 * count }, (_, i) => stretches[i]);
    this.observer.placed(this.nowS, job, row, stretches[0], copied);
  }

  override release(job: JobIndex, row: RowId): void {
    if (this.slotsOf(job) > 1) this.touch(job);
    super.release(job, row);
    this.observer?.released?.(this.nowS, job, row);
  }

  override exchange(a: RowId, b: RowId, first: number, end: number): void {
    // A row that does not exist is refused below; its runs would have no end.
    if (a !== b && this.exists(a) && this.exists(b)) {
      this.#touchRange(a, first, end);
      this.#touchRange(b, first, end);
    }
    super.exchange(a, b, first, end);
    this.observer?.exchanged?.(this.nowS, a, b, first, end);
  }

  #beforePlacing(job: JobIndex): void {
    const presence = this.#presence[job];
    if (presence === Presence.gone) this.#refuse("already-ended", job, "it has ended");
    if (presence === Presence.stopped) this.#refuse("stopped", job, "it is stopped");
    if (presence === Presence.paused) this.#refuse("stopped", job, "it is paused");
    if (presence !== Presence.here && presence !== Presence.returning)
      this.#refuse("start-before-arrival", job, "it has not arrived");
    if (this.#stock !== undefined && this.slotsOf(job) === 0 && !this.hasResources(job)) {
      this.#refuse("resource-twice", job, "its resources are not free");
    }
    this.touch(job);
  }

  /** Refuses processors that are away. */
  protected checkThere(job: JobIndex, first: number, end: number): void {
    if (this.areThere(first, end)) return;
    this.#refuse("processor-away", job, `some of the processors ${first} to ${end - 1} are unavailable`);
  }

  #mold(job: JobIndex, size: number): void {
    const isFixed = this.slotsOf(job) > 0 || !Number.isNaN(this.startS[job]);
    const expected = this.#sizes.refusal(job, size, isFixed);
    if (expected !== undefined)
      this.#refuse("wrong-size", job, `it cannot run on ${size} processors, expected ${expected}`);
    this.onMold(job, this.#sizes.give(job, size));
    this.observer?.molded?.(this.nowS, job, size);
  }

  #refuse(rule: string, job: JobIndex, why: string): never {
    throw new RuleViolation(rule, job, this.nowS, `Cannot place job ${this.jobName(job)}: ${why}`);
  }

  #afterPlacing(job: JobIndex, row: RowId): void {
    if (this.slotsOf(job) > 1) {
      this.unifications++;
      this.onSlotAdded(job, row);
      return;
    }
    this.placedCount++;
    if (!this.isReturning(job)) this.#stock?.take(job);
    this.#presence[job] = Presence.here;
    if (this.pauses.hasOpen) this.pauses.end(job, this.nowS);
    if (Number.isNaN(this.startS[job])) this.#unstarted.add(job);
    this.onPlaced(job, row);
  }

  #touchRange(row: RowId, first: number, end: number): void {
    for (
      let run = this.runFrom(row, first);
      run !== -1 && this.runFirst(run) < end;
      run = this.nextRun(run)
    ) {
      this.touch(this.runJob(run));
      if (this.leadOf(run) === run) this.moves++;
    }
  }

  /** The present value of r·k + b; see the head comment. */
  #service(job: JobIndex): number {
    let passed = 0;
    for (let run = this.firstRunOfJob(job); run !== -1; run = this.nextRunOfJob(run)) {
      if (this.positionOf(this.runRow(run)) < this.roundRobin.pointer) passed++;
    }
    return this.roundRobin.round * this.slotsOf(job) + passed;
  }

  /** Records the first slot of each job that has its first turn within the next `passed` slots. */
  #startJobs(passed: number): void {
    this.#unstarted.keep((job) => {
      let ahead = this.rowCount;
      for (let run = this.firstRunOfJob(job); run !== -1; run = this.nextRunOfJob(run)) {
        const slots = this.slotsAhead(run);
        if (slots < ahead) ahead = slots;
      }
      if (ahead >= passed) return true;
      this.startS[job] = this.slotStartS(ahead);
      this.startedCount++;
      if (this.observer?.started !== undefined) this.#startedNow.push(job);
      return false;
    });
    if (this.#startedNow.length === 0) return;
    this.#startedNow.sort((a, b) => this.startS[a] - this.startS[b]);
    for (const job of this.#startedNow) this.observer?.started?.(this.startS[job], job, StartRule.placed);
    this.#startedNow.length = 0;
  }
}

/** The gangs that have been placed and have not had a slot yet, in order of placement. */
class UnstartedGangs {
  #jobs = new Int32Array(16);
  #count = 0;

  add(job: JobIndex): void {
    if (this.#count === this.#jobs.length) this.#jobs = doubled(this.#jobs);
    this.#jobs[this.#count++] = job;
  }

  remove(job: JobIndex): void {
    this.keep((other) => other !== job);
  }

  /** Removes all others. */
  keep(isKept: (job: JobIndex) => boolean): void {
    const jobs = this.#jobs;
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      const job = jobs[i];
      if (isKept(job)) jobs[kept++] = job;
    }
    this.#count = kept;
  }
}
