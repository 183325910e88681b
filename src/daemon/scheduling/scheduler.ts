/**
 * Runs the policy: keeps track of the jobs that it knows, owns the driver, and performs adoptions.
 *
 * Adoption makes a new table, a new policy and a new driver, which take over the live state: first jobs with
 * processes, on their current CPUs if the policy allows it, then the waiting jobs in service order. It
 * happens after a restart, when the policy is switched, when the table is full, and when a job exceeds its
 * estimate. If the policy cannot withdraw a waiting job (`capabilities`), it also happens when a job that the
 * policy knows is withdrawn, or when a new job is served before jobs that it knows. If the new policy has no
 * room for a running job, this job is stopped and waits like a new job.
 */
import { UNKNOWN } from "../../core/jobs.ts";
import type { NodeTable } from "../../core/machine.ts";
import { NONE, type ParameterValues, type PolicyChoice } from "../../core/policy.ts";
import type { QueueClass } from "../../core/queue-classes.ts";
import type { Observer } from "../../core/schedule.ts";
import { isPolicyFile } from "../../own-policies/own-policy.ts";
import { makeChoice } from "../../policies/parse-policy.ts";
import { POLICIES } from "../../policies/registry.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import { hasProcess } from "../../protocol/states.ts";
import type { JobBook } from "../book/job-book.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { messageOf } from "../store/store.ts";
import { driverFor, stoppedJobs } from "./adoption.ts";
import type { Decision, LiveDriver, LiveJob, MatrixRows, RunningJob } from "./live-driver.ts";
import { processorsWithMemory } from "./live-limits.ts";
import { LivePool } from "./live-pool.ts";
import { LiveRounds } from "./live-rounds.ts";
import { expectedMs } from "./overrun.ts";

interface SchedulerOptions {
  /** Policies see only the number and order of processors. */
  readonly nodes: NodeTable;
  readonly slotMs: number;
  /** Maximum number of rows, if the policy's parameters name no limit. */
  readonly maxRows: number;
  /** Memory for all jobs in the matrix together. */
  readonly memoryBytes: number;
  readonly queueClasses: readonly QueueClass[];
  /** The monotonic instant that policies see as time 0, unless jobs are older. */
  readonly originMs: number;
  /** Converts a Unix time of the past to monotonic time. */
  readonly monotonicOf: (unixMs: number) => number;
  readonly observer?: Observer | undefined;
}

/** The reason for an adoption. */
interface Reason {
  readonly text: string;
  /** Who may see the text: the user whose job it names, or only administrators; left out: all users. */
  readonly visibleTo?: number | "administrators";
}

export interface Outcome extends Decision {
  /** Set after an adoption: its reason, and the running jobs that were stopped. */
  readonly adoption?: { readonly because: Reason; readonly stopped: readonly JobNumber[] } | undefined;
  /** Set when the policy failed and was replaced: the policy that failed, and why. */
  readonly fellBack?: { readonly choice: PolicyChoice; readonly because: string } | undefined;
}

const NOTHING: Outcome = { starts: [], notes: [] };

export class Scheduler {
  readonly options: SchedulerOptions;
  readonly #book: JobBook;
  /** Parameters of the choice, with the limit on rows if the policy has this parameter. */
  #parameters: ParameterValues;
  #choice: PolicyChoice;
  /** The last policy that has decided; it takes over if the chosen one fails. */
  #lastGood: PolicyChoice | undefined;
  #hasDecided = false;
  /** The policy that failed, until another one is chosen. */
  #broken: PolicyChoice | undefined;
  #driver: LiveDriver | undefined;
  #because: Reason = { text: "start" };
  #isStale = true;
  #epochMs = 0;
  /** Waiting jobs that the policy knows. */
  readonly #known = new Set<JobNumber>();
  #lastKnown: JobRecord | undefined;
  /** Jobs that the policy knows and that must be withdrawn. */
  readonly #withdrawing = new Set<JobNumber>();
  /** New waiting jobs that the policy does not know yet. */
  readonly #arriving = new Map<JobNumber, JobRecord>();
  /** Running times, used while there is no driver. */
  readonly #ranMs = new Map<JobNumber, number>();
  /** Monotonic submit times of the jobs submitted since the start, because the wall clock may be set. */
  readonly #submittedMs = new Map<JobNumber, number>();
  #layout: { readonly rows: MatrixRows; readonly slot: number } = { rows: [], slot: 0 };

  constructor(options: SchedulerOptions, book: JobBook, choice: PolicyChoice) {
    this.options = options;
    this.#book = book;
    this.#choice = choice;
    this.#parameters = this.parametersFor(choice);
  }

  get choice(): PolicyChoice {
    return this.#choice;
  }

  get parameters(): ParameterValues {
    return this.#parameters;
  }

  /** Whether the next decision begins with an adoption. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get epochMs(): number {
    return this.#epochMs;
  }

  get sharing(): "space" | "time" {
    return this.choice.definition.sharing;
  }

  /** Sets the matrix before the first adoption: the last one that was sent to the conductor. */
  setLayout(rows: MatrixRows, slot: number): void {
    this.#layout = { rows, slot };
  }

  /** Sets the start of slot 0 of the conductor's grid. */
  setEpoch(epochMs: number): void {
    if (epochMs !== this.#epochMs) this.invalidate("the grid of slots has changed");
    this.#epochMs = epochMs;
  }

  /** The policy's state is wrong now: the next decision begins with an adoption. */
  invalidate(text: string, visibleTo?: Reason["visibleTo"]): void {
    if (!this.#isStale) this.#because = { text, ...(visibleTo !== undefined && { visibleTo }) };
    this.#isStale = true;
  }

  setChoice(choice: PolicyChoice, because: string): void {
    if (this.#hasDecided && choice.label !== this.#choice.label) this.#lastGood = this.#choice;
    this.#broken = undefined;
    this.#setChoice(choice);
    this.invalidate(because);
  }

  #setChoice(choice: PolicyChoice): void {
    this.#choice = choice;
    this.#hasDecided = false;
    this.#parameters = this.parametersFor(choice);
  }

  /** A problem of the policy, as text for people. */
  get trouble(): string | undefined {
    if (this.#broken === undefined) return undefined;
    return `the policy ${this.#broken.label} failed and was replaced by ${this.#choice.label}; tutti events shows why`;
  }

  /**
   * The parameters with which a policy would be made here.
   * @throws InputError if the policy refuses this combination of parameters
   */
  parametersFor(choice: PolicyChoice): ParameterValues {
    const { definition, parameters } = choice;
    const { maxRows, slotMs, nodes } = this.options;
    const isLimited = parameters.rows === NONE && Number.isFinite(maxRows);
    const limited = isLimited ? { ...parameters, rows: maxRows } : parameters;
    // Makes the policy only to see whether it throws.
    const common = { parameters: limited, processors: nodes.processors, originMs: 0 };
    if (definition.sharing === "space") new LivePool({ ...common, definition }, 0);
    else new LiveRounds({ ...common, definition, slotMs, epochMs: 0 }, 0, 0);
    return limited;
  }

  noteSubmit(job: JobNumber, nowMs: number): void {
    this.#submittedMs.set(job, nowMs);
  }

  forget(job: JobNumber): void {
    this.#submittedMs.delete(job);
    this.#ranMs.delete(job);
  }

  /** A job has become eligible. */
  arrived(record: JobRecord): void {
    this.#arriving.set(record.job, record);
  }

  /**
   * A waiting job can no longer be started, or its rank in the queue has changed.
   * @param because why, such as "is held"
   */
  withdrawn({ job, uid }: JobRecord, because: string): void {
    this.#arriving.delete(job);
    if (this.#known.has(job)) this.#withdrawKnown(job, `job ${job} ${because}`, uid);
  }

  /** Withdraws a waiting job that the policy knows, or requests an adoption if the policy cannot do that. */
  #withdrawKnown(job: JobNumber, because: string, visibleTo: Reason["visibleTo"]): void {
    if (!this.#isStale && this.#driver?.canWithdraw) {
      this.#known.delete(job);
      this.#withdrawing.add(job);
    } else this.invalidate(because, visibleTo);
  }

  /** The process of a job has ended. */
  departed(job: JobNumber, nowMs: number): void {
    this.#ranMs.delete(job);
    if (this.#isStale || this.#driver === undefined) return;
    if (this.#known.has(job))
      this.#withdrawKnown(job, "a job ended while the policy had stopped it", "administrators");
    else this.#driver.depart(job, nowMs);
  }

  /** Sets the running time of a job with a process, as the executor counted it. */
  noteRan(job: JobNumber, ranMs: number): void {
    this.#ranMs.set(job, ranMs);
  }

  ranMs(job: JobNumber, nowMs: number): number {
    const counted = this.#isStale ? undefined : this.#driver?.ranMs(job, nowMs);
    return counted || (this.#ranMs.get(job) ?? 0);
  }

  promisedMs(job: JobNumber): number {
    return this.#driver?.promisedMs(job) ?? Number.NaN;
  }

  get rowCount(): number {
    return this.#driver?.rowCount ?? this.#layout.rows.length;
  }

  layout(): { readonly rows: MatrixRows; readonly slot: number } {
    return this.#layout;
  }

  /** The instant at which `decide` first has something to do. */
  dueMs(): number {
    this.#takeReleased();
    const hasNews = this.#arriving.size > 0 || this.#withdrawing.size > 0;
    if (this.#isStale || this.#driver === undefined || hasNews) return Number.NEGATIVE_INFINITY;
    return this.#driver.dueMs();
  }

  /** Passes events to the policy and lets it decide if a decision is due; undefined: nothing was decided. */
  decide(nowMs: number): Outcome | undefined {
    this.#passArrivals(nowMs);
    const driver = this.#driver;
    if (this.#isStale || driver === undefined) return this.#adoptOrFallBack(nowMs);
    if (driver.dueMs() > nowMs) return undefined;
    if (driver.hasOverrun(nowMs)) {
      this.invalidate("a job has exceeded its estimate", "administrators");
      return this.#adoptOrFallBack(nowMs);
    }
    const isOwn = isPolicyFile(this.#choice.definition.name);
    // After an aborted call, the state of the machine is unreliable.
    if (isOwn) this.#keepRunningTimes(driver, nowMs);
    try {
      const outcome = this.#noteStarts(driver.decide(nowMs));
      this.#passArrivals(nowMs);
      return outcome;
    } catch (error) {
      this.invalidate(`the policy failed: ${messageOf(error)}`, "administrators");
      if (!isOwn) return this.#adoptOrFallBack(nowMs);
      this.#driver = undefined;
      return this.#fallBack(nowMs, error);
    }
  }

  #takeReleased(): void {
    for (const record of this.#book.takeReleased()) if (!this.#known.has(record.job)) this.arrived(record);
  }

  #passArrivals(nowMs: number): void {
    const driver = this.#driver;
    this.#takeReleased();
    const arriving = [...this.#arriving.values()];
    const withdrawing = [...this.#withdrawing];
    this.#arriving.clear();
    this.#withdrawing.clear();
    if (this.#isStale || driver === undefined) return;
    for (const job of withdrawing) driver.withdraw(job, nowMs);
    for (const record of arriving) {
      for (const next of [record, ...this.#makeWay(driver, record, nowMs)]) {
        if (driver.isFull) this.invalidate("the table of jobs is full");
        if (this.#isStale) return;
        driver.arrive(this.#liveJob(next), nowMs);
        this.#known.add(next.job);
        this.#lastKnown = next;
      }
    }
  }

  /** Withdraws the waiting jobs that are served after a new one. @returns them, to arrive after it */
  #makeWay(driver: LiveDriver, record: JobRecord, nowMs: number): readonly JobRecord[] {
    const last = this.#lastKnown;
    if (last === undefined || this.#known.size === 0 || !servedBefore(record, last)) return [];
    if (!driver.canWithdraw) {
      this.invalidate(`job ${record.job} is served before waiting jobs`, record.uid);
      return [];
    }
    const after = [...this.#known]
      .map((job) => this.#book.live(job)!)
      .filter((other) => !hasProcess(other.state) && servedBefore(record, other))
      .sort((a, b) => (servedBefore(a, b) ? -1 : 1));
    for (const { job } of after) {
      driver.withdraw(job, nowMs);
      this.#known.delete(job);
    }
    return after;
  }

  #adoptOrFallBack(nowMs: number): Outcome {
    if (this.#driver !== undefined) this.#keepRunningTimes(this.#driver, nowMs);
    this.#driver = undefined;
    try {
      return this.#adopt(nowMs);
    } catch (error) {
      return this.#fallBack(nowMs, error);
    }
  }

  /** Replaces a failed policy by the last one that has decided, or by a plain one. */
  #fallBack(nowMs: number, error: unknown): Outcome {
    const broken = this.#choice;
    const plain = makeChoice(
      POLICIES.find(({ name }) => name === (this.sharing === "space" ? "fcfs" : "gang"))!,
    );
    const lastGood = this.#lastGood;
    this.#lastGood = undefined;
    for (const choice of lastGood === undefined ? [plain] : [lastGood, plain]) {
      if (choice.label === broken.label) continue;
      try {
        this.#setChoice(choice);
        const outcome = this.#adopt(nowMs);
        this.#broken = broken;
        const because = `${broken.label} failed: ${messageOf(error)}`;
        return { ...outcome, fellBack: { choice: broken, because } };
      } catch (another) {
        if (choice === plain) throw another;
      }
    }
    throw error;
  }

  #keepRunningTimes(driver: LiveDriver, nowMs: number): void {
    if (driver instanceof LiveRounds) driver.catchUp(nowMs);
    for (const { job } of this.#book.withProcess()) {
      const ranMs = driver.ranMs(job, nowMs);
      if (ranMs > 0) this.#ranMs.set(job, ranMs);
    }
    this.#layout = { rows: driver.layout(), slot: driver.layoutSlot() };
  }

  #adopt(nowMs: number): Outcome {
    const because = this.#because;
    const running = [...this.#book.withProcess()].map((record) => this.#runningJob(record));
    this.#known.clear();
    this.#withdrawing.clear();
    this.#takeReleased();
    this.#arriving.clear();
    this.#lastKnown = undefined;
    const driver = this.#takeOver(running, nowMs);
    const stopped = stoppedJobs(running, driver);
    for (const job of stopped) this.#known.add(job);
    const waiting = this.#book.eligible();
    for (const record of waiting) {
      driver.arrive(this.#liveJob(record), nowMs);
      this.#known.add(record.job);
      this.#lastKnown = record;
    }
    const decision = waiting.length > 0 || running.length > 0 ? driver.decide(nowMs) : NOTHING;
    this.#driver = driver;
    this.#isStale = false;
    this.#hasDecided = true;
    const outcome = this.#noteStarts(decision);
    return { ...outcome, adoption: { because, stopped: stopped.filter((job) => this.#known.has(job)) } };
  }

  #takeOver(running: readonly RunningJob[], nowMs: number): LiveDriver {
    const { nodes, slotMs, maxRows, memoryBytes, observer } = this.options;
    return driverFor(running, {
      definition: this.choice.definition,
      parameters: this.#parameters,
      processors: nodes.processors,
      observer,
      originMs: Math.min(
        this.options.originMs,
        ...running.map((job) => Math.min(job.submitMs, nowMs - job.ranMs)),
      ),
      slotMs,
      epochMs: this.#epochMs,
      limits: { maxRows: maxRows, memoryBytes },
      known: running.length + this.#book.liveCount,
      rows: this.#rowsFrom(nowMs),
      nowMs,
    });
  }

  /** The current rows, beginning with the row whose turn it is now. */
  #rowsFrom(nowMs: number): MatrixRows {
    const { rows, slot } = this.#layout;
    if (rows.length === 0) return rows;
    const nowSlot = Math.floor((nowMs - this.#epochMs) / this.options.slotMs);
    const first = (((nowSlot - slot) % rows.length) + rows.length) % rows.length;
    return [...rows.slice(first), ...rows.slice(0, first)];
  }

  #noteStarts(decision: Decision): Outcome {
    for (const { job } of decision.starts) this.#known.delete(job);
    this.#layout = { rows: this.#driver!.layout(), slot: this.#driver!.layoutSlot() };
    return decision;
  }

  #liveJob(record: JobRecord): LiveJob {
    return {
      job: record.job,
      size: this.sizeOf(record),
      submitMs: this.#submittedMs.get(record.job) ?? this.options.monotonicOf(record.submittedAtMs),
      estimateMs: record.estimateMs,
      memoryBytes: record.memoryBytes,
      queueClass: this.#classOf(record.queue),
      user: record.uid,
    };
  }

  #runningJob(record: JobRecord): RunningJob {
    const ranMs = this.#ranMs.get(record.job) ?? record.ranMs;
    const estimateMs = expectedMs(record.estimateMs, ranMs, record.limitMs !== undefined);
    const processors = this.options.nodes.indicesOf(record.nodes);
    return {
      ...this.#liveJob(record),
      estimateMs,
      ranMs,
      processors: processors.filter((processor) => processor >= 0),
    };
  }

  /** Number of processors that the job gets, under the current policy or one of another kind. */
  sizeOf({ tasks, memoryBytes }: Pick<JobRecord, "tasks" | "memoryBytes">, sharing = this.sharing): number {
    if (sharing === "time" || memoryBytes === undefined) return tasks;
    const machine = { processors: this.options.nodes.processors, memoryBytes: this.options.memoryBytes };
    return processorsWithMemory(tasks, memoryBytes, machine);
  }

  #classOf(queue: string): number {
    const place = this.options.queueClasses.findIndex(({ name }) => name === queue);
    return place >= 0 ? place : UNKNOWN;
  }
}
