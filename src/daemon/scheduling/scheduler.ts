/**
 * The policy at work: which jobs it has been told of, the driver that tells it, and adoption.
 *
 * Adoption makes a new table, a new policy and a new driver, and lets them take over what is there: jobs with processes first, on the
 * CPUs that they have wherever the policy allows it, then the waiting jobs in the order in which they are served. It happens
 * after a restart, when the policy is switched, when the table is full, and when a job outlives its estimate; and, where the policy cannot
 * take a waiting job back (`capabilities`), when a job that it knows is withdrawn or comes before others that it knows. A running job that the
 * new policy has no room for is stopped, and waits for its turn like a job that is new.
 */
import { UNKNOWN } from "../../core/jobs.ts";
import type { NodeTable } from "../../core/machine.ts";
import { NONE, type ParameterValues, type PolicyChoice } from "../../core/policy.ts";
import type { QueueClass } from "../../core/queue-classes.ts";
import type { Observer } from "../../core/schedule.ts";
import { isFile } from "../../own-policies/own-policy.ts";
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

interface SchedulerOptions {
  /** Policies see their number only, and their order. */
  readonly nodes: NodeTable;
  readonly slotMs: number;
  /** Rows of the matrix at most, where the policy's parameters name no limit. */
  readonly mostRows: number;
  /** Memory that all jobs in the matrix may have together. */
  readonly memoryBytes: number;
  readonly queueClasses: readonly QueueClass[];
  /** Monotonic instant that policies see as time 0, unless jobs are older. */
  readonly originMs: number;
  /** Converts a Unix time of the past to monotonic time. */
  readonly monotonicOf: (unixMs: number) => number;
  readonly observer?: Observer | undefined;
}

/** Why a new policy has to take over. */
interface Reason {
  readonly text: string;
  /** The user whose job it tells of, or administrators alone; left out: everybody may know. */
  readonly toldTo?: number | "administrators";
}

export interface Outcome extends Decision {
  /** Set when a new policy object has taken over: why, and which running jobs were given other CPUs or were stopped. */
  readonly adoption?: { readonly because: Reason; readonly stopped: readonly JobNumber[] } | undefined;
  /** Set when the policy broke down and another one took its place: which, and why. */
  readonly fellBack?: { readonly choice: PolicyChoice; readonly because: string } | undefined;
}

const NOTHING: Outcome = { starts: [], notes: [] };

export class Scheduler {
  readonly options: SchedulerOptions;
  readonly #book: JobBook;
  /** What the policy is made with: those of the choice, and the limit on rows where the policy can keep it. */
  #parameters: ParameterValues;
  #choice: PolicyChoice;
  /** The policy that decided before the one that was chosen; it takes over when that one breaks down. */
  #lastGood: PolicyChoice | undefined;
  #hasDecided = false;
  /** The policy that broke down, until another one is chosen. */
  #broken: PolicyChoice | undefined;
  #driver: LiveDriver | undefined;
  #because: Reason = { text: "start" };
  #isStale = true;
  #epochMs = 0;
  /** Waiting jobs that the policy knows. */
  readonly #told = new Set<JobNumber>();
  #lastTold: JobRecord | undefined;
  /** Jobs that the policy knows and that do not wait any more. */
  readonly #withdrawing = new Set<JobNumber>();
  /** Jobs that have come to wait and are to be told of. */
  readonly #arriving = new Map<JobNumber, JobRecord>();
  /** Running times when there was no driver that could tell. */
  readonly #ranMs = new Map<JobNumber, number>();
  /** Monotonic times of submits, of jobs that came since the start: the wall clock may have been set meanwhile. */
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

  /** What the policy is made with here. */
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

  /** The matrix before the first adoption: what the conductor turned last. */
  setLayout(rows: MatrixRows, slot: number): void {
    this.#layout = { rows, slot };
  }

  /** Beginning of slot 0 of the conductor's grid. */
  setEpoch(epochMs: number): void {
    if (epochMs !== this.#epochMs) this.invalidate("the grid of slots has changed");
    this.#epochMs = epochMs;
  }

  /** What the policy knows is no longer true: the next decision begins with an adoption. */
  invalidate(text: string, toldTo?: Reason["toldTo"]): void {
    if (!this.#isStale) this.#because = { text, ...(toldTo !== undefined && { toldTo }) };
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

  /** What people should know of the policy. */
  get trouble(): string | undefined {
    if (this.#broken === undefined) return undefined;
    return `the policy ${this.#broken.label} failed, and ${this.#choice.label} has taken its place; tutti events says why`;
  }

  /**
   * The parameters that a policy would be made with here.
   * @throws InputError when the policy does not take its own parameters together
   */
  parametersFor(choice: PolicyChoice): ParameterValues {
    const { definition, parameters } = choice;
    const { mostRows, slotMs, nodes } = this.options;
    const isLimited = parameters.rows === NONE && Number.isFinite(mostRows);
    const limited = isLimited ? { ...parameters, rows: mostRows } : parameters;
    // Made to see whether it can be.
    const common = { parameters: limited, processors: nodes.processors, originMs: 0 };
    if (definition.sharing === "space") new LivePool({ ...common, definition }, 0);
    else new LiveRounds({ ...common, definition, slotMs, epochMs: 0 }, 0, 0);
    return limited;
  }

  noteSubmit(job: JobNumber, nowMs: number): void {
    this.#submittedMs.set(job, nowMs);
  }

  /** The job has ended. */
  forget(job: JobNumber): void {
    this.#submittedMs.delete(job);
    this.#ranMs.delete(job);
  }

  /** A job has come to wait, with nothing that keeps it from being told. */
  arrived(record: JobRecord): void {
    this.#arriving.set(record.job, record);
  }

  /**
   * A waiting job is not to be started any more, or its place has changed.
   * @param because what became of it, such as "is held"
   */
  withdrawn({ job, uid }: JobRecord, because: string): void {
    this.#arriving.delete(job);
    if (this.#told.has(job)) this.#withdrawTold(job, `job ${job} ${because}`, uid);
  }

  /** A job that the policy knows to wait is no longer to be started. */
  #withdrawTold(job: JobNumber, because: string, toldTo: Reason["toldTo"]): void {
    if (!this.#isStale && this.#driver?.canWithdraw) {
      this.#told.delete(job);
      this.#withdrawing.add(job);
    } else this.invalidate(because, toldTo);
  }

  /** The process of a job has ended. */
  departed(job: JobNumber, nowMs: number): void {
    this.#ranMs.delete(job);
    if (this.#isStale || this.#driver === undefined) return;
    if (this.#told.has(job))
      this.#withdrawTold(job, "a job ended that the policy had stopped", "administrators");
    else this.#driver.depart(job, nowMs);
  }

  /** Running time of a job with a process, as somebody else counted it. */
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

  /** Instant from which `decide` has something to do. */
  dueMs(): number {
    this.#takeReleased();
    const hasNews = this.#arriving.size > 0 || this.#withdrawing.size > 0;
    if (this.#isStale || this.#driver === undefined || hasNews) return Number.NEGATIVE_INFINITY;
    return this.#driver.dueMs();
  }

  /** Tells the policy what has happened and lets it decide, if it is time; undefined if nothing was decided. */
  decide(nowMs: number): Outcome | undefined {
    this.#tellArrivals(nowMs);
    const driver = this.#driver;
    if (this.#isStale || driver === undefined) return this.#adoptOrFallBack(nowMs);
    if (driver.dueMs() > nowMs) return undefined;
    if (driver.hasOverrun(nowMs)) {
      this.invalidate("a job has outlived its estimate", "administrators");
      return this.#adoptOrFallBack(nowMs);
    }
    const isOwn = isFile(this.#choice.definition.name);
    // What is cut off leaves a machine of which nothing may be believed.
    if (isOwn) this.#keepRunningTimes(driver, nowMs);
    try {
      const outcome = this.#noteStarts(driver.decide(nowMs));
      this.#tellArrivals(nowMs);
      return outcome;
    } catch (error) {
      this.invalidate(`the policy erred: ${messageOf(error)}`, "administrators");
      if (!isOwn) return this.#adoptOrFallBack(nowMs);
      this.#driver = undefined;
      return this.#fallBack(nowMs, error);
    }
  }

  #takeReleased(): void {
    for (const record of this.#book.takeReleased()) if (!this.#told.has(record.job)) this.arrived(record);
  }

  #tellArrivals(nowMs: number): void {
    const driver = this.#driver;
    this.#takeReleased();
    const arriving = [...this.#arriving.values()];
    const withdrawing = [...this.#withdrawing];
    this.#arriving.clear();
    this.#withdrawing.clear();
    if (this.#isStale || driver === undefined) return;
    for (const job of withdrawing) driver.withdraw(job, nowMs);
    for (const record of arriving) {
      for (const one of [record, ...this.#makeWay(driver, record, nowMs)]) {
        if (driver.isFull) this.invalidate("the table of jobs is full");
        if (this.#isStale) return;
        driver.arrive(this.#liveJob(one), nowMs);
        this.#told.add(one.job);
        this.#lastTold = one;
      }
    }
  }

  /** Takes back the waiting jobs that are served after one that comes now. Returns them in order, to be told again after it. */
  #makeWay(driver: LiveDriver, record: JobRecord, nowMs: number): readonly JobRecord[] {
    const last = this.#lastTold;
    if (last === undefined || this.#told.size === 0 || !servedBefore(record, last)) return [];
    if (!driver.canWithdraw) {
      this.invalidate(`job ${record.job} comes before jobs that wait`, record.uid);
      return [];
    }
    const after = [...this.#told]
      .map((job) => this.#book.live(job)!)
      .filter((other) => !hasProcess(other.state) && servedBefore(record, other))
      .sort((a, b) => (servedBefore(a, b) ? -1 : 1));
    for (const { job } of after) {
      driver.withdraw(job, nowMs);
      this.#told.delete(job);
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

  /** Puts the last policy that decided in the place of one that broke down, or a plain one. */
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
        const because = `${broken.label} gave up: ${messageOf(error)}`;
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
    this.#told.clear();
    this.#withdrawing.clear();
    this.#takeReleased();
    this.#arriving.clear();
    this.#lastTold = undefined;
    const driver = this.#takeOver(running, nowMs);
    const stopped = stoppedJobs(running, driver);
    for (const job of stopped) this.#told.add(job);
    const waiting = this.#book.eligible();
    for (const record of waiting) {
      driver.arrive(this.#liveJob(record), nowMs);
      this.#told.add(record.job);
      this.#lastTold = record;
    }
    const decision = waiting.length > 0 || running.length > 0 ? driver.decide(nowMs) : NOTHING;
    this.#driver = driver;
    this.#isStale = false;
    this.#hasDecided = true;
    const outcome = this.#noteStarts(decision);
    return { ...outcome, adoption: { because, stopped: stopped.filter((job) => this.#told.has(job)) } };
  }

  #takeOver(running: readonly RunningJob[], nowMs: number): LiveDriver {
    const { nodes, slotMs, mostRows, memoryBytes, observer } = this.options;
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
      limits: { maxRows: mostRows, memoryBytes },
      known: running.length + this.#book.liveCount,
      rows: this.#rowsFrom(nowMs),
      nowMs,
    });
  }

  /** The rows as they stand, the one first whose turn it is now. */
  #rowsFrom(nowMs: number): MatrixRows {
    const { rows, slot } = this.#layout;
    if (rows.length === 0) return rows;
    const nowSlot = Math.floor((nowMs - this.#epochMs) / this.options.slotMs);
    const first = (((nowSlot - slot) % rows.length) + rows.length) % rows.length;
    return [...rows.slice(first), ...rows.slice(0, first)];
  }

  #noteStarts(decision: Decision): Outcome {
    for (const { job } of decision.starts) this.#told.delete(job);
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
    // A job beyond its estimate is expected to go on for a quarter of what it has had.
    const estimateMs = ranMs < record.estimateMs ? record.estimateMs : 1.25 * ranMs + 1000;
    const processors = this.options.nodes.indicesOf(record.nodes);
    return { ...this.#liveJob(record), estimateMs, ranMs, processors: processors.filter((one) => one >= 0) };
  }

  /** Processors that the job is given. */
  sizeOf({ tasks, memoryBytes }: Pick<JobRecord, "tasks" | "memoryBytes">): number {
    if (this.sharing === "time" || memoryBytes === undefined) return tasks;
    const machine = { processors: this.options.nodes.processors, memoryBytes: this.options.memoryBytes };
    return processorsWithMemory(tasks, memoryBytes, machine);
  }

  #classOf(queue: string): number {
    const place = this.options.queueClasses.findIndex(({ name }) => name === queue);
    return place >= 0 ? place : UNKNOWN;
  }
}
