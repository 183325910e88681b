/**
 * Runs a space-sharing policy in real time: the machine of machines/pool-machine.ts with an external clock.
 *
 * Jobs can end later than their estimates say: a process that is killed at its limit takes a while to end.
 * After the expected end, the policy would count on processors that are not free. So the owner makes a new
 * driver with longer estimates as soon as `hasOverrun`.
 */
import type { Outage } from "@tutti/kernel/core/interruptions.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues, Policy, SpacePolicyDefinition, StartRule } from "@tutti/kernel/core/policy.ts";
import type { ResourceKind } from "@tutti/kernel/core/resources.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { chooseProcessors } from "@tutti/kernel/machines/free-processors.ts";
import { PoolMachine } from "@tutti/kernel/machines/pool-machine.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import {
  type Decision,
  type LiveDriver,
  type LiveJob,
  LiveTable,
  type MatrixRows,
  type OwnersShares,
  type RunningJob,
  type Start,
  tableCapacity,
} from "./live-driver.ts";

interface LivePoolOptions {
  readonly definition: SpacePolicyDefinition;
  readonly parameters: ParameterValues;
  readonly processors: number;
  /** The instant that the policy sees as time 0; not after any job's start. */
  readonly originMs: number;
  /** Countable resources; default: none. */
  readonly resources?: readonly ResourceKind[] | undefined;
  readonly shares?: OwnersShares | undefined;
  readonly observer?: Observer | undefined;
}

interface Running {
  readonly row: number;
  readonly processors: readonly number[];
  readonly startMs: number;
  /** Number of the start; departures are reported to the policy in this order. */
  readonly order: number;
}

/**
 * Delay of a wake-up that the policy requested for the past, so that the policy cannot keep the machine busy.
 */
const LATE_WAKE_MS = 10;
/** Units of time in a second; a power of two, so that sums of whole units are exact. */
const TIME_UNITS = 2 ** 20;
/**
 * Instants this close are the same. A policy adds the estimates of a chain of jobs; the end of a job that was
 * started by the clock differs from such a sum by rounding.
 */
const SAME_INSTANT_S = 1e-6;

export class LivePool extends PoolMachine implements LiveDriver {
  readonly #options: LivePoolOptions;
  readonly #table: LiveTable;
  readonly #policy: Policy;
  readonly #isFree: Uint8Array;
  readonly #running = new Map<JobNumber, Running>();
  readonly #promisedMs = new Map<JobNumber, number>();
  #wakeMs = Number.POSITIVE_INFINITY;
  #starts: Start[] = [];
  #order = 0;
  #nowMs: number;
  #arrivals: number[] = [];
  #departures: Running[] = [];
  #withdrawals: number[] = [];
  /** The processors that the job had before it is taken over. */
  #kept: readonly number[] | undefined;
  /** Earlier running time of stopped jobs. */
  readonly #carriedMs = new Map<JobNumber, number>();
  /** Running time of paused jobs, until the next driver is made. */
  readonly #pausedAfterMs = new Map<JobNumber, number>();

  constructor(options: LivePoolOptions, jobs: number) {
    const { resources = [] } = options;
    const table = new LiveTable(tableCapacity(jobs), options.originMs, resources.length, options.shares);
    super(options.processors, table.size, options.observer, { resources, demand: table.demand });
    this.#options = options;
    this.#isFree = new Uint8Array(options.processors).fill(1);
    this.#nowMs = options.originMs;
    this.#table = table;
    this.#policy = options.definition.make(this, table.jobs, options.parameters);
  }

  get isFull(): boolean {
    return this.#table.spare === 0;
  }

  get rowCount(): number {
    return this.#running.size > 0 ? 1 : 0;
  }

  arrive(job: LiveJob, _nowMs: number): void {
    this.#arrivals.push(this.#table.add(job));
  }

  depart(job: JobNumber, _nowMs: number): void {
    const running = this.#running.get(job);
    if (running === undefined) throw new Error(`Job ${job} departs without having started`);
    this.#departures.push(running);
    this.#running.delete(job);
  }

  beganAt(job: JobNumber, startMs: number): void {
    const running = this.#running.get(job);
    if (running !== undefined) this.#running.set(job, { ...running, startMs });
  }

  get canWithdraw(): boolean {
    return this.#options.definition.capabilities?.withdraw === true;
  }

  withdraw(job: JobNumber): void {
    const row = this.#table.rowOf(job);
    const queued = this.#arrivals.indexOf(row);
    this.#promisedMs.delete(job);
    if (queued >= 0) this.#arrivals.splice(queued, 1);
    else this.#withdrawals.push(row);
  }

  /**
   * Takes over a job with a process. If the policy cannot restore jobs, the job arrives, and the policy
   * decides at the instant at which the job would have started if it had never been stopped. A job without
   * room is stopped until the policy starts it again.
   */
  takeOver(job: RunningJob, nowMs: number): void {
    const startMs = nowMs - job.ranMs;
    const known = { ...job, submitMs: Math.min(job.submitMs, startMs) };
    if (job.isPaused) this.#pausedAfterMs.set(job.job, job.ranMs);
    this.#kept = job.processors;
    if (!this.#options.definition.capabilities?.restore) {
      this.#carriedMs.set(job.job, job.ranMs);
      this.arrive(known, nowMs);
      if (this.decide(startMs).starts.length > 0) this.#carriedMs.delete(job.job);
    } else if (job.size <= this.free) this.#restore(known, startMs);
    else {
      this.#carriedMs.set(job.job, job.ranMs);
      this.arrive(known, nowMs);
    }
    this.#kept = undefined;
  }

  #restore(job: LiveJob, startMs: number): void {
    const row = this.#table.add(job);
    const startS = this.#secondsAt(startMs);
    this.resumeFrom(row, startS);
    this.#placement(row, startMs);
    this.#policy.restore?.(row, startS);
  }

  dueMs(): number {
    const hasNews = this.#arrivals.length > 0 || this.#departures.length > 0 || this.#withdrawals.length > 0;
    return hasNews ? Number.NEGATIVE_INFINITY : this.#wakeMs;
  }

  decide(nowMs: number): Decision {
    this.#nowMs = nowMs;
    this.nowS = this.#secondsAt(nowMs);
    if (this.#wakeMs <= nowMs) this.#wakeMs = Number.POSITIVE_INFINITY;
    this.#starts = [];
    this.#departures.sort((a, b) => a.order - b.order);
    for (const { row, processors } of this.#departures) {
      for (const processor of processors) this.#isFree[processor] = 1;
      this.leave(row);
      this.#policy.depart(row);
    }
    this.#departures = [];
    for (const row of this.#withdrawals) {
      this.forget(row);
      this.#policy.withdraw?.(row);
    }
    this.#withdrawals = [];
    for (const row of this.#arrivals) this.enter(row);
    this.#arrivals = [];
    this.#policy.decide(this.takeArrivals());
    this.observer?.decided?.(this.nowS);
    return { starts: this.#starts, notes: [] };
  }

  protected onStart(row: JobIndex, rule: StartRule): void {
    const job = this.#table.numbers[row];
    const carriedMs = this.#kept === undefined ? (this.#carriedMs.get(job) ?? 0) : 0;
    const processors = this.#placement(row, this.#nowMs - carriedMs);
    this.#promisedMs.delete(job);
    this.#starts.push({ job, rule, processors });
  }

  /** Chooses and occupies processors for the job. */
  #placement(row: JobIndex, startMs: number): readonly number[] {
    const processors = this.#choose(this.#table.size[row]);
    for (const processor of processors) this.#isFree[processor] = 0;
    this.#running.set(this.#table.numbers[row], { row, processors, startMs, order: this.#order++ });
    return processors;
  }

  protected onSuspend(row: JobIndex): void {
    const job = this.#table.numbers[row];
    const { processors, startMs } = this.#running.get(job)!;
    for (const processor of processors) this.#isFree[processor] = 1;
    this.#carriedMs.set(job, this.#nowMs - startMs);
    this.#running.delete(job);
  }

  override resume(row: JobIndex): void {
    const ranS = this.#carriedMs.get(this.#table.numbers[row])! / 1000;
    this.#table.jobs.estimateS[row] = Math.max(0, this.#table.estimateS[row] - ranS);
    super.resume(row);
  }

  protected override standingOn({ first, processors }: Outage): JobIndex[] {
    const isAway = (processor: number) => processor >= first && processor < first + processors;
    return [...this.#running.values()]
      .filter((running) => running.processors.some(isAway))
      .map(({ row }) => row);
  }

  override lose(outage: Outage): readonly JobIndex[] {
    const stopped = super.lose(outage);
    this.#isFree.fill(0, outage.first, outage.first + outage.processors);
    return stopped;
  }

  override regain(outage: Outage): void {
    super.regain(outage);
    this.#isFree.fill(1, outage.first, outage.first + outage.processors);
  }

  override promise(row: JobIndex, startS: number): void {
    this.#promisedMs.set(this.#table.numbers[row], this.#options.originMs + startS * 1000);
    super.promise(row, startS);
  }

  wakeAt(timeS: number): void {
    const timeMs = this.#options.originMs + timeS * 1000;
    this.#wakeMs = timeMs > this.#nowMs ? timeMs : this.#nowMs + LATE_WAKE_MS;
  }

  layout(): MatrixRows {
    const placements = [...this.#running].map(([job, { processors }]) => ({ job, processors }));
    return placements.length === 0 ? [] : [placements];
  }

  layoutSlot(): number {
    return 0;
  }

  ranMs(job: JobNumber, nowMs: number): number {
    const pausedAfterMs = this.#pausedAfterMs.get(job);
    if (pausedAfterMs !== undefined) return pausedAfterMs;
    const running = this.#running.get(job);
    return running === undefined ? (this.#carriedMs.get(job) ?? 0) : nowMs - running.startMs;
  }

  promisedMs(job: JobNumber): number {
    return this.#promisedMs.get(job) ?? Number.NaN;
  }

  hasOverrun(nowMs: number): boolean {
    const nowS = this.#secondsAt(nowMs);
    for (const { row, startMs } of this.#running.values()) {
      const startS = this.#secondsAt(startMs);
      if (startS + this.#table.estimateS[row] <= nowS + SAME_INSTANT_S) return true;
    }
    return false;
  }

  /**
   * Time that the policy sees, in whole 2^-20 s: then sums with estimates in whole seconds are exact, and
   * jobs that follow one another in a plan leave no gaps. Rounded up, so that no wake-up is before the end on
   * which it depends; less than a thousandth above a multiple is rounding.
   */
  #secondsAt(timeMs: number): number {
    const units = ((timeMs - this.#options.originMs) / 1000) * TIME_UNITS;
    return Math.ceil(units - 0.001) / TIME_UNITS;
  }

  #choose(size: number): readonly number[] {
    const kept = this.#kept;
    if (
      kept !== undefined &&
      kept.length === size &&
      kept.every((processor) => this.#isFree[processor] === 1)
    )
      return kept;
    return chooseProcessors(this.#isFree, size);
  }

  protected override jobName(row: JobIndex): string {
    return String(this.#table.numbers[row]);
  }
}
