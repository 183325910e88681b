/**
 * The checker's own books. It believes nothing that the simulator keeps: it is told events, counts processors, waiting and running
 * jobs itself, and compares. What a rule word means stands in AUDIT_RULES.
 *
 * A policy may catch what is thrown inside its own calls, so the first violation is kept, and thrown again at the next event
 * that the driver itself tells.
 */
import type { Instance, JobIndex } from "../../core/jobs.ts";
import { timeFactor } from "../../core/molding.ts";
import { asGiven, type Observer, type Pause, type Schedule } from "../../core/schedule.ts";
import { JobSet } from "../observers.ts";
import type { QueueKey } from "../queue-keys.ts";
import { CapacityBook } from "./capacity.ts";

/** The rules of the checker by the words that violations carry. */
export const AUDIT_RULES = {
  "unknown-job": "decisions name jobs that exist",
  "start-before-arrival": "no job starts before it has arrived",
  "started-twice": "no job starts twice",
  "processor-twice": "no processor is given to two jobs at a time",
  "resource-twice": "no resource is given to more jobs than there are of it",
  "processor-away": "no processor is used while it is away",
  "outage-ignored": "no start needs, by the estimates, processors that are known to be away by then",
  "stopped-needlessly":
    "a job is stopped when that is asked for, or for processors that go: those first that started last, and no more than it takes",
  stopped: "a job that is stopped waits until it may go on",
  "time-backwards": "time never goes back",
  "wrong-arrival": "every job arrives once, in order of submission, at its submit time",
  "run-length": "a job holds its processors for exactly its run time",
  "never-started": "every job is started in the end",
  "never-ended": "every job that starts ends",
  "wrong-record": "the schedule handed out is the one observed",
  "head-waits": "the first job in queue order never waits while it fits",
  "fitting-job-waits": "no job waits while it fits",
  "wake-in-the-past": "a policy asks to be woken later, not now or earlier",
  "promise-void": "promises are made to waiting jobs, for the present or later",
  "promise-later": "a promise to a job is never replaced by a later one",
  "promise-broken": "a job starts no later than it was last promised",
  "promise-impossible":
    "running jobs, ending by their estimates, leave every promised job its processors in time",
  "jobs-changed": "a policy does not write into the job table",
  "not-deterministic": "two runs take the same decisions",
  "sees-run-times": "decisions do not depend on run times that have not come to their end",
  "sees-arrivals": "decisions do not depend on jobs that have not arrived",
  "no-such-row": "rows are used while they exist",
  "row-not-empty": "only empty rows are deleted",
  "too-many-rows": "the matrix never has more rows than the policy is limited to",
  "memory-exceeded": "the jobs in the matrix never need more memory on a processor than it has",
  "off-machine": "a job is placed within the machine",
  "wrong-size": "a job has as many processors as it asks for, or another size on which it can run",
  "not-idle": "no processor of a row is given to two jobs",
  "torn-gang": "all processes of a job move from row to row together",
  migrated:
    "a job has the same processors in each of its rows, and keeps them unless the policy declares that it moves gangs",
  "migration-cost": "a job that is moved to other processors pays the service that the policy declares",
  "not-there": "a job gives back rows that it has",
  "last-slot": "a job in the matrix keeps at least one slot per round",
  "already-ended": "a job that has ended is not placed again",
  "off-slot": "gangs start, end and move between slots only",
  service: "a job has had exactly its slots of work when it ends",
  "start-time": "a job starts with its first slot",
} as const;
export type AuditRule = keyof typeof AUDIT_RULES;

/** The first violation found. */
export interface Violation {
  /** A word of AUDIT_RULES; the machine's refusals carry the same words. */
  readonly rule: string;
  /** Number of the job in its source; undefined when the rule concerns no job. */
  readonly job: number | undefined;
  readonly timeS: number;
  /** A sentence with job, time and numbers. */
  readonly message: string;
}

/** How often each kind of check was made. */
export interface AuditCounts {
  arrivals: number;
  starts: number;
  ends: number;
  instants: number;
  /** Decisions after which the head of the queue, or every waiting job, was tried on the free processors. */
  queueChecks: number;
  promises: number;
  /** Promises tried against the running jobs' estimates. */
  promiseChecks: number;
  /** Changes of the matrix. */
  matrixChanges: number;
  /** Slots served. */
  slots: number;
  /** Decisions compared between runs. */
  comparisons: number;
  /** Runs with another future, two for each instant probed. */
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
    matrixChanges: 0,
    slots: 0,
    comparisons: 0,
    probes: 0,
    probedInstants: 0,
  };
}

/** Thrown to end a run whose violation is kept elsewhere. */
export class StopRun extends Error {
  override name = "StopRun";
}

const NOT_ARRIVED = 0;
const WAITING = 1;
const RUNNING = 2;
const STOPPED = 3;
const ENDED = 4;

/** What holds for space and time sharing alike. */
export abstract class Checker implements Observer {
  violation: Violation | undefined;
  /** With the sizes that jobs have been given, and their times on them. */
  readonly instance: Instance;
  readonly counts: AuditCounts;
  readonly waiting: JobSet;
  /** Start as observed. */
  readonly startS: Float64Array;
  readonly endS: Float64Array;
  protected nowS = Number.NEGATIVE_INFINITY;
  protected readonly capacity: CapacityBook;
  readonly #asked: Instance;
  /** The last instant that has been decided. */
  protected decidedS = Number.NEGATIVE_INFINITY;
  readonly #pauses: Pause[] = [];
  readonly #stoppedAtS = new Map<JobIndex, number>();
  readonly #state: Uint8Array;
  #arrived = 0;

  constructor(instance: Instance, counts: AuditCounts) {
    this.#asked = instance;
    const { size, runS, estimateS } = instance;
    this.instance =
      instance.molding === undefined
        ? instance
        : { ...instance, size: size.slice(), runS: runS.slice(), estimateS: estimateS.slice() };
    this.counts = counts;
    this.waiting = new JobSet(instance.count);
    this.startS = new Float64Array(instance.count).fill(Number.NaN);
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
    this.#state = new Uint8Array(instance.count);
    this.capacity = new CapacityBook(instance.interruptions);
  }

  /** The checks once the run is over. */
  finish(schedule: Schedule): void {
    const { count } = this.instance;
    const { size, runS } = asGiven(this.#asked, schedule);
    for (let job = 0; job < count; job++) {
      if (this.#state[job] === NOT_ARRIVED)
        this.fail("wrong-arrival", job, `${this.name(job)} never arrives`);
      if (this.#state[job] === WAITING) this.fail("never-started", job, `${this.name(job)} is never started`);
      if (this.#state[job] !== ENDED) this.fail("never-ended", job, `${this.name(job)} never ends`);
      if (size[job] !== this.instance.size[job] || runS[job] !== this.instance.runS[job]) {
        const text = `${this.name(job)} is recorded with ${size[job]} processors and ${runS[job]} s, it was given ${this.instance.size[job]} and ${this.instance.runS[job]} s`;
        this.fail("wrong-record", job, text);
      }
      if (schedule.startS[job] !== this.startS[job] || schedule.endS[job] !== this.endS[job]) {
        const recorded = `${schedule.startS[job]} to ${schedule.endS[job]} s`;
        const observed = `${this.startS[job]} to ${this.endS[job]} s`;
        this.fail(
          "wrong-record",
          job,
          `${this.name(job)} is recorded from ${recorded}, observed from ${observed}`,
        );
      }
    }
    const byRule = schedule.startsByRule.reduce((sum, starts) => sum + starts, 0);
    if (byRule !== this.counts.starts)
      this.fail(
        "wrong-record",
        undefined,
        `${byRule} starts are recorded by rule, ${this.counts.starts} were observed`,
      );
    if (JSON.stringify(schedule.pauses ?? []) !== JSON.stringify(this.#pauses))
      this.fail("wrong-record", undefined, "The pauses of jobs are recorded otherwise than observed");
  }

  arrived(timeS: number, job: JobIndex): void {
    this.driverTells(timeS);
    this.counts.arrivals++;
    if (job !== this.#arrived || !this.isArrivalTime(timeS, this.instance.submitS[job])) {
      this.fail(
        "wrong-arrival",
        job,
        `${this.name(job)} arrives at ${timeS} s, its submit time is ${this.instance.submitS[job]} s`,
      );
    }
    this.#arrived++;
    this.#state[job] = WAITING;
    this.waiting.add(job);
  }

  abstract departed(timeS: number, job: JobIndex): void;

  molded(timeS: number, job: JobIndex, size: number): void {
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
    this.driverTells(timeS);
    if (!this.hasProcessors(job))
      this.fail("stopped-needlessly", job, `${this.name(job)} is stopped at ${timeS} s, it does not run`);
    this.#state[job] = STOPPED;
    if (this.waiting.has(job)) this.waiting.delete(job);
    this.#stoppedAtS.set(job, timeS);
    // A gang that has had no slot has not started.
    if (!Number.isNaN(this.startS[job])) this.#pauses.push({ job, fromS: timeS, untilS: Number.NaN });
  }

  protected abstract hasProcessors(job: JobIndex): boolean;

  resumed(timeS: number, job: JobIndex): void {
    this.driverTells(timeS);
    const isStopped = this.#state[job] === STOPPED;
    const isDue = this.#stoppedAtS.get(job) === timeS || this.capacity.isResumed(job, this.decidedS, timeS);
    if (!isStopped || !isDue)
      this.fail("stopped", job, `${this.name(job)} waits anew at ${timeS} s, too early`);
    this.#state[job] = WAITING;
    this.waiting.add(job);
  }

  /** The job goes on. */
  protected noteRestart(timeS: number, job: JobIndex): void {
    this.#state[job] = RUNNING;
    this.waiting.delete(job);
    this.#pauses.findLast((pause) => pause.job === job)!.untilS = timeS;
  }

  /** A start as far as it concerns every kind of sharing; `timeS` is not before the present. */
  protected noteStart(timeS: number, job: JobIndex): void {
    this.counts.starts++;
    const state = this.#state[job];
    if (state === NOT_ARRIVED || state === undefined) {
      this.fail("start-before-arrival", job, `${this.name(job)} starts at ${timeS} s, before it has arrived`);
    }
    if (state === STOPPED) this.fail("stopped", job, `${this.name(job)} starts at ${timeS} s, it is stopped`);
    if (state !== WAITING) {
      this.fail(
        "started-twice",
        job,
        `${this.name(job)} starts at ${timeS} s, it started before at ${this.startS[job]} s`,
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
      this.fail("run-length", job, `${this.name(job)} ends at ${timeS} s, it does not run`);
    this.#state[job] = ENDED;
    this.endS[job] = timeS;
  }

  protected hasArrived(job: JobIndex): boolean {
    return this.#state[job] !== NOT_ARRIVED && this.#state[job] !== undefined;
  }

  protected isWaiting(job: JobIndex): boolean {
    return this.#state[job] === WAITING;
  }

  /** The first of the waiting jobs that count, in queue order; −1 for none. @param told the jobs as policies know them */
  protected firstWaiting(
    orderKey: QueueKey,
    timeS: number,
    counts: (job: JobIndex) => boolean,
    told = this.instance,
  ): JobIndex {
    let head = -1;
    let headKey = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (!counts(job)) continue;
      const key = orderKey(told, job, timeS);
      if (head >= 0 && !(key < headKey || (key === headKey && job < head))) continue;
      head = job;
      headKey = key;
    }
    return head;
  }

  protected abstract isArrivalTime(timeS: number, submitS: number): boolean;

  /** To be called first by every event that the driver itself tells, outside the policy's calls. */
  protected driverTells(timeS: number): void {
    if (this.violation !== undefined) throw new StopRun(this.violation.message);
    if (!(timeS >= this.nowS))
      this.fail("time-backwards", undefined, `At ${this.nowS} s an event of ${timeS} s is told`);
    this.nowS = timeS;
  }

  protected name(job: JobIndex): string {
    return `Job ${this.instance.id[job]}`;
  }

  /** Keeps the first violation and ends the run. */
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
