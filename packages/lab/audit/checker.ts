/**
 * Checks a run against the rules (AUDIT_RULES). The checker does not trust the simulator's books: from the
 * events it counts processors, waiting jobs and running jobs itself, and compares.
 *
 * A policy may catch an exception that is thrown inside its own calls. So the first violation is stored and
 * thrown again at the next event that comes from the driver itself.
 */
import { type Instance, type JobIndex, servedBefore } from "@tutti/kernel/core/jobs.ts";
import { timeFactor } from "@tutti/kernel/core/molding.ts";
import { asGiven, type Observer, type Pause, type Schedule } from "@tutti/kernel/core/schedule.ts";
import { JobSet } from "../observers.ts";
import type { QueueKey } from "../queue-keys.ts";
import { CapacityBook } from "./capacity.ts";
import { WithheldBook } from "./withheld.ts";

/** The rules of the checker, by the words that violations carry. */
export const AUDIT_RULES = {
  "unknown-job": "decisions name jobs that exist",
  "start-before-arrival": "no job starts before it has arrived",
  "started-twice": "no job starts twice",
  "processor-twice": "no processor serves two jobs at the same time",
  "resource-twice": "jobs never hold more of a resource than the machine has",
  "processor-away": "no processor is used while it is away",
  "outage-ignored": "no job is started that, by the estimates, would need processors during a known outage",
  "stopped-needlessly":
    "a job is stopped only on request or because processors go away: the most recently started job first, and no more jobs than necessary",
  stopped: "a stopped or paused job waits until it may resume",
  paused: "a paused gang leaves its rows until it is continued",
  drained: "nothing starts during a drain",
  held: "no job starts while it is held, changed or kept back by a window",
  "limit-exceeded": "the jobs of a user, a group or a queue that run at once stay within their limits",
  "time-backwards": "time never goes back",
  "wrong-arrival": "every job arrives once, in order of submission, at its submit time",
  "run-length": "a job holds its processors exactly for its run time",
  "never-started": "every job is started eventually",
  "never-ended": "every job that starts ends",
  "wrong-record": "the returned schedule is the one that was observed",
  "head-waits": "the first job in queue order never waits if it fits",
  "fitting-job-waits": "no job waits if it fits",
  "wake-in-the-past": "a policy asks only for wake-ups in the future",
  "promise-void": "only waiting jobs are promised a start, and never one in the past",
  "promise-later": "a promise to a job is never replaced by a later one",
  "promise-broken": "a job starts no later than it was last promised",
  "promise-impossible":
    "if running jobs end by their estimates, every promised job gets its processors in time",
  "head-not-reserved":
    "the first job in queue order is promised a start no later than its shadow time, and no job that passes it makes that start impossible",
  "jobs-changed": "a policy does not write to the job table",
  "not-deterministic": "two runs take the same decisions",
  "other-run": "the run whose result is printed has the schedule that was checked",
  "sees-run-times": "decisions do not depend on the run times of jobs that have not ended",
  "sees-arrivals": "decisions do not depend on jobs that have not arrived",
  "no-such-row": "only rows that exist are used",
  "row-not-empty": "only empty rows are deleted",
  "too-many-rows": "the matrix never has more rows than the policy's limit",
  "memory-exceeded": "the jobs in the matrix never need more memory on a processor than it has",
  "off-machine": "a job is placed within the machine",
  "wrong-size": "a job gets as many processors as it requests, or another number on which it can run",
  "not-idle": "no processor of a row serves two jobs",
  "torn-gang": "all processes of a job move from row to row together",
  migrated:
    "a job has the same processors in each of its rows and keeps them, unless the policy declares migration",
  "migration-cost": "a migrated job pays the service that the policy declares",
  "not-there": "a job gives back only rows that it has",
  "last-slot": "a job in the matrix keeps at least one slot per round",
  "already-ended": "a job that has ended is not placed again",
  "off-slot": "gangs start, end and move only between slots",
  service: "a job ends when it has had exactly the slots that its work needs",
  "start-time": "a job starts with its first slot",
} as const;
export type AuditRule = keyof typeof AUDIT_RULES;

/** The first violation found. */
export interface Violation {
  /** A word of AUDIT_RULES; refusals of the machine use the same words. */
  readonly rule: string;
  /** Number of the job in its source; undefined if the rule concerns no job. */
  readonly job: number | undefined;
  readonly timeS: number;
  /** A sentence with job, time and numbers. */
  readonly message: string;
}

/** How a policy is checked. */
export interface AuditOptions {
  /** Useful length of a slot in seconds; time sharing only. */
  readonly slotS: number;
  /** Seconds lost at each slot boundary while there is more than one row; time sharing only. */
  readonly switchS: number;
  /**
   * Limit on the total length of runs with another future, in instants; three such runs are always allowed.
   */
  readonly probedInstants?: number;
}

/** How often each kind of check was made. */
export interface AuditCounts {
  arrivals: number;
  starts: number;
  ends: number;
  instants: number;
  /** Decisions after which the head of the queue, or every waiting job, was tested on the free processors. */
  queueChecks: number;
  promises: number;
  /** Promises tested against the running jobs' estimates. */
  promiseChecks: number;
  /**
   * Promises so late that only an idle machine could break them: all known jobs could have run one after the
   * other by then.
   */
  emptyPromises: number;
  /** Shadow times that the checker computed and compared with the promise to the head of the queue. */
  shadowChecks: number;
  /** Decisions after which some job waited. */
  waits: number;
  /** Changes of the matrix. */
  matrixChanges: number;
  /** Slots served. */
  slots: number;
  /** Decisions compared between runs. */
  comparisons: number;
  /** Runs during which the job table shows another future at every instant. */
  maskedRuns: number;
  /** Runs with another future, two for each probed instant. */
  probes: number;
  /** Instants after which the future was changed. */
  probedInstants: number;
}

export function noCounts(): AuditCounts {
  return {
    arrivals: 0,
    starts: 0,
    ends: 0,
    instants: 0,
    queueChecks: 0,
    promises: 0,
    promiseChecks: 0,
    emptyPromises: 0,
    shadowChecks: 0,
    waits: 0,
    matrixChanges: 0,
    slots: 0,
    comparisons: 0,
    maskedRuns: 0,
    probes: 0,
    probedInstants: 0,
  };
}

/** Thrown to end a run whose violation is stored elsewhere. */
export class StopRun extends Error {
  override name = "StopRun";
}

const NOT_ARRIVED = 0;
const WAITING = 1;
const RUNNING = 2;
const STOPPED = 3;
const ENDED = 4;

/** The checks that space and time sharing share. */
export abstract class Checker implements Observer {
  violation: Violation | undefined;
  /** The instance, with the sizes that jobs were given, and their run times on them. */
  readonly instance: Instance;
  readonly counts: AuditCounts;
  readonly waiting: JobSet;
  /** Starts as observed. */
  readonly startS: Float64Array;
  readonly endS: Float64Array;
  protected nowS = Number.NEGATIVE_INFINITY;
  protected readonly capacity: CapacityBook;
  protected readonly withheld: WithheldBook;
  readonly #requested: Instance;
  /** The last instant at which decisions were made. */
  protected decidedS = Number.NEGATIVE_INFINITY;
  readonly #pauses: Pause[] = [];
  readonly #stoppedAtS = new Map<JobIndex, number>();
  readonly #state: Uint8Array;
  #arrived = 0;

  constructor(instance: Instance, counts: AuditCounts) {
    this.#requested = instance;
    const { size, runS, estimateS, demand, priority, molding, interruptions } = instance;
    const hasEdits = interruptions?.withdrawals?.some(({ change }) => change !== undefined) === true;
    this.instance =
      molding === undefined && !hasEdits
        ? instance
        : {
            ...instance,
            size: size.slice(),
            runS: runS.slice(),
            estimateS: estimateS.slice(),
            demand: demand?.map((column) => column.slice()),
            priority: priority?.slice(),
          };
    this.counts = counts;
    this.waiting = new JobSet(instance.count);
    this.startS = new Float64Array(instance.count).fill(Number.NaN);
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
    this.#state = new Uint8Array(instance.count);
    this.capacity = new CapacityBook(instance.interruptions);
    this.withheld = new WithheldBook(this.instance, {
      isInQueue: (job) => this.isInQueue(job) || !this.hasArrived(job),
      changed: (job) => this.onEdit(job),
    });
  }

  /** The checks after the run. */
  finish(schedule: Schedule): void {
    const { count } = this.instance;
    const { size, runS } = asGiven(this.#requested, schedule);
    for (let job = 0; job < count; job++) {
      if (this.#state[job] === NOT_ARRIVED)
        this.fail("wrong-arrival", job, `${this.name(job)} never arrives`);
      if (this.#state[job] === WAITING && !this.mayStay(job))
        this.fail("never-started", job, `${this.name(job)} is never started`);
      if (this.#state[job] !== ENDED && !this.mayStay(job))
        this.fail("never-ended", job, `${this.name(job)} never ends`);
      if (size[job] !== this.instance.size[job] || runS[job] !== this.instance.runS[job]) {
        const text = `${this.name(job)} is recorded with ${size[job]} processors and ${runS[job]} s, but it was given ${this.instance.size[job]} and ${this.instance.runS[job]} s`;
        this.fail("wrong-record", job, text);
      }
      if (
        !Object.is(schedule.startS[job], this.startS[job]) ||
        !Object.is(schedule.endS[job], this.endS[job])
      ) {
        const recorded = `${schedule.startS[job]} to ${schedule.endS[job]} s`;
        const observed = `${this.startS[job]} to ${this.endS[job]} s`;
        const text = `${this.name(job)} is recorded from ${recorded}, but was observed from ${observed}`;
        this.fail("wrong-record", job, text);
      }
    }
    const byRule = schedule.startsByRule.reduce((sum, starts) => sum + starts, 0);
    if (byRule !== this.counts.starts)
      this.fail(
        "wrong-record",
        undefined,
        `${byRule} starts are recorded by rule, but ${this.counts.starts} were observed`,
      );
    // At one instant, jobs are stopped before others are paused.
    const pauses = [...this.#pauses, ...this.frozen()].sort((a, b) => a.fromS - b.fromS);
    if (JSON.stringify(schedule.pauses ?? []) !== JSON.stringify(pauses))
      this.fail("wrong-record", undefined, "The recorded pauses of jobs differ from the observed ones");
  }

  arrived(timeS: number, job: JobIndex): void {
    this.onDriverEvent(timeS);
    this.counts.arrivals++;
    if (job !== this.#arrived || !this.isArrivalTime(timeS, this.instance.submitS[job])) {
      this.fail(
        "wrong-arrival",
        job,
        `${this.name(job)} arrives at ${timeS} s, but its submit time is ${this.instance.submitS[job]} s`,
      );
    }
    this.#arrived++;
    this.#join(job);
  }

  #join(job: JobIndex): void {
    this.#state[job] = WAITING;
    const others = this.waiting.members.subarray(0, this.waiting.size);
    if (this.instance.priority !== undefined && others.some((other) => this.isBefore(job, other)))
      this.onQueueChange();
    this.waiting.add(job);
  }

  abstract departed(timeS: number, job: JobIndex): void;

  molded(timeS: number, job: JobIndex, size: number): void {
    this.noteWithheld(timeS);
    const { molding, size: sizes, runS, estimateS } = this.instance;
    const canRun = molding !== undefined && size >= molding.minSize[job] && size <= molding.maxSize[job];
    if (!canRun || !this.isWaiting(job) || !Number.isNaN(this.startS[job]))
      this.fail("wrong-size", job, `${this.name(job)} is given ${size} processors at ${timeS} s`);
    const factor = timeFactor(molding.serialShare[job], sizes[job], size);
    runS[job] *= factor;
    estimateS[job] *= factor;
    sizes[job] = size;
  }

  suspended(timeS: number, job: JobIndex): void {
    this.onDriverEvent(timeS);
    if (!this.hasProcessors(job))
      this.fail("stopped-needlessly", job, `${this.name(job)} is stopped at ${timeS} s, but it does not run`);
    this.#state[job] = STOPPED;
    if (this.waiting.has(job)) this.waiting.delete(job);
    this.#stoppedAtS.set(job, timeS);
    // A gang that has had no slot has not started. One that is paused on its way back is still in its pause.
    const last = this.#pauses.findLast((pause) => pause.job === job);
    const isInPause = last !== undefined && Number.isNaN(last.untilS);
    if (!Number.isNaN(this.startS[job]) && !isInPause)
      this.#pauses.push({ job, fromS: timeS, untilS: Number.NaN });
  }

  protected abstract hasProcessors(job: JobIndex): boolean;

  /** Whether something from outside may keep the job from ever starting or ending. */
  protected mayStay(job: JobIndex): boolean {
    return this.withheld.mayStay(job);
  }

  /** What has begun or ended by now from outside takes effect. Must be called before the policy decides. */
  protected noteWithheld(timeS: number): void {
    if (this.withheld.advance(timeS)) this.onQueueChange();
  }

  /** Whether the job waits for its start and can be held or changed. */
  protected isInQueue(job: JobIndex): boolean {
    return this.isWaiting(job);
  }

  /** A waiting job has been changed. */
  protected abstract onEdit(job: JobIndex): void;

  /** Waiting jobs may have left the queue, or come back, or are served after others. */
  protected abstract onQueueChange(): void;

  /** The checks of a job that gets processors now. */
  protected checkMayStart(timeS: number, job: JobIndex): void {
    const starts = `${this.name(job)} starts at ${timeS} s`;
    if (this.withheld.isDrained(timeS)) this.fail("drained", job, `${starts}, during a drain`);
    if (this.withheld.isHeld(job, timeS)) this.fail("held", job, `${starts}, while it is kept from starting`);
    const limit = this.withheld.start(job);
    if (limit !== undefined)
      this.fail("limit-exceeded", job, `${starts}, which exceeds the limit on ${limit}`);
  }

  /** The pauses during which jobs kept their processors. */
  protected frozen(): readonly Pause[] {
    return [];
  }

  resumed(timeS: number, job: JobIndex): void {
    this.onDriverEvent(timeS);
    const isStopped = this.#state[job] === STOPPED;
    if (!isStopped || !this.isDue(job, timeS))
      this.fail("stopped", job, `${this.name(job)} waits again at ${timeS} s, which is too early`);
    this.#join(job);
  }

  /** Whether a stopped job may wait again. */
  protected isDue(job: JobIndex, timeS: number): boolean {
    return this.#stoppedAtS.get(job) === timeS || this.capacity.isResumed(job, this.decidedS, timeS);
  }

  /** The job resumes. */
  protected noteRestart(timeS: number, job: JobIndex): void {
    this.#state[job] = RUNNING;
    this.waiting.delete(job);
    this.#pauses.findLast((pause) => pause.job === job)!.untilS = timeS;
  }

  /** The checks of a start that every kind of sharing needs; `timeS` is not before now. */
  protected noteStart(timeS: number, job: JobIndex): void {
    this.counts.starts++;
    const state = this.#state[job];
    if (state === NOT_ARRIVED || state === undefined) {
      this.fail("start-before-arrival", job, `${this.name(job)} starts at ${timeS} s, before it has arrived`);
    }
    if (state === STOPPED)
      this.fail("stopped", job, `${this.name(job)} starts at ${timeS} s, but it is stopped`);
    if (state !== WAITING) {
      this.fail(
        "started-twice",
        job,
        `${this.name(job)} starts at ${timeS} s, but it has started before, at ${this.startS[job]} s`,
      );
    }
    if (!Number.isNaN(this.startS[job])) {
      this.noteRestart(timeS, job);
      return;
    }
    this.#state[job] = RUNNING;
    this.startS[job] = timeS;
    this.waiting.delete(job);
  }

  protected noteEnd(timeS: number, job: JobIndex): void {
    this.counts.ends++;
    if (this.#state[job] !== RUNNING)
      this.fail("run-length", job, `${this.name(job)} ends at ${timeS} s, but it does not run`);
    this.#state[job] = ENDED;
    this.endS[job] = timeS;
  }

  protected hasArrived(job: JobIndex): boolean {
    return this.#state[job] !== NOT_ARRIVED && this.#state[job] !== undefined;
  }

  protected isWaiting(job: JobIndex): boolean {
    return this.#state[job] === WAITING;
  }

  /** Whether a is served before b if the queue order does not distinguish them. */
  protected isBefore(a: JobIndex, b: JobIndex): boolean {
    return servedBefore(this.instance.priority, a, b);
  }

  /**
   * The first of the waiting jobs for which `counts` holds, in queue order; −1 if there is none.
   * @param known the jobs as policies know them
   */
  protected firstWaiting(
    orderKey: QueueKey,
    timeS: number,
    counts: (job: JobIndex) => boolean,
    known = this.instance,
  ): JobIndex {
    let head = -1;
    let headKey = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (!counts(job)) continue;
      const key = orderKey(known, job, timeS);
      if (head >= 0 && !(key < headKey || (key === headKey && this.isBefore(job, head)))) continue;
      head = job;
      headKey = key;
    }
    return head;
  }

  protected abstract isArrivalTime(timeS: number, submitS: number): boolean;

  /** Must be called first by every event that comes from the driver itself, outside the policy's calls. */
  protected onDriverEvent(timeS: number): void {
    if (this.violation !== undefined) throw new StopRun(this.violation.message);
    if (!(timeS >= this.nowS))
      this.fail("time-backwards", undefined, `At ${this.nowS} s there is an event for ${timeS} s`);
    this.nowS = timeS;
  }

  protected name(job: JobIndex): string {
    return `Job ${this.instance.id[job]}`;
  }

  /** Stores the first violation and ends the run. */
  protected fail(rule: AuditRule, job: JobIndex | undefined, message: string): never {
    this.violation ??= {
      rule,
      job: job === undefined ? undefined : this.instance.id[job],
      timeS: this.nowS,
      message,
    };
    throw new StopRun(message);
  }
}
