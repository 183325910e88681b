/**
 * The checker of schedulers for sites: an observer that keeps its own picture of every processor from the
 * events. It compares each step with the rules of contract.ts and with what the policy guarantees, and throws
 * at the first violation. It shares no bookkeeping with the machine. Each decision costs a look at every
 * processor and every waiting gang, so it is for tests and audits only.
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

interface Seat {
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
  readonly #seats: Seat[] = [];
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
        this.#seats.push({ site, running: NO_JOB, sinceS: 0, gang: NO_JOB, locals: [], busyS: 0 });
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
    const seat = this.#seat(processor);
    this.#requireLocal(local, seat);
    this.#require(!this.#queues(local), "queued-twice", "it waits in a queue already");
    seat.locals.push(local);
  }

  claimed(timeS: number, gang: JobIndex, processor: ProcessorId): void {
    this.#step(timeS, gang);
    const seat = this.#seat(processor);
    this.#require(this.#arrived.has(gang), "start-before-arrival", "it has not arrived");
    this.#require(
      seat.gang === NO_JOB,
      "gang-behind-gang",
      `another gang waits at processor ${processor} already`,
    );
    const ahead = this.#guarantees.criticalAhead && this.#instance.critical[gang] === 1;
    this.#require(
      ahead || seat.locals.length === 0,
      "gang-not-at-head",
      `local jobs wait at processor ${processor}`,
    );
    seat.gang = gang;
    this.#atGrid.delete(gang);
    const claims = this.#claims.get(gang);
    if (claims === undefined) this.#claims.set(gang, [processor]);
    else claims.push(processor);
  }

  started(timeS: number, job: JobIndex, processor: ProcessorId, rule: SitesStartRule): void {
    this.#step(timeS, job, this.#starting === job);
    const seat = this.#seat(processor);
    this.#require(this.#arrived.has(job), "start-before-arrival", "it has not arrived");
    this.#require(!this.#ended.has(job), "started-twice", "it has ended");
    this.#require(
      seat.running === NO_JOB,
      "processor-twice",
      `processor ${processor} serves job row ${seat.running}`,
    );
    if (this.#instance.home[job] === GRID) this.#gangStarted(timeS, job, processor, seat);
    else this.#localStarted(timeS, job, processor, seat, rule);
    seat.running = job;
    seat.sinceS = timeS;
  }

  departed(timeS: number, job: JobIndex): void {
    this.#step(timeS, job);
    const run = this.#running.get(job);
    if (run === undefined) this.#fail("departure", "it is not in service");
    const expectedS = run.sinceS + this.#serviceS(job, run.processors, this.#instance.serviceS[job]);
    this.#require(expectedS === timeS, "departure", `it should end at ${expectedS} s`);
    for (const processor of run.processors) {
      const seat = this.#seats[processor];
      seat.running = NO_JOB;
      seat.busyS += timeS - seat.sinceS;
    }
    this.#running.delete(job);
    this.#ended.add(job);
  }

  decided(timeS: number): void {
    this.#step(timeS, NO_JOB);
    for (const [processor, seat] of this.#seats.entries()) {
      const idle = seat.running === NO_JOB && seat.gang === NO_JOB && seat.locals.length > 0;
      this.#require(!idle, "idle-with-work", `processor ${processor} is idle`, seat.locals[0] ?? NO_JOB);
    }
    for (const [gang, claims] of this.#claims) {
      const size = this.#instance.size[gang];
      this.#require(
        claims.length === size,
        "gang-torn",
        `it waits at ${claims.length} of ${size} processors`,
        gang,
      );
      const busy = claims.some((processor) => this.#seats[processor].running !== NO_JOB);
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
    for (const seat of this.#seats) {
      busyS[seat.site] += seat.busyS + (seat.running === NO_JOB ? 0 : stopS - seat.sinceS);
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
    seat: Seat,
    rule: SitesStartRule,
  ): void {
    this.#requireLocal(job, seat);
    const place = seat.locals.indexOf(job);
    this.#require(place >= 0 || !this.#queues(job), "other-queue", "it waits at another processor");
    const passed = place < 0 ? seat.locals : seat.locals.slice(0, place);
    if (seat.gang === NO_JOB) {
      this.#require(passed.length === 0, "out-of-turn", `it passes job row ${passed[0]} (rule ${rule})`);
    } else {
      const limitS = this.#untilStartS(timeS, seat.gang) + this.#guarantees.thresholdS;
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
    if (place >= 0) seat.locals.splice(place, 1);
    this.#running.set(job, { sinceS: timeS, processors: [processor], waited: false });
  }

  #gangStarted(timeS: number, gang: JobIndex, processor: ProcessorId, seat: Seat): void {
    const run = this.#running.get(gang);
    // Either all tasks were waiting, or none was.
    const waited = seat.gang === gang;
    const inOneWay = waited === (run === undefined ? this.#claims.has(gang) : run.waited);
    this.#require(
      inOneWay,
      "gang-torn",
      `only some of its tasks waited for their processors (seen at processor ${processor})`,
    );
    if (waited) seat.gang = NO_JOB;
    else {
      const past = seat.gang === NO_JOB ? seat.locals[0] : this.#guarantees.takesHeld ? undefined : seat.gang;
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
    for (const seat of this.#seats) {
      const isEmpty = seat.gang === NO_JOB && seat.locals.length === 0;
      if (isEmpty) empty[seat.site]++;
      const mayTake = isEmpty || (this.#guarantees.takesHeld && seat.gang !== NO_JOB);
      if (mayTake && seat.running === NO_JOB) free++;
    }
    const left = (why: string) => this.#fail("gang-left", why, smallest);
    if (this.#guarantees.noGangLeft && Math.max(...empty) >= size[smallest])
      left("one site has the empty queues");
    if (this.#guarantees.noGangLeftAcrossSites && free >= size[smallest])
      left("all sites have the free processors");
  }

  #untilStartS(timeS: number, gang: JobIndex): number {
    let latestS = 0;
    for (const processor of this.#claims.get(gang)!) {
      const { running, sinceS } = this.#seats[processor];
      if (running === NO_JOB) continue;
      const { serviceS, predictedS } = this.#instance;
      const column = this.#remaining === "exact" ? serviceS : predictedS;
      const endS = sinceS + this.#serviceS(running, this.#running.get(running)!.processors, column[running]);
      latestS = Math.max(latestS, endS - timeS);
    }
    return latestS;
  }

  /** Time that a job with this service time takes on these processors. */
  #serviceS(job: JobIndex, processors: readonly ProcessorId[], serviceS: number): number {
    const sites = new Set(processors.map((processor) => this.#seats[processor].site));
    const speed = Math.min(...[...sites].map((site) => this.#instance.sites[site].speed));
    const stretch =
      this.#instance.home[job] === GRID && sites.size > 1 ? 1 + this.#instance.splitOverhead : 1;
    return (serviceS * stretch) / speed;
  }

  #queues(local: JobIndex): boolean {
    return this.#seats.some(
      ({ site, locals }) => site === this.#instance.home[local] && locals.includes(local),
    );
  }

  #requireLocal(job: JobIndex, seat: Seat): void {
    this.#require(this.#arrived.has(job), "start-before-arrival", "it has not arrived");
    const started = this.#running.has(job) || this.#ended.has(job);
    this.#require(!started, "started-twice", "it has started");
    this.#require(this.#instance.home[job] === seat.site, "foreign-site", `this is site ${seat.site}`);
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

  #seat(processor: ProcessorId): Seat {
    return this.#seats[processor] ?? this.#fail("unknown-processor", `processor ${processor} does not exist`);
  }

  #require(holds: boolean, rule: string, why: string, job = this.#job): void {
    if (!holds) this.#fail(rule, why, job);
  }

  #fail(rule: string, why: string, job = this.#job): never {
    const timeS = this.#lastS;
    throw new RuleViolation(rule, job, timeS, `Broken rule ${rule} at ${timeS} s, job row ${job}: ${why}`);
  }
}
