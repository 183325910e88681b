/**
 * Simulates gang scheduling in virtual time: the rows of an Ousterhout matrix take turns, one slot each per
 * round (Zhou, Walsh and Brent 2000, section 1).
 *
 *   slot        0    1    2    3    4    5
 *   row       | 0  | 1  | 2  | 0  | 1  | 2  |…
 *   events    ^    ^    ^    ^    ^    ^
 *
 * A slot gives the jobs of its row slotS seconds of service. It takes slotS + switchS seconds, or only slotS
 * if there is one row, since nothing is switched then. The switch comes before the service, so a job ends
 * with its last slot. The work of a job is a whole number of slots, at least one: the smallest w with w ×
 * slotS ≥ run time.
 *
 * Ends, arrivals and decisions happen only between slots: first all jobs that have just ended (by start, then
 * by index), then all arrivals up to this instant, then one decision. The clock starts at time 0. While no
 * row holds a job, time advances in slots of slotS seconds and the rounds stand still. A new row gets its
 * place at the end of the present round or of the next one (structures/matrix/round-robin.ts). When the round
 * has served its last row, the next round begins at once, before the decision.
 *
 * Slots are not simulated one by one. The instant at which a job ends is computed from its base
 * (machines/gang-matrix.ts). Let target = slots needed − base; it changes only when the job's k rows or the
 * slots needed change. The job ends in round ⌊(target − 1)/k⌋, in its row number (target − 1) mod k in order
 * of the round. A migration adds to the slots needed.
 */
import { assert } from "../core/errors.ts";
import type { JobChange } from "../core/interruptions.ts";
import { type Instance, type JobIndex, NO_JOB } from "../core/jobs.ts";
import {
  type GangLimits,
  type GangMachine,
  type GangPolicyDefinition,
  type ParameterValues,
  type Policy,
  type RowId,
  StartRule,
} from "../core/policy.ts";
import type { GangRecord, Observer, Schedule } from "../core/schedule.ts";
import { selectInPlace } from "../core/selection.ts";
import { GangMatrix } from "../machines/gang-matrix.ts";
import { FreezeQueue, InterruptionQueue } from "../machines/interruptions.ts";
import { limitsOf } from "../machines/job-limits.ts";
import { WithdrawalQueue } from "../machines/withdrawals.ts";
import { FinishQueue } from "../structures/finish-queue.ts";
import { doubled } from "../structures/grow.ts";
import { RowRanks } from "../structures/matrix/row-ranks.ts";
import { changeJob, withOwnColumns } from "./changing-jobs.ts";
import { GangWork } from "./gang-work.ts";
import { RowsRecord } from "./rows-record.ts";
import { gangsInOrder, makeInOrder } from "./service-order.ts";
import { SimulatedShares } from "./simulated-shares.ts";
import { SlotClock } from "./slot-clock.ts";
import { VisibleJobs } from "./visible-jobs.ts";

interface RoundsOptions {
  /** Useful length of a slot in seconds, above 0. */
  readonly slotS: number;
  /** Time of one switch between rows in seconds, 0 or more. */
  readonly switchS: number;
  readonly observer?: Observer | undefined;
  /** Called every 65,536 instants with the number of jobs that have arrived. */
  readonly progress?: ((arrived: number) => void) | undefined;
}

const PROGRESS_MASK = 0xffff;
/** Up to this many rows of a job are sorted to find one of them; of more, the one is selected. */
const MAX_SORTED = 16;

/**
 * Runs an instance through a gang policy.
 *
 * @throws RuleViolation if the policy asks for something that is not allowed
 */
export function simulateRounds(
  instance: Instance,
  definition: GangPolicyDefinition,
  parameters: ParameterValues,
  options: RoundsOptions,
): Schedule {
  const rounds = new Rounds(instance, options, () => definition.guarantees(parameters).migrationS);
  const policy = makeInOrder<GangMachine>(
    rounds,
    rounds.shown.table,
    rounds.priority,
    gangsInOrder,
    (machine, jobs) => definition.make(machine, jobs, parameters),
  );
  const { stops = [], freezes = [], outages = [] } = instance.interruptions ?? {};
  const interruptions = new InterruptionQueue({ outages, stops });
  const freezeQueue = new FreezeQueue(freezes);
  const { drains, withdrawals: ofJobs } = instance.interruptions ?? {};
  const withdrawals = new WithdrawalQueue(drains, ofJobs);
  const { withholder } = rounds;
  const { hasLimits } = withholder;
  let next: JobIndex = 0;
  // A job must leave the policy's queue before it is changed: queues look for it by what it had.
  const take = (atS: number): void => {
    for (; next < instance.count && instance.submitS[next] <= atS; next++) rounds.arrive(next);
    if (withdrawals.nextS <= atS) withdrawals.happen(atS, withholder, policy);
    if (hasLimits) withholder.settle(policy);
  };
  for (;;) {
    const arrivalS = next < instance.count ? instance.submitS[next] : Infinity;
    const toldS = Math.min(arrivalS, interruptions.nextS, withdrawals.nextS, freezeQueue.nextS);
    const slot = Math.min(rounds.nextEndSlot(), toldS < Infinity ? rounds.slotAtOrAfter(toldS) : Infinity);
    if (slot === Infinity) break;
    rounds.advanceTo(slot);
    // Limits let jobs through at once, also within a slot.
    while (hasLimits) {
      const atS = Math.min(next < instance.count ? instance.submitS[next] : Infinity, withdrawals.nextS);
      if (atS >= rounds.nowS) break;
      take(atS);
    }
    const hasEnded = rounds.endJobs(policy);
    const isInterrupted = Math.min(interruptions.nextS, freezeQueue.nextS) <= rounds.nowS;
    if (interruptions.nextS <= rounds.nowS) interruptions.happen(rounds.nowS, rounds, policy);
    take(rounds.nowS);
    if (freezeQueue.nextS <= rounds.nowS) freezeQueue.happen(rounds.nowS, rounds, policy);
    // Of jobs that limits keep, the policy learns nothing.
    if (hasLimits && !withholder.takeNews() && !hasEnded && !isInterrupted) continue;
    if ((rounds.decide(policy) & PROGRESS_MASK) === 0) options.progress?.(next);
  }
  return rounds.schedule();
}

class Rounds extends GangMatrix {
  override readonly movesGangs = true;
  readonly shown: VisibleJobs;
  readonly #shares: SimulatedShares;
  /** Jobs 0 … arrived − 1 have arrived. */
  arrived = 0;
  readonly limits: GangLimits | undefined;
  readonly #instance: Instance;
  readonly #endS: Float64Array;
  readonly #clock: SlotClock;
  readonly #needed: GangWork;
  /** The instance with the sizes that the jobs got, and their times at these sizes. */
  readonly #given: Instance;
  /** Jobs by the round and the row of their last slot. */
  readonly #finish: FinishQueue;
  /** Row in which a job in the queue has its last slot. */
  readonly #finishRow: Int32Array;
  readonly #ranks = new RowRanks();
  #ending = new Int32Array(16);
  readonly #rowsOfJob = new Int32Array(MAX_SORTED);
  #ranksOfJob = new Float64Array(2 * MAX_SORTED);

  // For the record of the schedule.
  #instants = 0;
  #activeProcessorSlots = 0;
  #firstSlot = 0;
  #lastEndSlot = 0;
  readonly #rows = new RowsRecord();

  /** @param migrationS the cost of a migration that the policy declares */
  constructor(instance: Instance, options: RoundsOptions, migrationS: () => number | undefined) {
    const { interruptions, resources } = instance;
    const given = withOwnColumns(instance);
    super(instance.processors, given.size, {
      ...options,
      resources,
      demand: given.demand,
      molding: given.molding,
      priority: given.priority,
      limits: limitsOf(given),
    });
    assert(options.slotS > 0 && options.switchS >= 0, "slotS is above 0, and switchS is 0 or more");
    this.#clock = new SlotClock(options.slotS);
    this.#given = given;
    this.#needed = new GangWork(this.#given, options.slotS, migrationS);
    this.#instance = instance;
    if (interruptions?.outages.length || resources?.length) {
      const fits = (job: JobIndex) => this.hasResources(job);
      const areThere = (first: number, end: number) => this.areThere(first, end);
      this.limits = { maxRows: Infinity, fits, ...(interruptions?.outages.length && { areThere }) };
    }
    this.shown = new VisibleJobs(given);
    this.#shares = new SimulatedShares(given, this);
    this.shown.table.shares = this.#shares;
    this.#endS = new Float64Array(instance.count).fill(Number.NaN);
    this.#finishRow = new Int32Array(instance.count);
    this.#finish = new FinishQueue(instance.count);
    if (instance.count > 0) this.#rows.note(instance.submitS[0], 0);
  }

  /** Present priority of each job; undefined: that of all jobs is the same. */
  get priority(): Int32Array | undefined {
    return this.#given.priority;
  }

  // What the policy calls.

  override addRow(): RowId {
    const row = super.addRow();
    if (!this.#ranks.enter(this, row)) this.#touchAll();
    return row;
  }

  override migrate(job: JobIndex, row: RowId, first: number): void {
    const costS = this.#needed.migrationCostS(job, this.nowS);
    this.checkThere(job, first, first + this.#given.size[job]);
    if (this.slotsOf(job) === 1) this.touch(job);
    this.move(job, row, first);
    this.#needed.addMigration(job, costS);
    this.observer?.migrated?.(this.nowS, job, row, first, costS);
  }

  /** The job's number in the source, as in tables. */
  protected override jobName(job: JobIndex): string {
    return String(this.#instance.id[job] ?? `in row ${job} of the table`);
  }

  // What the loop calls.

  /** Number of the slot at whose beginning an arrival is noticed. */
  slotAtOrAfter(timeS: number): number {
    return this.#clock.slotAtOrAfter(timeS);
  }

  /** Number of the slot at whose beginning the next job has ended; Infinity if no row holds a job. */
  nextEndSlot(): number {
    const job = this.#finish.first();
    return job === NO_JOB ? Infinity : this.#endSlot(job);
  }

  /** Advances the machine to the beginning of `slot`. */
  advanceTo(slot: number): void {
    this.pass(slot - this.#clock.slot);
    this.#clock.slot = slot;
    this.nowS = this.#clock.startS(slot);
  }

  /** Ends the jobs that have had their last slot. Returns whether there are any. */
  endJobs(policy: Policy): boolean {
    let count = 0;
    for (
      let job = this.#finish.first();
      job !== NO_JOB && this.#endSlot(job) === this.#clock.slot;
      job = this.#finish.first()
    ) {
      this.#finish.remove(job);
      if (count === this.#ending.length) this.#ending = doubled(this.#ending);
      let at = count++;
      for (; at > 0 && this.startsBefore(job, this.#ending[at - 1]); at--)
        this.#ending[at] = this.#ending[at - 1];
      this.#ending[at] = job;
    }
    for (let i = 0; i < count; i++) {
      const job = this.#ending[i];
      this.#endS[job] = this.nowS;
      this.#shares.end(job);
      this.#lastEndSlot = this.#clock.slot;
      this.#activeProcessorSlots += this.#needed.slotsOf(job) * this.#given.size[job];
      this.leave(job);
      this.withholder.leave(job);
    }
    for (let i = 0; i < count; i++) {
      this.observer?.departed?.(this.nowS, this.#ending[i]);
      policy.depart(this.#ending[i]);
    }
    return count > 0;
  }

  arrive(job: JobIndex): void {
    if (job === 0) this.#firstSlot = this.#clock.slot;
    this.arrived++;
    this.shown.add();
    this.enter(job);
  }

  /** Returns the number of instants so far. */
  decide(policy: Policy): number {
    policy.decide(this.takeArrivals());
    this.settle();
    this.#rows.note(this.nowS, this.rowCount);
    const switches = this.rowCount > 1 && this.#finish.count > 0;
    this.#clock.setLength(switches ? this.slotS + this.switchS : this.slotS);
    this.observer?.decided?.(this.nowS);
    return ++this.#instants;
  }

  schedule(): Schedule {
    const startsByRule = new Array<number>(StartRule.other + 1).fill(0);
    startsByRule[StartRule.placed] = this.startedCount;
    const gang: GangRecord = {
      slotS: this.slotS,
      switchS: this.switchS,
      rowsAtS: this.#rows.times(),
      rows: this.#rows.rows(),
      maxRows: this.#rows.maxRows,
      activeProcessorSlots: this.#activeProcessorSlots,
      slots: Math.max(0, this.#lastEndSlot - this.#firstSlot),
      unifications: this.unifications,
      moves: this.moves,
      migrations: this.#needed.migrations,
      migrationS: this.#needed.lostS,
    };
    const { size, runS } = this.#given;
    const given = this.#given === this.#instance ? undefined : { size, runS };
    const { startS, pauses } = this;
    return {
      startS,
      endS: this.#endS,
      instants: this.#instants,
      startsByRule,
      given,
      pauses: pauses.list,
      gang,
    };
  }

  /** Slot at whose beginning a job in the queue has ended. */
  #endSlot(job: JobIndex): number {
    const position = this.positionOf(this.#finishRow[job]);
    return (
      this.#clock.slot +
      (this.#finish.roundOf(job) - this.roundRobin.round) * this.rowCount +
      position -
      this.roundRobin.pointer +
      1
    );
  }

  protected slotStartS(ahead: number): number {
    return this.#clock.startS(this.#clock.slot + ahead);
  }

  // What is counted for fair-share.

  hasBegun(job: JobIndex): boolean {
    return this.slotsOf(job) > 0 || !Number.isNaN(this.startS[job]);
  }

  startedAtS(job: JobIndex): number {
    return this.startS[job];
  }

  endedAtS(job: JobIndex): number {
    return this.#endS[job];
  }

  ranS(job: JobIndex): number {
    return this.servedSlots(job) * this.slotS;
  }

  protected override onPlaced(job: JobIndex): void {
    this.#shares.begin(job);
  }

  /** Updates the finish of a job whose rows have changed. */
  protected override onSettled(job: JobIndex): void {
    const slots = this.slotsOf(job);
    const target = this.#needed.slotsOf(job) - this.baseOf(job);
    const round = Math.floor((target - 1) / slots);
    const row = this.#rowOfJob(job, target - 1 - round * slots);
    this.#finishRow[job] = row;
    this.#finish.set(job, round, this.#ranks.of(row));
  }

  protected override onSuspend(job: JobIndex): void {
    this.#finish.remove(job);
  }

  override resume(job: JobIndex): void {
    this.#showAgain(job);
    super.resume(job);
  }

  /** A paused gang is in no row, so other gangs may use its processors in any case. */
  freeze(job: JobIndex, policy: Policy): boolean {
    return this.pause(job, policy);
  }

  thaw(job: JobIndex): void {
    this.#showAgain(job);
    this.unpause(job);
  }

  #showAgain(job: JobIndex): void {
    const leftS = this.#given.estimateS[job] - this.servedSlots(job) * this.slotS;
    this.shown.addAgain(job, Math.max(0, leftS));
  }

  protected override onMold(job: JobIndex, factor: number): void {
    this.#given.runS[job] *= factor;
    this.#given.estimateS[job] *= factor;
    this.shown.mold(job, this.#given.size[job], factor);
  }

  protected override onChange(job: JobIndex, change: JobChange): void {
    changeJob(this.#given, job, change);
    this.shown.refresh(job);
  }

  #touchAll(): void {
    for (let at = 0; at < this.rowCount; at++) {
      for (let run = this.firstRun(this.rowAt(at)); run !== -1; run = this.nextRun(run))
        this.touch(this.runJob(run));
    }
  }

  /** The job's row number `index` in order of the round. */
  #rowOfJob(job: JobIndex, index: number): RowId {
    let run = this.firstRunOfJob(job);
    const slots = this.slotsOf(job);
    if (slots === 1) return this.runRow(run);
    if (slots > MAX_SORTED) return this.#selectRow(job, slots, index);
    const rows = this.#rowsOfJob;
    const ranks = this.#ranks;
    for (let count = 0; run !== -1; run = this.nextRunOfJob(run), count++) {
      const row = this.runRow(run);
      let at = count;
      for (; at > 0 && ranks.of(rows[at - 1]) > ranks.of(row); at--) rows[at] = rows[at - 1];
      rows[at] = row;
    }
    return rows[index];
  }

  /** Like `#rowOfJob`, for a job in many rows: their order is not needed, only one of them. */
  #selectRow(job: JobIndex, slots: number, index: number): RowId {
    while (this.#ranksOfJob.length < slots) this.#ranksOfJob = doubled(this.#ranksOfJob);
    const wanted = this.#ranksOfJob;
    const ranks = this.#ranks;
    let count = 0;
    for (let run = this.firstRunOfJob(job); run !== -1; run = this.nextRunOfJob(run))
      wanted[count++] = ranks.of(this.runRow(run));
    selectInPlace(wanted, 0, count - 1, index);
    let run = this.firstRunOfJob(job);
    while (ranks.of(this.runRow(run)) !== wanted[index]) run = this.nextRunOfJob(run);
    return this.runRow(run);
  }
}
