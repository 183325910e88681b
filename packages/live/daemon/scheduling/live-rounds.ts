/**
 * Runs a gang scheduling policy in real time: the machine of machines/gang-matrix.ts with an external clock.
 * Slots form an absolute grid, epoch + k × slotMs. Events are handled at the beginning of the next slot:
 *
 *   slot        k    k+1  k+2  k+3
 *   row       | 0  | 1  | 0  | 1  | …
 *   events       ^ ^
 *
 * The policy decides about these two events at the beginning of slot k + 1. The conductor uses the same grid,
 * so both know which row has which slot. A change of the matrix does not disturb the round: the first row of
 * `layout` runs in slot `layoutSlot`.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import type {
  GangPolicyDefinition,
  ParameterValues,
  Policy,
  PolicyChoice,
  RowId,
} from "@tutti/kernel/core/policy.ts";
import { StartRule } from "@tutti/kernel/core/policy.ts";
import type { ResourceKind } from "@tutti/kernel/core/resources.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { GangMatrix } from "@tutti/kernel/machines/gang-matrix.ts";
import { withAdmission } from "@tutti/kernel/policies/gangs/with-admission.ts";
import { blockLevel } from "@tutti/kernel/structures/matrix/buddy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import {
  type Decision,
  type LiveDriver,
  type LiveJob,
  LiveTable,
  type MatrixRows,
  type OwnersShares,
  type Placement,
  type PlacementChange,
  type RunningJob,
  type Start,
  tableCapacity,
} from "./live-driver.ts";
import { LiveLimits } from "./live-limits.ts";

export interface LiveRoundsOptions {
  readonly definition: GangPolicyDefinition;
  readonly parameters: ParameterValues;
  readonly processors: number;
  readonly slotMs: number;
  /** Start of slot 0. */
  readonly epochMs: number;
  /** The instant that the policy sees as time 0. */
  readonly originMs: number;
  /** Left out: no limits. */
  readonly limits?: { readonly maxRows: number; readonly memoryBytes: number } | undefined;
  /** Countable resources; default: none. */
  readonly resources?: readonly ResourceKind[] | undefined;
  readonly shares?: OwnersShares | undefined;
  readonly observer?: Observer | undefined;
}

type Fill = "cells" | "blocks" | "none";

/** Jobs that fill gaps while running gangs are taken over have negative numbers. */
const isFiller = (job: JobNumber): boolean => job < 0;

/**
 * Live processes are stopped and continued on the same CPUs. The cost of moving them is unknown, so policies
 * must not.
 * @throws InputError for a policy whose gangs change processors
 */
export function refuseMigration({ definition, parameters, label }: PolicyChoice): void {
  if (definition.guarantees(parameters).migrationS === undefined) return;
  throw new InputError(
    `Cannot use policy "${label}" live: it moves running gangs to other processors, expected a policy whose gangs keep their processors; leave out migrate, or try the policy with tutti simulate`,
  );
}

export class LiveRounds extends GangMatrix implements LiveDriver {
  readonly #options: LiveRoundsOptions;
  readonly #table: LiveTable;
  readonly #policy: Policy;
  readonly limits: LiveLimits | undefined;
  #slot: number;
  readonly #promisedMs = new Map<JobNumber, number>();
  #starts: Start[] = [];
  #notes: PlacementChange[] = [];
  #arrivals: JobIndex[] = [];
  #departures: JobIndex[] = [];
  #withdrawals: JobIndex[] = [];
  /** Gangs that pause or continue, in order. */
  #pauses: { readonly row: JobIndex; readonly isPaused: boolean }[] = [];
  /** Time of the last queued event, which is handled at that boundary or at the next one. */
  #eventMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs an instant in the first slot */
  constructor(options: LiveRoundsOptions, jobs: number, nowMs: number) {
    const { resources = [] } = options;
    const table = new LiveTable(tableCapacity(jobs), options.originMs, resources.length, options.shares);
    super(options.processors, table.size, {
      slotS: options.slotMs / 1000,
      switchS: 0,
      observer: options.observer,
    });
    this.#options = options;
    this.#table = table;
    this.#slot = Math.floor((nowMs - options.epochMs) / options.slotMs);
    this.nowS = this.#startOf(this.#slot);
    const { maxRows = Number.POSITIVE_INFINITY, memoryBytes = Number.POSITIVE_INFINITY } =
      options.limits ?? {};
    if (Number.isFinite(maxRows) || Number.isFinite(memoryBytes) || resources.length > 0) {
      const amounts = [memoryBytes, ...resources.map(({ amount }) => amount)];
      this.limits = new LiveLimits(maxRows, amounts, [table.memoryBytes, ...table.demand]);
    }
    const { definition } = options;
    const admitted = definition.isAdmitted
      ? definition
      : withAdmission(definition, { parameters: false, asks: false });
    this.canWithdraw = admitted.capabilities?.withdraw === true;
    this.#policy = admitted.make(this, table.jobs, options.parameters);
  }

  get isFull(): boolean {
    return this.#table.spare === 0;
  }

  arrive(job: LiveJob, nowMs: number): void {
    this.#eventMs = Math.max(this.#eventMs, nowMs);
    this.#arrivals.push(this.#table.add(job));
  }

  depart(job: JobNumber, nowMs: number): void {
    this.#eventMs = Math.max(this.#eventMs, nowMs);
    this.#departures.push(this.#table.rowOf(job));
  }

  readonly canWithdraw: boolean;

  withdraw(job: JobNumber, nowMs: number): void {
    const row = this.#table.rowOf(job);
    const queued = this.#arrivals.indexOf(row);
    this.#eventMs = Math.max(this.#eventMs, nowMs);
    this.#promisedMs.delete(job);
    this.limits?.release(row);
    if (queued >= 0) this.#arrivals.splice(queued, 1);
    else this.#withdrawals.push(row);
  }

  /**
   * Pauses or resumes a gang, at the next boundary of slots. Returns false if that needs a new driver,
   * because the gang is not in a row, or this driver did not pause it.
   */
  setPaused(job: JobNumber, isPaused: boolean, nowMs: number): boolean {
    const row = this.#table.rowOf(job);
    if (row < 0) return false;
    const isPossible = isPaused ? this.slotsOf(row) > 0 || this.isReturning(row) : this.hasPaused(job);
    if (!isPossible) return false;
    this.#eventMs = Math.max(this.#eventMs, nowMs);
    this.#pauses.push({ row, isPaused });
    return true;
  }

  /** Whether the gang is paused, and the policy does not see it. */
  hasPaused(job: JobNumber): boolean {
    const row = this.#table.rowOf(job);
    return this.#pauses.findLast((one) => one.row === row)?.isPaused ?? (row >= 0 && this.isPaused(row));
  }

  dueMs(): number {
    const { length: arrivals } = this.#arrivals;
    const events = arrivals + this.#departures.length + this.#withdrawals.length + this.#pauses.length;
    if (events === 0) return Number.POSITIVE_INFINITY;
    const { epochMs, slotMs } = this.#options;
    const slot = Math.max(this.#slot, Math.ceil((this.#eventMs - epochMs) / slotMs));
    return epochMs + slot * slotMs;
  }

  decide(nowMs: number): Decision {
    const { epochMs, slotMs } = this.#options;
    this.#advanceTo(Math.max(this.#slot, Math.floor((nowMs - epochMs) / slotMs)));
    this.#starts = [];
    this.#notes = [];
    this.#departures.sort((a, b) => (this.startsBefore(a, b) ? -1 : 1));
    // The policy does not have a paused gang, or has it in its queue.
    const outside = this.#departures.filter(
      (row) => this.isPaused(row) || (this.isReturning(row) && this.pause(row, this.#policy)),
    );
    for (const row of this.#departures) {
      this.leave(row);
      this.limits?.release(row);
    }
    for (const row of this.#departures) {
      this.observer?.departed?.(this.nowS, row);
      if (!outside.includes(row)) this.#policy.depart(row);
    }
    this.#departures = [];
    for (const row of this.#withdrawals) {
      this.forget(row);
      // A policy without an admission queue has no waiting jobs, so it need not know.
      this.#policy.withdraw?.(row);
    }
    this.#withdrawals = [];
    for (const { row, isPaused } of this.#pauses) {
      if (isPaused) this.pause(row, this.#policy);
      else if (this.isPaused(row)) this.#resume(row);
    }
    this.#pauses = [];
    for (const row of this.#arrivals) this.enter(row);
    this.#arrivals = [];
    this.#policy.decide(this.takeArrivals());
    this.settle();
    this.observer?.decided?.(this.nowS);
    return { starts: this.#starts, notes: this.#notes };
  }

  #resume(row: JobIndex): void {
    const { jobs, estimateS } = this.#table;
    jobs.estimateS[row] = Math.max(0, estimateS[row] - this.servedSlots(row) * this.slotS);
    this.unpause(row);
  }

  /** Takes over running jobs in their places, by restore(). The row whose turn it is comes first. */
  restore(running: readonly RunningJob[], rows: MatrixRows): void {
    const { definition, parameters } = this.#options;
    const { maxRows = Number.POSITIVE_INFINITY } = definition.guarantees(parameters);
    const rowLimit = Math.min(maxRows, this.limits?.maxRows ?? maxRows);
    const remaining = new Map(running.map((job) => [job.job, job]));
    for (const placements of rows) {
      const here = placements.filter(({ job, processors }) => remaining.get(job)?.size === processors.length);
      if (here.length === 0 || this.rowCount >= rowLimit) continue;
      const row = this.addRow();
      for (const { job, processors } of here) {
        this.#restoreAt(remaining.get(job)!, row, processors);
        remaining.delete(job);
      }
    }
    for (const job of remaining.values())
      this.#adopt(job, this.#options.epochMs + this.#slot * this.#options.slotMs);
  }

  #restoreAt(job: RunningJob, row: RowId, processors: readonly number[]): void {
    const at = this.#table.add(job);
    this.enterKnown(at);
    this.#noteService(at, job);
    const stretches: number[] = [];
    for (const processor of processors) {
      if (processor === stretches.at(-1)) stretches[stretches.length - 1] = processor + 1;
      else stretches.push(processor, processor + 1);
    }
    this.placeStretches(at, row, stretches, stretches.length / 2);
    this.#policy.restore?.(at, this.startS[at]);
  }

  /**
   * Takes over running jobs and their rows, the row whose turn it is first. Gaps are filled with jobs of one
   * processor each, which depart immediately afterwards. So most policies give every gang the processors that
   * it has already. Some policies assign whole buddy blocks; with them, an idle cell inside a gang's block is
   * not a gap.
   * @param fill which gaps are filled: all cells, only cells outside of blocks, or none
   * @returns the jobs that now have other processors, or no processors
   */
  takeOver(running: readonly RunningJob[], rows: MatrixRows, fill: Fill): readonly JobNumber[] {
    const byNumber = new Map(running.map((job) => [job.job, job]));
    const wanted = new Map<JobNumber, readonly number[]>();
    const nowMs = this.#options.epochMs + this.#slot * this.#options.slotMs;
    let fillers = 0;
    for (const placements of rows) {
      const fresh = placements.filter(({ job }) => byNumber.has(job) && !wanted.has(job));
      fresh.sort((a, b) => a.processors[0] - b.processors[0]);
      if (fresh.length === 0) continue;
      let next = 0;
      const fillTo = (end: number): void => {
        for (; fill !== "none" && next < end; next++) {
          this.arrive(
            {
              job: -++fillers,
              size: 1,
              submitMs: this.#options.originMs,
              estimateMs: 1,
              memoryBytes: 0,
              queueClass: UNKNOWN,
            },
            nowMs,
          );
        }
      };
      for (const { job, processors } of fresh) {
        wanted.set(job, processors);
        fillTo(processors[0]);
        this.#adopt(byNumber.get(job)!, nowMs);
        const block = fill === "blocks" ? 1 << blockLevel(processors.length) : 0;
        next = Math.max(processors[processors.length - 1] + 1, processors[0] + block);
      }
      fillTo(this.processors);
    }
    for (const job of running) if (!wanted.has(job.job)) this.#adopt(job, nowMs);
    this.decide(nowMs);
    const moved = running.filter(({ job }) => !this.#isAt(job, wanted.get(job))).map(({ job }) => job);
    if (fillers > 0) {
      for (let i = 1; i <= fillers; i++) this.depart(-i, nowMs);
      this.decide(nowMs);
    }
    return moved;
  }

  layout(): MatrixRows {
    const rows: Placement[][] = [];
    for (let i = 0; i < this.rowCount; i++) {
      const placements: Placement[] = [];
      for (
        let run = this.firstRun(this.rowAt((this.roundRobin.pointer + i) % this.rowCount));
        run !== -1;
        run = this.nextRun(run)
      ) {
        if (this.leadOf(run) !== run) continue;
        placements.push({ job: this.#table.numbers[this.runJob(run)], processors: this.#processorsOf(run) });
      }
      rows.push(placements);
    }
    return rows;
  }

  layoutSlot(): number {
    return this.#slot;
  }

  /** Advances the round to the slot of `nowMs`, without a decision. */
  catchUp(nowMs: number): void {
    this.#advanceTo(Math.max(this.#slot, Math.floor((nowMs - this.#options.epochMs) / this.#options.slotMs)));
  }

  ranMs(job: JobNumber, nowMs: number): number {
    const row = this.#table.rowOf(job);
    return row < 0 ? 0 : (this.servedSlots(row) + this.#turnsSince(row, nowMs)) * this.#options.slotMs;
  }

  promisedMs(job: JobNumber): number {
    return this.#promisedMs.get(job) ?? Number.NaN;
  }

  hasOverrun(): boolean {
    return false;
  }

  // Called by the policy.

  override promise(row: JobIndex, startS: number): void {
    this.#promisedMs.set(this.#table.numbers[row], this.#options.originMs + startS * 1000);
    super.promise(row, startS);
  }

  override release(job: JobIndex, row: RowId): void {
    super.release(job, row);
    this.#notes.push({ kind: "removed", job: this.#table.numbers[job], row });
  }

  protected override onSlotAdded(job: JobIndex, row: RowId): void {
    this.#notes.push({ kind: "placed", job: this.#table.numbers[job], row });
  }

  protected override onPlaced(job: JobIndex): void {
    const number = this.#table.numbers[job];
    this.limits?.hold(job);
    this.#promisedMs.delete(number);
    if (isFiller(number)) return;
    const processors = this.#processorsOf(this.firstRunOfJob(job));
    this.#starts.push({ job: number, rule: StartRule.placed, processors });
  }

  protected slotStartS(ahead: number): number {
    return this.#startOf(this.#slot + ahead);
  }

  protected override jobName(job: JobIndex): string {
    return String(this.#table.numbers[job] ?? `in row ${job} of the table`);
  }

  #adopt(job: RunningJob, nowMs: number): void {
    this.arrive(job, nowMs);
    this.#noteService(this.#table.rowOf(job.job), job);
  }

  #noteService(row: JobIndex, job: RunningJob): void {
    this.limits?.hold(row);
    this.setServed(row, Math.round(job.ranMs / this.#options.slotMs));
    this.startS[row] = (job.submitMs - this.#options.originMs) / 1000;
  }

  #isAt(job: JobNumber, processors: readonly number[] | undefined): boolean {
    const run = this.firstRunOfJob(this.#table.rowOf(job));
    if (run === -1 || processors === undefined) return run === -1 && processors === undefined;
    const actual = this.#processorsOf(run);
    return actual.length === processors.length && actual.every((processor, i) => processor === processors[i]);
  }

  #processorsOf(lead: number): number[] {
    const processors: number[] = [];
    for (let run = lead; run !== -1; run = this.nextStretch(run)) {
      for (let i = 0; i < this.runSize(run); i++) processors.push(this.runFirst(run) + i);
    }
    return processors;
  }

  #startOf(slot: number): number {
    const { epochMs, slotMs, originMs } = this.#options;
    return (epochMs + slot * slotMs - originMs) / 1000;
  }

  #advanceTo(slot: number): void {
    this.pass(slot - this.#slot);
    this.#slot = slot;
    this.nowS = this.#startOf(slot);
  }

  /** Slots that the job has had since the round was last advanced. */
  #turnsSince(row: JobIndex, nowMs: number): number {
    const passed = Math.floor((nowMs - this.#options.epochMs) / this.#options.slotMs) - this.#slot;
    let roundRobin = 0;
    for (let run = this.firstRunOfJob(row); run !== -1; run = this.nextRunOfJob(run)) {
      roundRobin += Math.max(0, Math.ceil((passed - this.slotsAhead(run)) / this.rowCount));
    }
    return roundRobin;
  }
}
