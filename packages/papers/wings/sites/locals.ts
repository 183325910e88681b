/**
 * Decides, for a site's local scheduler, which queue a local job joins and what an idle processor does next.
 * Source: Dimitriadou and Karatza 2009, section III.B.
 */
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import type { ProcessorId, SitesJobsView, SitesMachine } from "./contract.ts";
import { NO_PROCESSOR, SitesStartRule } from "./contract.ts";
import { untilGangStartsS } from "./gangs.ts";

/** FIFO queues whose local jobs may pass a waiting gang that they do not delay by more than a threshold. */
export class LocalScheduler {
  readonly #machine: SitesMachine;
  readonly #jobs: SitesJobsView;
  /** −1: local jobs never pass a gang. */
  readonly #thresholdS: number;
  readonly #fitting: ProcessorId[] = [];

  constructor(machine: SitesMachine, jobs: SitesJobsView, thresholdS: number) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#thresholdS = thresholdS;
  }

  /**
   * Uses the shortest queue, unless the job can start at once: on a free processor, or else ahead of a gang.
   */
  place(local: JobIndex): void {
    const machine = this.#machine;
    const site = this.#jobs.home[local];
    if (machine.free[site] > 0) {
      const skipped = Math.floor(this.#jobs.drawn[local] * machine.free[site]);
      machine.startLocal(local, this.#withLoad(site, 0, skipped), SitesStartRule.atOnce);
      return;
    }
    const passing =
      machine.held[site] > 0 && this.#thresholdS >= 0 ? this.#drawPassing(local, site) : NO_PROCESSOR;
    if (passing !== NO_PROCESSOR) machine.startLocal(local, passing, SitesStartRule.backfilled);
    else machine.enqueue(local, this.#drawShortest(site, this.#jobs.drawn[local]));
  }

  /**
   * An idle processor takes the gang at the head of its queue if that gang can start, or else a local job
   * that may pass; without a gang it takes the first local job.
   */
  serve(processor: ProcessorId): void {
    const machine = this.#machine;
    const gang = machine.waitingGang[processor];
    if (gang === NO_JOB) {
      const local = machine.firstLocal[processor];
      if (local !== NO_JOB) machine.startLocal(local, processor, SitesStartRule.inTurn);
    } else if (machine.busyClaims[gang] === 0) machine.startGang(gang, SitesStartRule.gangGathered);
    else if (this.#thresholdS >= 0) this.#backfill(processor, gang);
  }

  #backfill(processor: ProcessorId, gang: JobIndex): void {
    const machine = this.#machine;
    const speed = machine.speed[machine.siteOf[processor]];
    const limitS = untilGangStartsS(machine, gang) + this.#thresholdS;
    for (let local = machine.firstLocal[processor]; local !== NO_JOB; local = machine.nextLocal[local]) {
      if (this.#jobs.predictedS[local] / speed > limitS) continue;
      machine.startLocal(local, processor, SitesStartRule.backfilled);
      return;
    }
  }

  /** Draws one of the idle processors at which the job may pass the gang, or NO_PROCESSOR. */
  #drawPassing(local: JobIndex, site: number): ProcessorId {
    const machine = this.#machine;
    const fitting = this.#fitting;
    const needS = this.#jobs.predictedS[local] / machine.speed[site];
    let gangBefore = NO_JOB;
    let limitS = 0;
    fitting.length = 0;
    for (let p = machine.firstOfSite[site]; p < machine.firstOfSite[site + 1]; p++) {
      const gang = machine.waitingGang[p];
      if (gang === NO_JOB || machine.running[p] !== NO_JOB) continue;
      if (gang !== gangBefore) limitS = untilGangStartsS(machine, gang) + this.#thresholdS;
      gangBefore = gang;
      if (needS <= limitS) fitting.push(p);
    }
    return fitting.length === 0
      ? NO_PROCESSOR
      : fitting[Math.floor(this.#jobs.drawn[local] * fitting.length)];
  }

  /** Draws one of the processors with the fewest jobs. */
  #drawShortest(site: number, drawn: number): ProcessorId {
    const machine = this.#machine;
    const end = machine.firstOfSite[site + 1];
    let minLoad = Number.POSITIVE_INFINITY;
    let ties = 0;
    for (let p = machine.firstOfSite[site]; p < end; p++) {
      const load = machine.load[p];
      if (load < minLoad) {
        minLoad = load;
        ties = 1;
      } else if (load === minLoad) ties++;
    }
    return this.#withLoad(site, minLoad, Math.floor(drawn * ties));
  }

  /** The processor of the site with this load, after skipping `skipped` others. */
  #withLoad(site: number, load: number, skipped: number): ProcessorId {
    const machine = this.#machine;
    let toSkip = skipped;
    let p = machine.firstOfSite[site];
    for (;;) {
      if (machine.load[p] === load && toSkip-- === 0) return p;
      p++;
    }
  }
}
