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
import type { ParameterValues, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { QueueClass } from "@tutti/kernel/core/queue-classes.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { hasProcess } from "@tutti/protocol/states.ts";
import type { JobBook } from "../book/job-book.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import type { Capacity } from "../executor/executor.ts";
import { messageOf } from "../store/store.ts";
import { type Adopted, adopt, rowsFrom, stoppedJobs } from "./adoption.ts";
import { copesWithResources, parametersFor } from "./job-check.ts";
import type { Decision, LiveDriver, MatrixRows, OwnersShares } from "./live-driver.ts";
import { LiveJobs } from "./live-jobs.ts";
import { type LiveMachine, type MachineObstacle, renumbered } from "./live-machine.ts";
import type { Outcome, PolicyObstacle, Reason } from "./outcome.ts";
import { Outside } from "./outside.ts";
import { PartDrivers, shortestRound } from "./part-drivers.ts";

/** What a scheduler is made with. */
interface SchedulerOptions {
  /** Policies see only the number and order of processors. */
  readonly machine: LiveMachine;
  readonly slotMs: number;
  /** Maximum number of rows, if the policy's parameters name no limit. */
  readonly maxRows: number;
  readonly queueClasses: readonly QueueClass[];
  /** The monotonic instant that policies see as time 0, unless jobs are older. */
  readonly originMs: number;
  /** Converts a Unix time of the past to monotonic time. */
  readonly monotonicOf: (unixMs: number) => number;
  readonly shares?: OwnersShares | undefined;
  readonly observer?: Observer | undefined;
}

const NOTHING: Outcome = { starts: [], notes: [] };

export class Scheduler {
  readonly options: SchedulerOptions;
  readonly jobs: LiveJobs;
  readonly #book: JobBook;
  /** Parameters of the choice, with the limit on rows if the policy has this parameter. */
  parameters: ParameterValues;
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
  readonly #outside: Outside;
  /** While gangs keep their CPUs until the policy can take over: the gangs that are in its way. */
  #handover: readonly JobNumber[] | undefined;
  /** When the next waiting job becomes too late to end in time. */
  #lateAtMs = Number.POSITIVE_INFINITY;
  #layout: { readonly rows: MatrixRows; readonly slot: number } = { rows: [], slot: 0 };
  /** The jobs in the rows of a layout: lists ask for each running job. */
  #placed: { readonly of: MatrixRows; readonly jobs: ReadonlySet<JobNumber> } | undefined;

  constructor(options: SchedulerOptions, book: JobBook, choice: PolicyChoice) {
    this.options = options;
    this.jobs = new LiveJobs(options);
    this.#outside = new Outside(options.machine);
    this.#book = book;
    this.#choice = choice;
    this.parameters = this.parametersFor(choice);
  }

  get choice(): PolicyChoice {
    return this.#choice;
  }

  /** Whether the next decision begins with an adoption. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get epochMs(): number {
    return this.#epochMs;
  }

  get machine(): LiveMachine {
    return this.options.machine;
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

  /** The machine has other processors now. Gangs keep their CPUs; those of a lost node leave the rows. */
  setCapacity(capacity: Capacity, because: string, nowMs: number): void {
    if (this.#driver !== undefined) this.#keepRunningTimes(this.#driver, nowMs);
    this.#driver = undefined;
    const { machine } = this;
    const before = machine.nodes;
    machine.set(capacity);
    this.#layout = { ...this.#layout, rows: renumbered(this.#layout.rows, before, machine.nodes) };
    this.invalidate(because);
  }

  /** The policy's state is wrong now: the next decision begins with an adoption. */
  invalidate(text: string, visibleTo?: Reason["visibleTo"]): void {
    if (!this.#isStale) this.#because = { text, visibleTo };
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
    this.parameters = this.parametersFor(choice);
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
    return parametersFor(choice, this.options);
  }

  /** A job has become eligible. */
  arrived(record: JobRecord): void {
    this.#arriving.set(record.job, record);
  }

  /** A waiting job can no longer be started, or has another rank in the queue: it "is held", for example. */
  withdrawn({ job, uid }: JobRecord, because: string): void {
    this.#arriving.delete(job);
    this.#book.limits.yield(job);
    if (this.#known.has(job)) this.#withdrawKnown(job, `job ${job} ${because}`, uid);
  }

  /** Withdraws a waiting job that the policy knows, or requests an adoption if the policy cannot do that. */
  #withdrawKnown(job: JobNumber, because: string, visibleTo: Reason["visibleTo"]): void {
    if (!this.#isStale && this.#driver?.canWithdraw) {
      this.#known.delete(job);
      this.#withdrawing.add(job);
    } else this.invalidate(because, visibleTo);
  }

  /** The windows or the wall clock have changed: other waiting jobs than before may start now. */
  reconsider(nowMs: number): void {
    if (this.#isStale) return;
    this.#lateAtMs = Number.NEGATIVE_INFINITY;
    this.#book.limits.unsettle();
    for (const record of this.#book.eligible()) {
      if (!this.#known.has(record.job) && this.obstacle(record, nowMs) === undefined) this.arrived(record);
    }
  }

  /** A job with a process is paused or resumed. Across nodes, only an adoption keeps gangs on their CPUs. */
  setPaused({ job, uid }: JobRecord, isPaused: boolean, nowMs: number): void {
    const canStay = !this.#isStale && this.#handover === undefined && this.machine.movesGangs;
    if (canStay && this.#driver?.setPaused?.(job, isPaused, nowMs)) return;
    this.invalidate(`job ${job} is ${isPaused ? "paused" : "resumed"}`, uid);
  }

  /** The process of a job has ended. */
  departed(job: JobNumber, nowMs: number): void {
    this.jobs.departed(job);
    const outside = this.#outside.departed(job);
    if (outside?.heldMemory) this.invalidate("a paused job has ended", "administrators");
    const isShared = this.machine.parts.length > 1 && this.machine.counted.length > 0;
    if (isShared || this.jobs.hasOddUnits) this.invalidate("units may have become free", "administrators");
    if (outside !== undefined || this.#isStale || this.#driver === undefined) return;
    if (this.#handover !== undefined) this.invalidate("a gang has ended that was in the policy's way");
    if (this.#known.has(job))
      this.#withdrawKnown(job, "a job ended while the policy had stopped it", "administrators");
    else this.#driver.depart(job, nowMs);
  }

  /** The job began later than it was decided, as in Slurm: the next adoption counts from there. */
  beganAt = (job: JobNumber, startMs: number): void => this.#driver?.beganAt?.(job, startMs);

  ranMs(job: JobNumber, nowMs: number): number {
    const record = this.#book.live(job);
    if (record?.state === "paused") return this.jobs.ranMs(job) ?? record.ranMs;
    const counted = this.#isStale ? undefined : this.#driver?.ranMs(job, nowMs);
    return counted || (this.jobs.ranMs(job) ?? 0);
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

  /** Whether the job has a place in the matrix. */
  isPlaced(job: JobNumber): boolean {
    if (this.#placed?.of !== this.#layout.rows) {
      const { rows } = this.#layout;
      this.#placed = {
        of: rows,
        jobs: new Set(rows.flatMap((row) => row.map((placement) => placement.job))),
      };
    }
    return this.#placed.jobs.has(job);
  }

  /** The instant at which `decide` first has something to do. */
  dueMs(): number {
    this.#takeReleased();
    const hasNews = this.#arriving.size > 0 || this.#withdrawing.size > 0;
    if (this.#isStale || hasNews) return Number.NEGATIVE_INFINITY;
    // Without processors, there is no driver.
    if (this.#driver === undefined) return Number.POSITIVE_INFINITY;
    if (this.#book.limits.isUnsettled) return Number.NEGATIVE_INFINITY;
    return Math.min(this.#driver.dueMs(), this.#lateAtMs);
  }

  /** Passes events to the policy and lets it decide if a decision is due; undefined: nothing was decided. */
  decide(nowMs: number): Outcome | undefined {
    this.#withdrawLate(nowMs);
    this.#passArrivals(nowMs);
    const driver = this.#driver;
    if (this.#isStale) return this.#adoptOrFallBack(nowMs);
    if (driver === undefined || driver.dueMs() > nowMs) return undefined;
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
    if (!this.#isStale && driver !== undefined) {
      for (const record of this.#book.settleLimits(this.#canStart(nowMs))) this.arrived(record);
    }
    const arriving = [...this.#arriving.values()];
    const withdrawing = [...this.#withdrawing];
    this.#arriving.clear();
    this.#withdrawing.clear();
    if (this.#isStale || driver === undefined) return;
    for (const job of withdrawing) driver.withdraw(job, nowMs);
    for (const record of arriving) {
      if (this.obstacle(record, nowMs) !== undefined) continue;
      this.#lateAtMs = Math.min(this.#lateAtMs, this.machine.lastStartMs(record, nowMs));
      for (const next of [record, ...this.#makeWay(driver, record, nowMs)]) {
        if (driver.isFull) this.invalidate("the table of jobs is full");
        if (this.#isStale) return;
        this.#arrive(driver, next, nowMs);
      }
    }
  }

  /** The job may start, on each part of the machine that takes it. */
  #arrive(driver: LiveDriver, record: JobRecord, nowMs: number): void {
    const { parts } = this.machine;
    if (driver instanceof PartDrivers) {
      const seen = (part: LiveMachine) => this.jobs.waiting(record, this.choice, part);
      driver.offer(
        parts.map((part) => (part.takes(record, nowMs) ? seen(part) : undefined)),
        nowMs,
      );
    } else driver.arrive(this.jobs.waiting(record, this.choice, this.machine), nowMs);
    this.#known.add(record.job);
    this.#lastKnown = record;
  }

  /** Withdraws waiting jobs that could no longer end in time. */
  #withdrawLate(nowMs: number): void {
    if (nowMs < this.#lateAtMs) return;
    this.#lateAtMs = Number.POSITIVE_INFINITY;
    this.#book.limits.unsettle();
    for (const job of this.#known) {
      const record = this.#book.live(job)!;
      if (hasProcess(record.state)) continue;
      if (this.machine.obstacle(record, nowMs) === undefined) {
        this.#lateAtMs = Math.min(this.#lateAtMs, this.machine.lastStartMs(record, nowMs));
        this.#withdrawFromLate(record, nowMs);
      } else this.withdrawn(record, "could not end in time");
    }
  }

  /** From those parts of the machine on which it could no longer end in time. */
  #withdrawFromLate(record: JobRecord, nowMs: number): void {
    const driver = this.#driver;
    if (!(driver instanceof PartDrivers) || this.#isStale) return;
    for (const [i, part] of this.machine.parts.entries()) {
      if (part.takes(record, nowMs)) continue;
      if (!driver.canWithdraw) this.invalidate(`job ${record.job} could not end in time`, record.uid);
      else driver.withdrawAt(i, record.job, nowMs);
    }
  }

  /** Whether nothing starts, on whatever processors, until gangs have ended. */
  get isHandingOver(): boolean {
    return this.#handover !== undefined;
  }

  /** Why the policy does not know the job, besides all that makes it ineligible; undefined: it knows it. */
  obstacle(record: JobRecord, nowMs: number): MachineObstacle | PolicyObstacle | undefined {
    const obstacle = this.machine.obstacle(record, nowMs) ?? this.jobs.lackOfUnits(record);
    const policy = this.#choice.label;
    if (record.use !== undefined && !copesWithResources(this.#choice))
      return { kind: "policy-units", policy };
    if (obstacle !== undefined || this.#handover === undefined) return obstacle;
    return { kind: "handover", policy, jobs: this.#handover };
  }

  /** For jobs that wait for limits. One that can no longer end in time keeps no room: see #withdrawLate. */
  #canStart(nowMs: number): (record: JobRecord) => boolean {
    return (record) => {
      if (this.obstacle(record, nowMs) !== undefined) return false;
      this.#lateAtMs = Math.min(this.#lateAtMs, this.machine.lastStartMs(record, nowMs));
      return true;
    };
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
    const plain = choosePolicy(this.sharing === "space" ? "fcfs" : "gang");
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
    driver.catchUp?.(nowMs);
    for (const { job, state } of this.#book.withProcess()) {
      const ranMs = state === "paused" ? 0 : driver.ranMs(job, nowMs);
      if (ranMs > 0) this.jobs.noteRan(job, ranMs);
    }
    this.#layout = { rows: driver.layout(), slot: driver.layoutSlot() };
  }

  #adopt(nowMs: number): Outcome {
    const because = this.#because;
    const records = this.#outside.takeFrom(this.#book.withProcess(), this.choice);
    this.#known.clear();
    this.#withdrawing.clear();
    this.#takeReleased();
    this.#arriving.clear();
    this.#lastKnown = undefined;
    this.#handover = undefined;
    this.#lateAtMs = Number.POSITIVE_INFINITY;
    if (this.machine.processors === 0) {
      this.#layout = { rows: [], slot: 0 };
      this.#isStale = false;
      return { ...NOTHING, adoption: { because, stopped: [] } };
    }
    const { driver, running, inTheWay } = this.#takeOver(records, nowMs);
    this.#handover = inTheWay;
    const stopped = stoppedJobs(running, driver);
    if (this.sharing === "space") this.jobs.keepUnits(stopped);
    for (const job of stopped) this.#known.add(job);
    const waiting = this.#book.allowed(this.#canStart(nowMs));
    for (const record of waiting) {
      this.#arrive(driver, record, nowMs);
      this.#lateAtMs = Math.min(this.#lateAtMs, this.machine.lastStartMs(record, nowMs));
    }
    const decision = waiting.length > 0 || running.length > 0 ? driver.decide(nowMs) : NOTHING;
    this.#driver = driver;
    this.#isStale = false;
    this.#hasDecided = true;
    const outcome = this.#noteStarts(decision);
    return { ...outcome, adoption: { because, stopped: stopped.filter((job) => this.#known.has(job)) } };
  }

  /** Whether a gang is in no row, because it has lost a node and ends, or because it is paused. */
  isOutside(job: JobNumber): boolean {
    return this.#outside.has(job) || this.#driver?.hasPaused?.(job) === true;
  }

  /** Each part of the machine takes over its own gangs. */
  #takeOver(records: readonly JobRecord[], nowMs: number): Omit<Adopted, "nodes"> {
    const { machine } = this;
    this.jobs.countUnits([...this.#book.withProcess()], (job) => !this.#outside.has(job));
    const { parts } = machine;
    const [only] = parts;
    if (parts.length === 1) {
      const adopted = this.#takeOverPart(only, records, [], nowMs);
      only.use(adopted.nodes);
      return adopted;
    }
    const left = new Set(records);
    const adopted = parts.map((part) => {
      const own = [...left].filter(({ nodes }) => part.has(nodes));
      for (const record of own) left.delete(record);
      const elsewhere = records.filter((record) => !own.includes(record)).map(({ job }) => job);
      return this.#takeOverPart(part, own, elsewhere, nowMs);
    });
    for (const [i, { nodes }] of adopted.entries()) parts[i].use(nodes);
    const inTheWay = adopted.flatMap((one) => one.inTheWay ?? []);
    return {
      driver: new PartDrivers(adopted, machine.nodes, this.sharing),
      running: adopted.flatMap(({ running }) => running),
      ...(inTheWay.length > 0 && { inTheWay }),
    };
  }

  /** @param elsewhere gangs of other parts */
  #takeOverPart(
    part: LiveMachine,
    records: readonly JobRecord[],
    elsewhere: readonly JobNumber[],
    nowMs: number,
  ): Adopted {
    const { maxRows, originMs } = this.options;
    const { choice, machine } = this;
    const begunMs = records.map((record) => {
      const { submitMs, ranMs } = this.jobs.running(record, choice, part, part.nodes, nowMs);
      return Math.min(submitMs, nowMs - ranMs);
    });
    const round = rowsFrom(this.#layout, Math.floor((nowMs - this.#epochMs) / this.options.slotMs));
    const own = part === machine ? round : shortestRound(renumbered(round, machine.nodes, part.nodes));
    const pausedBytes = this.#outside.pausedBytes(({ nodes }) => part.has(nodes));
    return adopt(
      records,
      part,
      (...about) => this.jobs.running(about[0], choice, about[1], about[2], nowMs),
      {
        ...this.options,
        definition: this.choice.definition,
        parameters: this.parameters,
        originMs: Math.min(originMs, ...begunMs),
        epochMs: this.#epochMs,
        limits: { maxRows, memoryBytes: part.memoryBytes - pausedBytes },
        resources: this.jobs.kinds(elsewhere),
        known: records.length + this.#book.liveCount,
        rows: own,
        nowMs,
      },
    );
  }

  #noteStarts(decision: Decision): Outcome {
    for (const { job } of decision.starts) this.#known.delete(job);
    const driver = this.#driver!;
    this.#layout = { rows: driver.layout(), slot: driver.layoutSlot() };
    if (driver instanceof PartDrivers && driver.isSpent) this.invalidate("a job has started on a part");
    return decision;
  }

  /** Number of processors that the job gets, under the current policy or another one. */
  sizeOf = (job: Pick<JobRecord, "tasks" | "threads" | "memoryBytes">, choice = this.choice): number =>
    this.machine.sizeOf(job, choice);
}
