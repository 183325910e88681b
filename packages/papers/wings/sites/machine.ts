/**
 * Implements the machine of wings/sites/contract.ts in virtual time: every processor has its job in service,
 * the gang that waits at the head of its queue, and the local jobs after that gang. Lists are links in typed
 * arrays; counts per site are updated with every change.
 *
 *   queue of a processor:   tail ▶ local … local  gang │ in service
 *                                 nextLocal links   at most one; its claims are linked over processors
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import type { ProcessorId, SitesInstance, SitesMachine, SitesObserver, SitesSchedule } from "./contract.ts";
import { GRID, NO_PROCESSOR, SitesStartRule } from "./contract.ts";

/** Position of a job that is in no queue. */
const UNPLACED = -1;
const LEFT_QUEUE = -2;

export class SimulatedSites implements SitesMachine {
  readonly siteCount: number;
  readonly processors: number;
  nowS = 0;
  /** Jobs 0 … arrived − 1 have arrived. */
  arrived = 0;
  completed = 0;
  readonly ends = new EventHeap();
  /** A gang that has taken processors and has not started. */
  #incomplete: JobIndex = NO_JOB;

  readonly #instance: SitesInstance;
  readonly #exact: boolean;
  readonly #observer: SitesObserver | undefined;
  // By site.
  readonly firstOfSite: Int32Array;
  readonly speed: Float64Array;
  readonly free: Int32Array;
  readonly emptyQueues: Int32Array;
  readonly held: Int32Array;
  readonly #busyS: Float64Array;
  // By processor.
  readonly siteOf: Int32Array;
  readonly running: Int32Array;
  readonly #expectedEndS: Float64Array;
  readonly waitingGang: Int32Array;
  readonly #locals: Int32Array;
  /** Jobs in service, gangs and local jobs waiting: read for every arrival. */
  readonly load: Int32Array;
  readonly firstLocal: Int32Array;
  readonly #lastLocal: Int32Array;
  readonly nextClaim: Int32Array;
  readonly nextProcessor: Int32Array;
  // By job.
  /** Processor at whose queue a local job waits, UNPLACED or LEFT_QUEUE. */
  readonly #queuedAt: Int32Array;
  readonly nextLocal: Int32Array;
  readonly #previousLocal: Int32Array;
  readonly #claims: Int32Array;
  readonly busyClaims: Int32Array;
  readonly firstClaim: Int32Array;
  /** The last processor that a gang claimed or took. */
  readonly #lastClaim: Int32Array;
  readonly firstProcessor: Int32Array;
  /** Number of processors that a gang has taken; it keeps them after its start. */
  readonly #taken: Int32Array;
  readonly #startS: Float64Array;
  readonly #endS: Float64Array;
  readonly #split: Uint8Array;
  readonly #startsByRule: number[] = new Array(Object.keys(SitesStartRule).length).fill(0);

  constructor(
    instance: SitesInstance,
    remaining: "exact" | "predicted",
    observer: SitesObserver | undefined,
  ) {
    const { sites, count } = instance;
    this.#instance = instance;
    this.#exact = remaining === "exact";
    this.#observer = observer;
    this.siteCount = sites.length;
    this.firstOfSite = new Int32Array(sites.length + 1);
    for (let site = 0; site < sites.length; site++) {
      this.firstOfSite[site + 1] = this.firstOfSite[site] + sites[site].processors;
    }
    this.processors = this.firstOfSite[sites.length];
    this.speed = Float64Array.from(sites, (site) => site.speed);
    this.free = Int32Array.from(sites, (site) => site.processors);
    this.emptyQueues = Int32Array.from(sites, (site) => site.processors);
    this.held = new Int32Array(sites.length);
    this.#busyS = new Float64Array(sites.length);
    this.siteOf = new Int32Array(this.processors);
    for (let site = 0; site < sites.length; site++) {
      this.siteOf.fill(site, this.firstOfSite[site], this.firstOfSite[site + 1]);
    }
    const byProcessor = (value: number) => new Int32Array(this.processors).fill(value);
    this.running = byProcessor(NO_JOB);
    this.#expectedEndS = new Float64Array(this.processors);
    this.waitingGang = byProcessor(NO_JOB);
    this.#locals = byProcessor(0);
    this.load = byProcessor(0);
    this.firstLocal = byProcessor(NO_JOB);
    this.#lastLocal = byProcessor(NO_JOB);
    this.nextClaim = byProcessor(NO_PROCESSOR);
    this.nextProcessor = byProcessor(NO_PROCESSOR);
    const byJob = (value: number) => new Int32Array(count).fill(value);
    this.#queuedAt = byJob(UNPLACED);
    this.nextLocal = byJob(NO_JOB);
    this.#previousLocal = byJob(NO_JOB);
    this.#claims = byJob(0);
    this.busyClaims = byJob(0);
    this.firstClaim = byJob(NO_PROCESSOR);
    this.#lastClaim = byJob(NO_PROCESSOR);
    this.firstProcessor = byJob(NO_PROCESSOR);
    this.#taken = byJob(0);
    this.#startS = new Float64Array(count).fill(Number.NaN);
    this.#endS = new Float64Array(count).fill(Number.NaN);
    this.#split = new Uint8Array(count);
  }

  remainingS(processor: ProcessorId): number {
    if (this.running[processor] === NO_JOB) return 0;
    return Math.max(0, this.#expectedEndS[processor] - this.nowS);
  }

  enqueue(local: JobIndex, processor: ProcessorId): void {
    this.#requireLocal(local, processor);
    if (this.#queuedAt[local] !== UNPLACED) this.#refuse("queued-twice", local, "it is in a queue already");
    const site = this.siteOf[processor];
    if (this.#locals[processor] === 0) {
      this.firstLocal[processor] = local;
      if (this.waitingGang[processor] === NO_JOB) {
        this.emptyQueues[site]--;
        if (this.running[processor] === NO_JOB) this.free[site]--;
      }
    } else {
      const last = this.#lastLocal[processor];
      this.nextLocal[last] = local;
      this.#previousLocal[local] = last;
    }
    this.#lastLocal[processor] = local;
    this.#locals[processor]++;
    this.load[processor]++;
    this.#queuedAt[local] = processor;
    this.#observer?.enqueued?.(this.nowS, local, processor);
  }

  startLocal(local: JobIndex, processor: ProcessorId, rule: SitesStartRule): void {
    this.#requireLocal(local, processor);
    if (this.running[processor] !== NO_JOB)
      this.#refuse("processor-twice", local, `processor ${processor} is busy`);
    const queuedAt = this.#queuedAt[local];
    if (queuedAt === processor) this.#leaveQueue(local, processor);
    else if (queuedAt === UNPLACED) this.load[processor]++;
    else this.#refuse("other-queue", local, `it waits at processor ${queuedAt}`);
    this.#queuedAt[local] = LEFT_QUEUE;
    const site = this.siteOf[processor];
    const gang = this.waitingGang[processor];
    if (gang !== NO_JOB) {
      this.busyClaims[gang]++;
      this.held[site]--;
    } else if (this.#locals[processor] === 0) this.free[site]--;
    const speed = this.speed[site];
    const { serviceS, predictedS } = this.#instance;
    const endS = this.nowS + serviceS[local] / speed;
    this.#occupy(local, processor, this.#exact ? endS : this.nowS + predictedS[local] / speed);
    this.nextProcessor[processor] = NO_PROCESSOR;
    this.firstProcessor[local] = processor;
    this.#begin(local, endS, rule);
    this.#observer?.started?.(this.nowS, local, processor, rule);
  }

  claim(gang: JobIndex, processor: ProcessorId): void {
    this.#requireGang(gang);
    this.#requireProcessor(gang, processor);
    if (this.waitingGang[processor] !== NO_JOB) {
      this.#refuse("gang-behind-gang", gang, `another gang waits at processor ${processor} already`);
    }
    if (this.#claims[gang] >= this.#instance.size[gang]) {
      this.#refuse("claims-too-many", gang, "it has a processor for each task already");
    }
    const site = this.siteOf[processor];
    const isIdle = this.running[processor] === NO_JOB;
    this.waitingGang[processor] = gang;
    this.load[processor]++;
    if (this.#locals[processor] === 0) {
      this.emptyQueues[site]--;
      if (isIdle) this.free[site]--;
    }
    if (isIdle) this.held[site]++;
    else this.busyClaims[gang]++;
    if (this.#claims[gang] === 0) this.firstClaim[gang] = processor;
    else this.nextClaim[this.#lastClaim[gang]] = processor;
    this.#lastClaim[gang] = processor;
    this.nextClaim[processor] = NO_PROCESSOR;
    this.#claims[gang]++;
    this.#observer?.claimed?.(this.nowS, gang, processor);
  }

  take(gang: JobIndex, processor: ProcessorId): void {
    this.#requireGang(gang);
    this.#requireProcessor(gang, processor);
    if (this.running[processor] !== NO_JOB)
      this.#refuse("processor-twice", gang, `processor ${processor} is busy`);
    const site = this.siteOf[processor];
    const waiting = this.waitingGang[processor];
    if (waiting !== NO_JOB) {
      this.busyClaims[waiting]++;
      this.held[site]--;
    } else if (this.#locals[processor] === 0) this.free[site]--;
    this.running[processor] = gang;
    this.load[processor]++;
    if (this.#taken[gang] === 0) this.firstProcessor[gang] = processor;
    else this.nextProcessor[this.#lastClaim[gang]] = processor;
    this.#lastClaim[gang] = processor;
    this.nextProcessor[processor] = NO_PROCESSOR;
    this.#taken[gang]++;
    this.#incomplete = gang;
  }

  startGang(gang: JobIndex, rule: SitesStartRule): void {
    this.#requireGang(gang);
    const { size, serviceS, predictedS, splitOverhead } = this.#instance;
    const taken = this.#taken[gang];
    if (taken + this.#claims[gang] !== size[gang] || (taken > 0 && this.#claims[gang] > 0)) {
      const has = `it has taken ${taken} processors and claimed ${this.#claims[gang]}`;
      this.#refuse("gang-torn", gang, `${has}, expected all ${size[gang]} taken or all claimed`);
    }
    if (taken === 0) this.#takeClaims(gang);
    this.#incomplete = NO_JOB;
    const first = this.firstProcessor[gang];
    // Tasks run in step, so the slowest site sets the pace of all.
    let speed = this.speed[this.siteOf[first]];
    for (let p = first; p !== NO_PROCESSOR; p = this.nextProcessor[p]) {
      if (this.siteOf[p] !== this.siteOf[first]) this.#split[gang] = 1;
      if (this.speed[this.siteOf[p]] < speed) speed = this.speed[this.siteOf[p]];
    }
    const stretch = this.#split[gang] === 1 ? 1 + splitOverhead : 1;
    const endS = this.nowS + (serviceS[gang] * stretch) / speed;
    const expectedEndS = this.#exact ? endS : this.nowS + (predictedS[gang] * stretch) / speed;
    for (let p = first; p !== NO_PROCESSOR; p = this.nextProcessor[p]) this.#occupy(gang, p, expectedEndS);
    this.#begin(gang, endS, rule);
    for (let p = first; p !== NO_PROCESSOR; p = this.nextProcessor[p]) {
      this.#observer?.started?.(this.nowS, gang, p, rule);
    }
  }

  /** The job in service ends now; its list of processors can be read until one of them starts another job. */
  finish(job: JobIndex): void {
    for (let p = this.firstProcessor[job]; p !== NO_PROCESSOR; p = this.nextProcessor[p]) {
      const site = this.siteOf[p];
      this.running[p] = NO_JOB;
      this.load[p]--;
      this.#busyS[site] += this.nowS;
      const gang = this.waitingGang[p];
      if (gang !== NO_JOB) {
        this.busyClaims[gang]--;
        this.held[site]++;
      } else if (this.#locals[p] === 0) this.free[site]++;
    }
    this.#endS[job] = this.nowS;
    this.completed++;
  }

  /** Must be called after each decision. */
  requireWholeGangs(): void {
    if (this.#incomplete !== NO_JOB)
      this.#refuse("gang-torn", this.#incomplete, "it has taken processors but has not started");
  }

  /** What has happened so far. */
  schedule(): SitesSchedule {
    const busyS = Array.from(this.#busyS);
    for (let p = 0; p < this.processors; p++) {
      if (this.running[p] !== NO_JOB) busyS[this.siteOf[p]] += this.nowS;
    }
    return {
      startS: this.#startS,
      endS: this.#endS,
      split: this.#split,
      stopS: this.nowS,
      arrived: this.arrived,
      completed: this.completed,
      busyS,
      startsByRule: this.#startsByRule,
    };
  }

  /** All claimed processors are idle, and go from waiting to service in the order of the claims. */
  #takeClaims(gang: JobIndex): void {
    if (this.busyClaims[gang] !== 0) {
      this.#refuse("processor-twice", gang, `${this.busyClaims[gang]} of its processors are busy`);
    }
    for (let p = this.firstClaim[gang]; p !== NO_PROCESSOR; p = this.nextClaim[p]) {
      const site = this.siteOf[p];
      this.waitingGang[p] = NO_JOB;
      this.held[site]--;
      if (this.#locals[p] === 0) this.emptyQueues[site]++;
      this.nextProcessor[p] = this.nextClaim[p];
    }
    this.firstProcessor[gang] = this.firstClaim[gang];
  }

  #occupy(job: JobIndex, processor: ProcessorId, expectedEndS: number): void {
    this.running[processor] = job;
    this.#expectedEndS[processor] = expectedEndS;
    // Busy time is the sum of ends minus the sum of starts.
    this.#busyS[this.siteOf[processor]] -= this.nowS;
  }

  #begin(job: JobIndex, endS: number, rule: SitesStartRule): void {
    this.#startS[job] = this.nowS;
    this.ends.push(endS, job);
    this.#startsByRule[rule]++;
  }

  #leaveQueue(local: JobIndex, processor: ProcessorId): void {
    const next = this.nextLocal[local];
    const previous = this.#previousLocal[local];
    if (previous === NO_JOB) this.firstLocal[processor] = next;
    else this.nextLocal[previous] = next;
    if (next === NO_JOB) this.#lastLocal[processor] = previous;
    else this.#previousLocal[next] = previous;
    this.#locals[processor]--;
    if (this.#locals[processor] === 0 && this.waitingGang[processor] === NO_JOB) {
      const site = this.siteOf[processor];
      this.emptyQueues[site]++;
      this.free[site]++; // it is idle; startLocal takes it back at once
    }
  }

  #requireArrived(job: JobIndex): void {
    if (!(Number.isInteger(job) && job >= 0 && job < this.arrived)) {
      this.#refuse("start-before-arrival", job, "it has not arrived");
    }
    if (!Number.isNaN(this.#startS[job]))
      this.#refuse("started-twice", job, `it started at ${this.#startS[job]} s`);
  }

  #requireLocal(job: JobIndex, processor: ProcessorId): void {
    this.#requireArrived(job);
    const { home } = this.#instance;
    this.#requireProcessor(job, processor);
    if (home[job] !== this.siteOf[processor]) {
      const place = home[job] === GRID ? "it is a gang" : `its site is ${home[job]}`;
      this.#refuse("foreign-site", job, `${place}, but the processor's site is ${this.siteOf[processor]}`);
    }
  }

  #requireProcessor(job: JobIndex, processor: ProcessorId): void {
    if (!(processor >= 0 && processor < this.processors)) {
      this.#refuse("unknown-processor", job, `processor ${processor} does not exist`);
    }
  }

  #requireGang(job: JobIndex): void {
    this.#requireArrived(job);
    if (this.#instance.home[job] !== GRID) this.#refuse("not-a-gang", job, "it is a local job");
  }

  #refuse(rule: string, job: JobIndex, why: string): never {
    throw new RuleViolation(rule, job, this.nowS, `Cannot place job row ${job} at ${this.nowS} s: ${why}`);
  }
}
