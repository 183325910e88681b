/**
 * Checks schedulers for sites: it tracks the state of every processor from the events, compares each step
 * with the rules of contract.ts and with what the policy guarantees, and throws at the first violation. It
 * shares no bookkeeping with the machine. After each decision it looks at every processor and every waiting
 * gang, so it is for tests and audits only.
 */
import { RuleViolation } from "../../core/errors.ts";
import type { JobIndex } from "../../core/jobs.ts";
import { NO_JOB } from "../../core/jobs.ts";
import type {
  ProcessorId,
  SitesGuarantees,
  SitesInstance,
  SitesObserver,
  SitesSchedule,
  SitesStartRule,
} from "./contract.ts";
import { GRID } from "./contract.ts";
import type { RemainingRule } from "./simulate.ts";

interface ProcessorState {
  readonly site: number;
  running: JobIndex;
  sinceS: number;
  /** The gang that waits here; more than one is a violation. */
  gang: JobIndex;
  readonly locals: JobIndex[];
  busyS: number;
}

interface Run {
  readonly sinceS: number;
  readonly processors: ProcessorId[];
  /** Whether the gang had claimed its processors before. */
  readonly waited: boolean;
}

export class SitesChecker implements SitesObserver {
  /** Number of steps compared; a check that compared nothing proves nothing. */
  checks = 0;
  readonly #instance: SitesInstance;
  readonly #guarantees: SitesGuarantees;
  readonly #remaining: RemainingRule;
  readonly #processors: ProcessorState[] = [];
  readonly #arrived = new Set<JobIndex>();
  /** Gangs that have arrived and have claimed no processor. */
  readonly #atGrid = new Set<JobIndex>();
  readonly #claims = new Map<JobIndex, ProcessorId[]>();
  readonly #running = new Map<JobIndex, Run>();
  readonly #ended = new Set<JobIndex>();
  /** The gang whose tasks are starting at this instant. */
  #starting: JobIndex = NO_JOB;
  /** Time and job of the latest event. */
  #lastS = 0;
  #job: JobIndex = NO_JOB;

  constructor(instance: SitesInstance, guarantees: SitesGuarantees, remaining: RemainingRule = "exact") {
    this.#instance = instance;
    this.#guarantees = guarantees;
    this.#remaining = remaining;
    for (const [site, { processors }] of instance.sites.entries()) {
      for (let i = 0; i < processors; i++) {
        this.#processors.push({ site, running: NO_JOB, sinceS: 0, gang: NO_JOB, locals: [], busyS: 0 });
      }
    }
  }

  arrived(timeS: number, job: JobIndex): void {
    this.#step(timeS, job);
    this.#require(this.#instance.submitS[job] === timeS, "arrival", "it arrives at another time");
    this.#require(!this.#arrived.has(job), "arrival", "it arrived before");
    this.#arrived.add(job);
    if (this.#instance.home[job] === GRID) this.#atGrid.add(job);
  }

  enqueued(timeS: number, local: JobIndex, processor: ProcessorId): void {
    this.#step(timeS, local);
    const state = this.#state(processor);
    this.#requireLocal(local, state);
    this.#require(!this.#queues(local), "queued-twice", "it waits in a queue already");
    state.locals.push(local);
  }

  claimed(timeS: number, gang: JobIndex, processor: ProcessorId): void {
    this.#step(timeS, gang);
    const state = this.#state(processor);
    this.#require(this.#arrived.has(gang), "start-before-arrival", "it has not arrived");
    this.#require(
      state.gang === NO_JOB,
      "gang-behind-gang",
      `another gang waits at processor ${processor} already`,
    );
    const ahead = this.#guarantees.criticalAhead && this.#instance.critical[gang] === 1;
    this.#require(
      ahead || state.locals.length === 0,
      "gang-not-at-head",
      `local jobs wait at processor ${processor}`,
    );
    state.gang = gang;
    this.#atGrid.delete(gang);
    const claims = this.#claims.get(gang);
    if (claims === undefined) this.#claims.set(gang, [processor]);
    else claims.push(processor);
  }

  started(timeS: number, job: JobIndex, processor: ProcessorId, rule: SitesStartRule): void {
    this.#step(timeS, job, this.#starting === job);
    const state = this.#state(processor);
    this.#require(this.#arrived.has(job), "start-before-arrival", "it has not arrived");
    this.#require(!this.#ended.has(job), "started-twice", "it has ended");
    this.#require(
      state.running === NO_JOB,
      "processor-twice",
      `processor ${processor} serves job row ${state.running}`,
    );
    if (this.#instance.home[job] === GRID) this.#gangStarted(timeS, job, processor, state);
    else this.#localStarted(timeS, job, processor, state, rule);
    state.running = job;
    state.sinceS = timeS;
  }

  departed(timeS: number, job: JobIndex): void {
    this.#step(timeS, job);
    const run = this.#running.get(job);
    if (run === undefined) this.#fail("departure", "it is not in service");
    const expectedS = run.sinceS + this.#serviceS(job, run.processors, this.#instance.serviceS[job]);
    this.#require(expectedS === timeS, "departure", `it should end at ${expectedS} s`);
    for (const processor of run.processors) {
      const state = this.#processors[processor];
      state.running = NO_JOB;
      state.busyS += timeS - state.sinceS;
    }
    this.#running.delete(job);
    this.#ended.add(job);
  }

  decided(timeS: number): void {
    this.#step(timeS, NO_JOB);
    for (const [processor, state] of this.#processors.entries()) {
      const idle = state.running === NO_JOB && state.gang === NO_JOB && state.locals.length > 0;
      this.#require(!idle, "idle-with-work", `processor ${processor} is idle`, state.locals[0] ?? NO_JOB);
    }
    for (const [gang, claims] of this.#claims) {
      const size = this.#instance.size[gang];
      this.#require(
        claims.length === size,
        "gang-torn",
        `it waits at ${claims.length} of ${size} processors`,
        gang,
      );
      const busy = claims.some((processor) => this.#processors[processor].running !== NO_JOB);
      this.#require(busy, "gang-held-up", "all of its processors are idle", gang);
    }
    if (this.#atGrid.size > 0) this.#checkGrid();
  }

  /** Compares the schedule's sums with those of the events. */
  finished(schedule: SitesSchedule): void {
    const { stopS } = schedule;
    this.#lastS = stopS;
    this.#job = NO_JOB;
    const busyS = this.#instance.sites.map(() => 0);
    for (const state of this.#processors) {
      busyS[state.site] += state.busyS + (state.running === NO_JOB ? 0 : stopS - state.sinceS);
    }
    for (const [site, ours] of busyS.entries()) {
      const theirs = schedule.busyS[site];
      const close = Math.abs(theirs - ours) <= 1e-9 * (1 + ours);
      this.#require(close, "accounting", `site ${site} was busy for ${ours} s, not for ${theirs} s`);
    }
    const count = schedule.endS.reduce((ended, endS) => (Number.isNaN(endS) ? ended : ended + 1), 0);
    const agrees = count === this.#ended.size && count === schedule.completed;
    this.#require(agrees, "accounting", `${this.#ended.size} jobs ended, not ${count}`);
  }

  #localStarted(
    timeS: number,
    job: JobIndex,
    processor: ProcessorId,
    state: ProcessorState,
    rule: SitesStartRule,
  ): void {
    this.#requireLocal(job, state);
    const place = state.locals.indexOf(job);
    this.#require(place >= 0 || !this.#queues(job), "other-queue", "it waits at another processor");
    const passed = place < 0 ? state.locals : state.locals.slice(0, place);
    if (state.gang === NO_JOB) {
      this.#require(passed.length === 0, "out-of-turn", `it passes job row ${passed[0]} (rule ${rule})`);
    } else {
      const limitS = this.#untilStartS(timeS, state.gang) + this.#guarantees.thresholdS;
      const needS = this.#serviceS(job, [processor], this.#instance.predictedS[job]);
      const fits = this.#guarantees.thresholdS >= 0 && needS <= limitS;
      this.#require(
        fits,
        "backfill-too-long",
        `it needs ${needS} s by its prediction, but only ${limitS} s are left`,
      );
      // Jobs after it in the queue may fit or not; those before it must not fit.
      for (const other of place < 0 ? [] : passed) {
        const otherS = this.#serviceS(other, [processor], this.#instance.predictedS[other]);
        this.#require(otherS > limitS, "out-of-turn", `job row ${other} before it fits, too`);
      }
    }
    if (place >= 0) state.locals.splice(place, 1);
    this.#running.set(job, { sinceS: timeS, processors: [processor], waited: false });
  }

  #gangStarted(timeS: number, gang: JobIndex, processor: ProcessorId, state: ProcessorState): void {
    const run = this.#running.get(gang);
    // Either all tasks were waiting, or none was.
    const waited = state.gang === gang;
    const inOneWay = waited === (run === undefined ? this.#claims.has(gang) : run.waited);
    this.#require(
      inOneWay,
      "gang-torn",
      `only some of its tasks waited for their processors (seen at processor ${processor})`,
    );
    if (waited) state.gang = NO_JOB;
    else {
      const past =
        state.gang === NO_JOB ? state.locals[0] : this.#guarantees.takesHeld ? undefined : state.gang;
      this.#require(past === undefined, "out-of-turn", `it passes job row ${past}`);
      this.#atGrid.delete(gang);
    }
    if (run === undefined) this.#running.set(gang, { sinceS: timeS, processors: [processor], waited });
    else {
      this.#require(run.sinceS === timeS, "gang-torn", `its first task started at ${run.sinceS} s`);
      this.#require(
        !run.processors.includes(processor),
        "processor-twice",
        "two of its tasks share a processor",
      );
      run.processors.push(processor);
    }
    this.#claims.delete(gang);
    const tasks = this.#running.get(gang)!.processors.length;
    this.#starting = tasks < this.#instance.size[gang] ? gang : NO_JOB;
  }

  /** No gang that could be sent remains at the grid scheduler, as far as that is guaranteed. */
  #checkGrid(): void {
    const { sites, size } = this.#instance;
    let smallest = NO_JOB;
    for (const gang of this.#atGrid) if (smallest === NO_JOB || size[gang] < size[smallest]) smallest = gang;
    const empty = sites.map(() => 0);
    let free = 0;
    for (const state of this.#processors) {
      const isEmpty = state.gang === NO_JOB && state.locals.length === 0;
      if (isEmpty) empty[state.site]++;
      const mayTake = isEmpty || (this.#guarantees.takesHeld && state.gang !== NO_JOB);
      if (mayTake && state.running === NO_JOB) free++;
    }
    const failLeft = (why: string) => this.#fail("gang-left", why, smallest);
    if (this.#guarantees.noGangLeft && Math.max(...empty) >= size[smallest])
      failLeft("one site has the empty queues");
    if (this.#guarantees.noGangLeftAcrossSites && free >= size[smallest])
      failLeft("all sites have the free processors");
  }

  #untilStartS(timeS: number, gang: JobIndex): number {
    let latestS = 0;
    for (const processor of this.#claims.get(gang)!) {
      const { running, sinceS } = this.#processors[processor];
      if (running === NO_JOB) continue;
      const { serviceS, predictedS } = this.#instance;
      const column = this.#remaining === "exact" ? serviceS : predictedS;
      const endS = sinceS + this.#serviceS(running, this.#running.get(running)!.processors, column[running]);
      latestS = Math.max(latestS, endS - timeS);
    }
    return latestS;
  }

  /** How long a job with this service time takes on these processors. */
  #serviceS(job: JobIndex, processors: readonly ProcessorId[], serviceS: number): number {
    const sites = new Set(processors.map((processor) => this.#processors[processor].site));
    const speed = Math.min(...[...sites].map((site) => this.#instance.sites[site].speed));
    const stretch =
      this.#instance.home[job] === GRID && sites.size > 1 ? 1 + this.#instance.splitOverhead : 1;
    return (serviceS * stretch) / speed;
  }

  #queues(local: JobIndex): boolean {
    return this.#processors.some(
      ({ site, locals }) => site === this.#instance.home[local] && locals.includes(local),
    );
  }

  #requireLocal(job: JobIndex, state: ProcessorState): void {
    this.#require(this.#arrived.has(job), "start-before-arrival", "it has not arrived");
    const started = this.#running.has(job) || this.#ended.has(job);
    this.#require(!started, "started-twice", "it has started");
    this.#require(this.#instance.home[job] === state.site, "foreign-site", `this is site ${state.site}`);
  }

  /** Time never runs backwards, and nothing happens between the starts of a gang's tasks. */
  #step(timeS: number, job: JobIndex, isNextTask = false): void {
    this.checks++;
    const beforeS = this.#lastS;
    this.#lastS = timeS;
    this.#job = job;
    this.#require(timeS >= beforeS, "time", `an event of ${beforeS} s came before`);
    const isWhole = this.#starting === NO_JOB || isNextTask;
    this.#require(isWhole, "gang-torn", "only some of its tasks started", this.#starting);
  }

  #state(processor: ProcessorId): ProcessorState {
    return (
      this.#processors[processor] ?? this.#fail("unknown-processor", `processor ${processor} does not exist`)
    );
  }

  #require(holds: boolean, rule: string, why: string, job = this.#job): void {
    if (!holds) this.#fail(rule, why, job);
  }

  #fail(rule: string, why: string, job = this.#job): never {
    const timeS = this.#lastS;
    throw new RuleViolation(rule, job, timeS, `Broken rule ${rule} at ${timeS} s, job row ${job}: ${why}`);
  }
}
