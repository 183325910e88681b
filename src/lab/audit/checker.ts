/**
 * The checker's own books. It believes nothing that the simulator keeps: it is told events, counts processors, waiting and running
 * jobs itself, and compares. What a rule word means stands in AUDIT_RULES.
 *
 * A policy may catch what is thrown inside its own calls, so the first violation is kept, and thrown again at the next event
 * that the driver itself tells.
 */
import type { Instance, JobIndex } from "../../core/jobs.ts";
import type { Guarantees, ParameterValues } from "../../core/policy.ts";
import type { Observer, Schedule } from "../../core/schedule.ts";
import { JobSet } from "../observers.ts";
import { knowsOrder, type QueueKey, queueKey } from "../queue-keys.ts";

/** The rules of the checker by the words that violations carry. */
export const AUDIT_RULES = {
  "unknown-job": "decisions name jobs that exist",
  "start-before-arrival": "no job starts before it has arrived",
  "started-twice": "no job starts twice",
  "processor-twice": "no processor is given to two jobs at a time",
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
  "wrong-size": "a job is placed on as many processors as it asks for",
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
const ENDED = 3;

/** What holds for space and time sharing alike. */
export abstract class Checker implements Observer {
  violation: Violation | undefined;
  readonly instance: Instance;
  readonly counts: AuditCounts;
  readonly waiting: JobSet;
  /** Start as observed. */
  readonly startS: Float64Array;
  readonly endS: Float64Array;
  protected nowS = Number.NEGATIVE_INFINITY;
  readonly #state: Uint8Array;
  #arrived = 0;

  constructor(instance: Instance, counts: AuditCounts) {
    this.instance = instance;
    this.counts = counts;
    this.waiting = new JobSet(instance.count);
    this.startS = new Float64Array(instance.count).fill(Number.NaN);
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
    this.#state = new Uint8Array(instance.count);
  }

  /** The checks once the run is over. */
  finish(schedule: Schedule): void {
    const { count } = this.instance;
    for (let job = 0; job < count; job++) {
      if (this.#state[job] === NOT_ARRIVED)
        this.fail("wrong-arrival", job, `${this.name(job)} never arrives`);
      if (this.#state[job] === WAITING) this.fail("never-started", job, `${this.name(job)} is never started`);
      if (this.#state[job] === RUNNING) this.fail("never-ended", job, `${this.name(job)} never ends`);
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
    if (byRule !== count)
      this.fail("wrong-record", undefined, `${byRule} starts are recorded by rule, ${count} were observed`);
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

  /** A start as far as it concerns every kind of sharing; `timeS` is not before the present. */
  protected noteStart(timeS: number, job: JobIndex): void {
    this.counts.starts++;
    const state = this.#state[job];
    if (state === NOT_ARRIVED || state === undefined) {
      this.fail("start-before-arrival", job, `${this.name(job)} starts at ${timeS} s, before it has arrived`);
    }
    if (state !== WAITING) {
      this.fail(
        "started-twice",
        job,
        `${this.name(job)} starts at ${timeS} s, it started before at ${this.startS[job]} s`,
      );
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

/** Space sharing: processors are counted, each job holds its own from start to end. */
export class SpaceChecker extends Checker {
  readonly #guarantees: Guarantees;
  readonly #orderKey: QueueKey;
  readonly #checksHead: boolean;
  #free: number;
  readonly #promisedS: Float64Array;
  /** Running jobs by the ends that their estimates tell. */
  readonly #running: JobIndex[] = [];
  readonly #expectedEndS: Float64Array;
  /** Waiting jobs that hold a promise. */
  readonly #promised: JobSet;
  /** Whether a start or a promise has been seen since the last decision. */
  #hasDecided = false;
  #busyUntil = new Float64Array(64);

  constructor(instance: Instance, counts: AuditCounts, guarantees: Guarantees, parameters: ParameterValues) {
    super(instance, counts);
    this.#guarantees = guarantees;
    this.#orderKey = queueKey(parameters);
    this.#checksHead = guarantees.headNeverFits && knowsOrder(parameters);
    this.#free = instance.processors;
    this.#promisedS = new Float64Array(instance.count).fill(Number.NaN);
    this.#expectedEndS = new Float64Array(instance.count);
    this.#promised = new JobSet(instance.count);
  }

  started(timeS: number, job: JobIndex): void {
    // A policy may have asked to be woken: then its decision is the first to be told of the instant.
    if (!(timeS >= this.nowS)) {
      this.fail("time-backwards", job, `${this.name(job)} starts at ${timeS} s, at ${this.nowS} s`);
    }
    this.nowS = timeS;
    this.noteStart(timeS, job);
    const size = this.instance.size[job];
    if (size > this.#free) {
      this.fail(
        "processor-twice",
        job,
        `${this.name(job)} starts at ${timeS} s on ${size} processors, ${this.#free} are free`,
      );
    }
    this.#free -= size;
    this.#hasDecided = true;
    this.#expectedEndS[job] = timeS + this.instance.estimateS[job];
    this.#running.splice(this.#runningBy(this.#expectedEndS[job]), 0, job);
    if (!this.#promised.has(job)) return;
    this.#promised.delete(job);
    if (this.#guarantees.keepsPromises && timeS > this.#promisedS[job]) {
      this.fail(
        "promise-broken",
        job,
        `${this.name(job)} starts at ${timeS} s, it was promised ${this.#promisedS[job]} s`,
      );
    }
  }

  departed(timeS: number, job: JobIndex): void {
    this.driverTells(timeS);
    this.noteEnd(timeS, job);
    const dueS = this.startS[job] + this.instance.runS[job];
    if (timeS !== dueS)
      this.fail(
        "run-length",
        job,
        `${this.name(job)} ends at ${timeS} s, by its run time it ends at ${dueS} s`,
      );
    this.#free += this.instance.size[job];
    let at = this.#runningBy(this.#expectedEndS[job]) - 1;
    while (this.#running[at] !== job) at--;
    this.#running.splice(at, 1);
  }

  promised(timeS: number, job: JobIndex, startS: number): void {
    this.counts.promises++;
    this.#hasDecided = true;
    if (!this.isWaiting(job) || !(startS >= timeS)) {
      this.fail("promise-void", job, `${this.name(job)} is promised a start at ${startS} s, at ${timeS} s`);
    }
    if (this.#guarantees.keepsPromises && startS > this.#promisedS[job]) {
      const text = `${this.name(job)} is promised a start at ${startS} s, before it was promised ${this.#promisedS[job]} s`;
      this.fail("promise-later", job, text);
    }
    this.#promisedS[job] = startS;
    if (!this.#promised.has(job)) this.#promised.add(job);
  }

  decided(timeS: number): void {
    this.driverTells(timeS);
    this.counts.instants++;
    if (this.#guarantees.workConserving || this.#checksHead) this.#checkQueue(timeS);
    if (this.#hasDecided && this.#guarantees.keepsPromises && this.#promised.size > 0)
      this.#checkPromises(timeS);
    this.#hasDecided = false;
  }

  protected isArrivalTime(timeS: number, submitS: number): boolean {
    return timeS === submitS;
  }

  #checkQueue(timeS: number): void {
    this.counts.queueChecks++;
    if (this.#free === 0) return;
    const { size } = this.instance;
    let head = -1;
    let headKey = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (this.#checksHead) {
        const key = this.#orderKey(this.instance, job, timeS);
        if (head < 0 || key < headKey || (key === headKey && job < head)) {
          head = job;
          headKey = key;
        }
      }
    }
    const fits = (job: JobIndex) => `it needs ${size[job]} processors and ${this.#free} are free`;
    if (head >= 0 && size[head] <= this.#free) {
      this.fail(
        "head-waits",
        head,
        `${this.name(head)} is first in the queue and waits at ${timeS} s: ${fits(head)}`,
      );
    }
    if (!this.#guarantees.workConserving) return;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (size[job] > this.#free) continue;
      this.fail("fitting-job-waits", job, `${this.name(job)} waits at ${timeS} s: ${fits(job)}`);
    }
  }

  /** If every running job runs as long as its estimate, is there room for each promised job when its time has come? */
  #checkPromises(timeS: number): void {
    const { size, processors } = this.instance;
    const running = this.#running;
    if (this.#busyUntil.length <= running.length) this.#busyUntil = new Float64Array(2 * running.length);
    // Processors still busy once the first i running jobs have ended.
    const busy = this.#busyUntil;
    busy[running.length] = 0;
    for (let i = running.length - 1; i >= 0; i--) busy[i] = busy[i + 1] + size[running[i]];
    for (let i = 0; i < this.#promised.size; i++) {
      const job = this.#promised.members[i];
      this.counts.promiseChecks++;
      const free = processors - busy[this.#runningBy(this.#promisedS[job])];
      if (size[job] <= free) continue;
      const text = `${this.name(job)} was promised a start at ${this.#promisedS[job]} s; after the decision at ${timeS} s the running jobs' estimates leave ${free} of its ${size[job]} processors then`;
      this.fail("promise-impossible", job, text);
    }
  }

  /** Number of running jobs that by their estimates end at or before the time. */
  #runningBy(timeS: number): number {
    let low = 0;
    let high = this.#running.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#expectedEndS[this.#running[middle]] <= timeS) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
