/**
 * Decides, for the grid scheduler, where a gang may go (dispatch rule) and which gang goes first (order of
 * the grid scheduler's queue). Source: Dimitriadou and Karatza 2009, section III.A.
 */
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import type { ProcessorId, SitesJobsView, SitesMachine, SitesView } from "./contract.ts";
import { NO_PROCESSOR, SitesStartRule } from "./contract.ts";

/**
 * The site that the random number picks among those with a count of at least `needed`; −1 if there is none.
 */
function drawSite(counts: Int32Array, needed: number, drawn: number): number {
  let candidates = 0;
  for (let site = 0; site < counts.length; site++) if (counts[site] >= needed) candidates++;
  let skip = Math.floor(drawn * candidates);
  for (let site = 0; site < counts.length; site++) if (counts[site] >= needed && skip-- === 0) return site;
  return -1;
}

/** The fastest of these sites; among equally fast ones the first. */
function fastestSite(machine: SitesView, counts: Int32Array, needed: number): number {
  let best = -1;
  for (let site = 0; site < counts.length; site++) {
    if (counts[site] >= needed && (best < 0 || machine.speed[site] > machine.speed[best])) best = site;
  }
  return best;
}

/**
 * The dispatch rules of the paper's two approaches, for any number of sites, and the rule for critical gangs.
 */
export class GangDispatch {
  readonly #machine: SitesMachine;
  readonly #jobs: SitesJobsView;
  readonly #acrossSites: boolean;
  readonly #fastest: boolean;
  /** Whether gangs may start at once on idle processors at which another gang waits. */
  readonly #takesHeld: boolean;
  /** For each site, the count that decides. */
  readonly #counts: Int32Array;
  /** Scratch space of `claimSoonest`: candidate processors, and when they become idle. */
  readonly #candidates: ProcessorId[] = [];
  readonly #readyS: Float64Array;

  constructor(machine: SitesMachine, jobs: SitesJobsView, acrossSites: boolean, parameters: ParameterValues) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#acrossSites = acrossSites;
    this.#fastest = parameters.site === "fastest";
    this.#takesHeld = parameters.idle === "held";
    this.#counts = new Int32Array(machine.siteCount);
    this.#readyS = new Float64Array(machine.processors);
  }

  /** Maximum tasks that a gang may have now to find room on one site. */
  largestForOneSite(): number {
    let maxTasks = 0;
    for (let site = 0; site < this.#machine.siteCount; site++) {
      maxTasks = Math.max(maxTasks, this.#machine.emptyQueues[site], this.#idle(site));
    }
    return maxTasks;
  }

  /** The same for all sites together; 0 if gangs are not split. */
  largestAcrossSites(): number {
    if (!this.#acrossSites) return 0;
    let sum = 0;
    for (let site = 0; site < this.#machine.siteCount; site++) sum += this.#idle(site);
    return sum;
  }

  /** Approach 1: start on a site with enough idle processors; else wait at the empty queues of one site. */
  toOneSite(gang: JobIndex): boolean {
    const machine = this.#machine;
    if (this.#startOnOneSite(gang)) return true;
    for (let site = 0; site < machine.siteCount; site++) this.#counts[site] = machine.emptyQueues[site];
    const site = this.#pick(gang);
    if (site < 0) return false;
    this.#claimEmpty(gang, site);
    return true;
  }

  /**
   * Approach 2 adds a step: start on the idle processors of several sites, the site with the most of them
   * first.
   */
  acrossSites(gang: JobIndex): boolean {
    const machine = this.#machine;
    let missing = this.#jobs.size[gang];
    if (missing > this.largestAcrossSites()) return false;
    for (let site = 0; site < machine.siteCount; site++) this.#counts[site] = this.#idle(site);
    while (missing > 0) {
      let best = 0;
      for (let site = 1; site < this.#counts.length; site++) {
        if (this.#counts[site] > this.#counts[best]) best = site;
      }
      const tasks = Math.min(missing, this.#counts[best]);
      this.#take(gang, best, tasks);
      this.#counts[best] = 0;
      missing -= tasks;
    }
    machine.startGang(gang, SitesStartRule.gangSplit);
    return true;
  }

  /**
   * A critical gang starts at once if it can, split if the approach allows it. Otherwise it waits ahead of
   * local jobs on the site where it can start first, for the processors that become idle soonest and for
   * which no gang waits.
   */
  critical(gang: JobIndex): boolean {
    if (this.#startOnOneSite(gang) || this.acrossSites(gang)) return true;
    const size = this.#jobs.size[gang];
    let best = -1;
    let bestS = Number.POSITIVE_INFINITY;
    for (let site = 0; site < this.#machine.siteCount; site++) {
      if (this.#findSoonest(site) < size) continue;
      const startS = this.#readyS[this.#candidates[size - 1]];
      if (startS < bestS) {
        best = site;
        bestS = startS;
      }
    }
    if (best < 0) return false;
    this.#findSoonest(best);
    for (let i = 0; i < size; i++) this.#machine.claim(gang, this.#candidates[i]);
    return true;
  }

  #startOnOneSite(gang: JobIndex): boolean {
    const machine = this.#machine;
    for (let site = 0; site < machine.siteCount; site++) this.#counts[site] = this.#idle(site);
    const site = this.#pick(gang);
    if (site < 0) return false;
    this.#take(gang, site, this.#jobs.size[gang]);
    machine.startGang(gang, SitesStartRule.gangAtOnce);
    return true;
  }

  #pick(gang: JobIndex): number {
    const size = this.#jobs.size[gang];
    return this.#fastest
      ? fastestSite(this.#machine, this.#counts, size)
      : drawSite(this.#counts, size, this.#jobs.drawn[gang]);
  }

  /** Number of processors of the site on which a gang may start at once. */
  #idle(site: number): number {
    return this.#machine.free[site] + (this.#takesHeld ? this.#machine.held[site] : 0);
  }

  /** Takes free processors, in order, and held ones if these do not suffice. */
  #take(gang: JobIndex, site: number, tasks: number): void {
    const machine = this.#machine;
    const end = machine.firstOfSite[site + 1];
    let missing = tasks;
    for (let p = machine.firstOfSite[site]; missing > 0 && p < end; p++) {
      if (machine.load[p] > 0) continue;
      machine.take(gang, p);
      missing--;
    }
    for (let p = machine.firstOfSite[site]; missing > 0 && p < end; p++) {
      if (machine.running[p] !== NO_JOB || machine.waitingGang[p] === NO_JOB) continue;
      machine.take(gang, p);
      missing--;
    }
  }

  /**
   * Claims empty queues: first those of idle processors, so that the gang waits for as few processors as
   * possible; then others in order from a random start.
   */
  #claimEmpty(gang: JobIndex, site: number): void {
    const machine = this.#machine;
    const first = machine.firstOfSite[site];
    const end = machine.firstOfSite[site + 1];
    let missing = this.#jobs.size[gang];
    for (let p = first; missing > 0 && p < end; p++) {
      if (machine.load[p] > 0) continue;
      machine.claim(gang, p);
      missing--;
    }
    let p = first + Math.floor(this.#jobs.drawn[gang] * (end - first));
    while (missing > 0) {
      if (machine.firstLocal[p] === NO_JOB && machine.waitingGang[p] === NO_JOB) {
        machine.claim(gang, p);
        missing--;
      }
      if (++p === end) p = first;
    }
  }

  /**
   * Lists the site's processors without a waiting gang, soonest idle first, then by number; returns how many.
   */
  #findSoonest(site: number): number {
    const machine = this.#machine;
    const candidates = this.#candidates;
    candidates.length = 0;
    for (let p = machine.firstOfSite[site]; p < machine.firstOfSite[site + 1]; p++) {
      if (machine.waitingGang[p] !== NO_JOB) continue;
      this.#readyS[p] = machine.remainingS(p);
      candidates.push(p);
    }
    candidates.sort((a, b) => this.#readyS[a] - this.#readyS[b] || a - b);
    return candidates.length;
  }
}

/** Seconds until the last of the gang's claimed processors becomes idle ("elapsed time" in the paper). */
export function untilGangStartsS(machine: SitesView, gang: JobIndex): number {
  let latestS = 0;
  for (let p = machine.firstClaim[gang]; p !== NO_PROCESSOR; p = machine.nextClaim[p]) {
    const leftS = machine.remainingS(p);
    if (leftS > latestS) latestS = leftS;
  }
  return latestS;
}

/**
 * Gangs at the grid scheduler: a FIFO list per size, so that "largest, then oldest" costs one look per size.
 */
export class GangQueue {
  length = 0;
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #next: Int32Array;
  readonly #jobs: SitesJobsView;

  /** @param largest maximum tasks of a gang */
  constructor(jobs: SitesJobsView, largest: number) {
    this.#jobs = jobs;
    this.#first = new Int32Array(largest + 1).fill(NO_JOB);
    this.#last = new Int32Array(largest + 1).fill(NO_JOB);
    this.#next = new Int32Array(jobs.count).fill(NO_JOB);
  }

  add(gang: JobIndex): void {
    const size = this.#jobs.size[gang];
    if (this.#first[size] === NO_JOB) this.#first[size] = gang;
    else this.#next[this.#last[size]] = gang;
    this.#last[size] = gang;
    this.length++;
  }

  /** Removes the gang, which must be the oldest of its size. */
  removeFirst(gang: JobIndex): void {
    this.#first[this.#jobs.size[gang]] = this.#next[gang];
    this.length--;
  }

  /** The oldest of the largest gangs with at most `tasks` tasks, or NO_JOB. */
  largest(tasks: number): JobIndex {
    for (let size = Math.min(tasks, this.#first.length - 1); size > 0; size--) {
      if (this.#first[size] !== NO_JOB) return this.#first[size];
    }
    return NO_JOB;
  }

  /** The oldest gang, or NO_JOB. */
  oldest(): JobIndex {
    let oldest = NO_JOB;
    for (let size = 1; size < this.#first.length; size++) {
      const gang = this.#first[size];
      if (gang !== NO_JOB && (oldest === NO_JOB || gang < oldest)) oldest = gang;
    }
    return oldest;
  }
}
