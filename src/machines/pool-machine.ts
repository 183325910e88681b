/**
 * The machine of space sharing, whatever its clock: processors, each given to one job at a time until the job ends. It refuses wrong
 * decisions and counts what is free. What is left to a clock (simulator/pool.ts in virtual time, daemon/scheduling/live-pool.ts in real time): when
 * jobs arrive and end, which processors they get, and when the policy is woken.
 */
import { RuleViolation } from "../core/errors.ts";
import type { JobIndex, ReadonlyColumn } from "../core/jobs.ts";
import { type Pool, START_RULE_NAMES, StartRule } from "../core/policy.ts";
import type { Observer } from "../core/schedule.ts";
import { Arrivals } from "./arrivals.ts";

/** What has become of a job, by its row of the table. */
const Stage = { unknown: 0, waiting: 1, started: 2 } as const;

export abstract class PoolMachine implements Pool {
  readonly processors: number;
  free: number;
  nowS = 0;
  /** Start of each job, in seconds; NaN before. */
  readonly startS: Float64Array;
  readonly startsByRule: number[] = new Array(START_RULE_NAMES.length).fill(0);
  protected readonly observer: Observer | undefined;
  readonly #size: ReadonlyColumn;
  readonly #stage: Uint8Array;
  readonly #arrivals = new Arrivals();

  /** @param size processors of each job, by its row of the table */
  constructor(processors: number, size: ReadonlyColumn, observer: Observer | undefined) {
    this.processors = processors;
    this.free = processors;
    this.observer = observer;
    this.#size = size;
    this.#stage = new Uint8Array(size.length);
    this.startS = new Float64Array(size.length).fill(Number.NaN);
  }

  // What a clock provides.

  /** The job has its processors from now on. */
  protected abstract onStart(job: JobIndex, rule: StartRule): void;

  abstract wakeAt(timeS: number): void;

  /** How messages name a job; here by its row in the table. */
  protected jobName(job: JobIndex): string {
    return `row ${job}`;
  }

  // What a clock calls.

  protected enter(job: JobIndex): void {
    this.#stage[job] = Stage.waiting;
    this.#arrivals.add(job);
    if (this.observer?.arrived !== undefined) this.observer.arrived(this.nowS, job);
  }

  /** The job is not to be started any more. */
  protected forget(job: JobIndex): void {
    this.#stage[job] = Stage.unknown;
  }

  /** The job has run since an earlier instant. */
  protected resumeFrom(job: JobIndex, startS: number): void {
    this.#stage[job] = Stage.started;
    this.startS[job] = startS;
    this.free -= this.#size[job];
  }

  /** The jobs that have arrived since they were asked for last. */
  protected takeArrivals(): readonly JobIndex[] {
    return this.#arrivals.take();
  }

  /** Takes back the processors of a job that has ended. */
  protected leave(job: JobIndex): void {
    this.free += this.#size[job];
    if (this.observer?.departed !== undefined) this.observer.departed(this.nowS, job);
  }

  // What the policy calls.

  start(job: JobIndex, rule: StartRule = StartRule.other): void {
    const size = this.#size[job];
    if (!(this.#stage[job] === Stage.waiting && size <= this.free)) this.#refuse(job);
    if (!Number.isInteger(rule) || this.startsByRule[rule] === undefined) this.#refuseRule(job, rule);
    this.free -= size;
    this.#stage[job] = Stage.started;
    this.startS[job] = this.nowS;
    this.startsByRule[rule]++;
    this.onStart(job, rule);
    if (this.observer?.started !== undefined) this.observer.started(this.nowS, job, rule);
  }

  promise(job: JobIndex, startS: number): void {
    if (this.observer?.promised !== undefined) this.observer.promised(this.nowS, job, startS);
  }

  #refuseRule(job: JobIndex, rule: number): never {
    throw this.violation(
      "unknown-rule",
      job,
      `Cannot start job ${this.jobName(job)} by rule ${String(rule)}: expected a number from 0 to ${START_RULE_NAMES.length - 1}`,
    );
  }

  #refuse(job: JobIndex): never {
    const jobs = this.#size.length;
    if (!(Number.isInteger(job) && job >= 0 && job < jobs)) {
      throw this.violation(
        "unknown-job",
        job,
        `Cannot start job row ${job}: expected a row from 0 to ${jobs - 1}`,
      );
    }
    const what = `Cannot start job ${this.jobName(job)} at ${this.nowS} s`;
    if (this.#stage[job] === Stage.unknown) {
      throw this.violation("start-before-arrival", job, `${what}: it has not arrived`);
    }
    if (this.#stage[job] === Stage.started) {
      throw this.violation("started-twice", job, `${what}: it started at ${this.startS[job]} s`);
    }
    throw this.violation(
      "processor-twice",
      job,
      `${what}: it needs ${this.#size[job]} processors, ${this.free} are free`,
    );
  }

  protected violation(rule: string, job: JobIndex, message: string): RuleViolation {
    return new RuleViolation(rule, job, this.nowS, message);
  }
}
