/**
 * Implements the machine of space sharing: every processor serves one job until that job ends. The machine
 * refuses wrong decisions and counts what is free. It has no clock of its own. A subclass with a clock
 * (simulator/pool.ts in virtual time, daemon/scheduling/live-pool.ts in real time) determines when jobs
 * arrive and end, which processors they get, and when the policy is woken.
 */
import { RuleViolation } from "../core/errors.ts";
import type { JobChange, KnownOutage, Outage } from "../core/interruptions.ts";
import type { JobIndex } from "../core/jobs.ts";
import { type Pool, START_RULE_NAMES, StartRule } from "../core/policy.ts";
import type { ResourceKind } from "../core/resources.ts";
import type { Observer } from "../core/schedule.ts";
import { Arrivals } from "./arrivals.ts";
import { type Interruptible, KnownOutages, Pauses } from "./interruptions.ts";
import { Sizes } from "./sizes.ts";
import { type MachineFeatures, Stock } from "./stock.ts";
import { Withholder } from "./withdrawals.ts";

/** The state of a job, by its row in the job table. */
const Stage = { unknown: 0, waiting: 1, started: 2, stopped: 3, ended: 4 } as const;

export abstract class PoolMachine implements Pool, Interruptible {
  readonly processors: number;
  free: number;
  nowS = 0;
  /** Start of each job, in seconds; NaN before that. */
  readonly startS: Float64Array;
  readonly startsByRule: number[] = new Array(START_RULE_NAMES.length).fill(0);
  readonly pauses = new Pauses();
  outages: readonly KnownOutage[] = [];
  protected readonly observer: Observer | undefined;
  readonly #size: Int32Array;
  readonly #sizes: Sizes;
  readonly #stage: Uint8Array;
  readonly #arrivals = new Arrivals();
  readonly withholder: Withholder;
  readonly #known = new KnownOutages();

  readonly resources: readonly ResourceKind[];
  /** Undefined if there are no resources. */
  readonly #stock: Stock | undefined;

  /** @param size processors of each job, by its row in the table. Written to when a job gets another size. */
  constructor(
    processors: number,
    size: Int32Array,
    observer: Observer | undefined,
    { resources = [], demand = [], molding, limits, priority }: MachineFeatures = {},
  ) {
    this.processors = processors;
    this.free = processors;
    this.observer = observer;
    this.#size = size;
    this.#sizes = new Sizes(size, molding);
    this.resources = resources;
    this.#stock = resources.length > 0 ? new Stock(resources, demand) : undefined;
    const stage = new Uint8Array(size.length);
    this.#stage = stage;
    this.withholder = new Withholder(
      {
        count: size.length,
        isWaiting: (job) => stage[job] === Stage.waiting,
        isUnknown: (job) => stage[job] === Stage.unknown,
        hasStarted: (job) => !Number.isNaN(this.startS[job]),
        setWaiting: (job, isWaiting) => {
          stage[job] = isWaiting ? Stage.waiting : Stage.stopped;
        },
        change: (job, change) => {
          if (change.size !== undefined) size[job] = change.size;
          this.onChange(job, change);
        },
      },
      this.#arrivals,
      limits,
      priority !== undefined,
    );
    this.startS = new Float64Array(size.length).fill(Number.NaN);
  }

  // What a clock provides.

  /** The job has its processors from now on. */
  protected abstract onStart(job: JobIndex, rule: StartRule): void;

  /** The job has lost its processors, though it has not ended. */
  protected abstract onSuspend(job: JobIndex): void;

  /** The job has been changed while it waits; its size is already the new one. */
  protected onChange(_job: JobIndex, _change: JobChange): void {}

  /** The job has got another size and takes `factor` times as long. */
  protected onMold(_job: JobIndex, _factor: number): void {}

  abstract wakeAt(timeS: number): void;

  /** The name of a job in messages: its row in the table, unless a subclass knows better. */
  protected jobName(job: JobIndex): string {
    return `row ${job}`;
  }

  // What a clock calls.

  protected enter(job: JobIndex): void {
    if (this.observer?.arrived !== undefined) this.observer.arrived(this.nowS, job);
    this.withholder.wait(job);
  }

  /** The job can no longer be started. */
  protected forget(job: JobIndex): void {
    this.#stage[job] = Stage.unknown;
  }

  /** The job has been running since an earlier instant. */
  protected resumeFrom(job: JobIndex, startS: number): void {
    this.#stage[job] = Stage.started;
    this.startS[job] = startS;
    this.free -= this.#size[job];
    this.#stock?.take(job);
  }

  /** The jobs that have arrived since the last call. */
  protected takeArrivals(): readonly JobIndex[] {
    return this.#arrivals.take();
  }

  /** Takes back the processors of a job that has ended. */
  protected leave(job: JobIndex): void {
    this.#giveBack(job);
    this.#stage[job] = Stage.ended;
    if (this.observer?.departed !== undefined) this.observer.departed(this.nowS, job);
  }

  announce(outage: Outage): void {
    this.outages = this.#known.add(outage, outage.untilS);
  }

  lose(outage: Outage): readonly JobIndex[] {
    if (outage.announcedS === undefined) this.outages = this.#known.add(outage, Number.POSITIVE_INFINITY);
    const stopped = this.standingOn(outage);
    for (const job of stopped) this.suspend(job);
    this.free -= outage.processors;
    return stopped;
  }

  regain(outage: Outage): void {
    this.outages = this.#known.remove(outage);
    this.free += outage.processors;
  }

  suspend(job: JobIndex): boolean {
    if (this.#stage[job] !== Stage.started) return false;
    this.#stage[job] = Stage.stopped;
    this.#giveBack(job);
    this.pauses.begin(job, this.nowS);
    this.onSuspend(job);
    this.observer?.suspended?.(this.nowS, job);
    return true;
  }

  resume(job: JobIndex): void {
    this.withholder.wait(job);
    this.observer?.resumed?.(this.nowS, job);
  }

  protected runningJobs(): JobIndex[] {
    const running: JobIndex[] = [];
    for (const [job, stage] of this.#stage.entries()) if (stage === Stage.started) running.push(job);
    return running;
  }

  protected isRunning(job: JobIndex): boolean {
    return this.#stage[job] === Stage.started;
  }

  /**
   * The jobs that must be stopped when processors go away. Here processors are only counted, so idle ones go
   * first, then those of the jobs that started last (ties: submitted last).
   */
  protected standingOn({ processors }: Outage): JobIndex[] {
    let missing = processors - this.free;
    if (missing <= 0) return [];
    const running = this.runningJobs();
    running.sort((a, b) => this.startS[b] - this.startS[a] || b - a);
    return running.filter((job) => {
      const isNeeded = missing > 0;
      if (isNeeded) missing -= this.#size[job];
      return isNeeded;
    });
  }

  // What the policy calls.

  fits(job: JobIndex, size = this.#size[job]): boolean {
    const isThere = this.#stage[job] === Stage.waiting && size <= this.free;
    return isThere && (this.#stock === undefined || this.#stock.lacking(job) === undefined);
  }

  start(job: JobIndex, rule: StartRule = StartRule.other, size = this.#size[job]): void {
    if (size !== this.#size[job]) this.#checkSize(job, size);
    if (!this.fits(job, size)) this.#refuse(job, size);
    if (!Number.isInteger(rule) || this.startsByRule[rule] === undefined) this.#refuseRule(job, rule);
    if (size !== this.#size[job]) this.#mold(job, size);
    this.free -= size;
    this.#stock?.take(job);
    this.#stage[job] = Stage.started;
    if (!this.pauses.hasOpen || !this.pauses.end(job, this.nowS)) this.startS[job] = this.nowS;
    this.startsByRule[rule]++;
    this.onStart(job, rule);
    if (this.observer?.started !== undefined) this.observer.started(this.nowS, job, rule);
  }

  promise(job: JobIndex, startS: number): void {
    if (this.observer?.promised !== undefined) this.observer.promised(this.nowS, job, startS);
  }

  /** A job that has not arrived is not checked here: the message must not reveal anything about it. */
  #checkSize(job: JobIndex, size: number): void {
    if (this.#stage[job] !== Stage.waiting) return;
    const expected = this.#sizes.refusal(job, size, !Number.isNaN(this.startS[job]));
    if (expected === undefined) return;
    const message = `Cannot start job ${this.jobName(job)} on ${size} processors: expected ${expected}`;
    throw this.violation("wrong-size", job, message);
  }

  #mold(job: JobIndex, size: number): void {
    this.onMold(job, this.#sizes.give(job, size));
    this.observer?.molded?.(this.nowS, job, size);
  }

  #giveBack(job: JobIndex): void {
    this.free += this.#size[job];
    this.#stock?.give(job);
  }

  #refuseRule(job: JobIndex, rule: number): never {
    throw this.violation(
      "unknown-rule",
      job,
      `Cannot start job ${this.jobName(job)} by rule ${String(rule)}: expected a number from 0 to ${START_RULE_NAMES.length - 1}`,
    );
  }

  #refuse(job: JobIndex, size: number): never {
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
    if (this.#stage[job] === Stage.stopped) throw this.violation("stopped", job, `${what}: it is stopped`);
    if (this.#stage[job] !== Stage.waiting) {
      throw this.violation("started-twice", job, `${what}: it started at ${this.startS[job]} s`);
    }
    if (!(size <= this.free)) {
      const message = `${what}: it needs ${size} processors, ${this.free} are free`;
      throw this.violation("processor-twice", job, message);
    }
    const kind = this.#stock?.lacking(job)?.name;
    throw this.violation("resource-twice", job, `${what}: it needs more of "${kind}" than is free`);
  }

  protected violation(rule: string, job: JobIndex, message: string): RuleViolation {
    return new RuleViolation(rule, job, this.nowS, message);
  }
}
