/**
 * Defines what policies for grids of sites see and may do. Processors, each with a FIFO queue, are grouped
 * into sites. Two kinds of jobs share them: local jobs (one processor at their own site) and gangs (all tasks
 * at once on distinct processors, wherever the grid scheduler sends them). After Dimitriadou and Karatza
 * 2009, section II, with any number of sites of any sizes and speeds.
 *
 *   gangs ──▶ grid scheduler ──┬──▶ site 0   ▶▯▯▯●  ▶▯●  ▶●   each queue is next to its processor
 *               (own queue)    └──▶ site 1   ▶▯●  ▶▯▯●
 *                      local jobs ──▲ arrive at their site
 *
 * A policy decides as in core/policy.ts: it receives departures, then `decide` is called with the arrivals in
 * order of submission, once per instant. A job without service time departs at the instant at which it
 * starts, and then `decide` is called again. Where the paper draws at random, a policy uses the random number
 * `drawn` that was generated with the job. So policies are deterministic, and all of them see the same jobs
 * (common random numbers).
 */
import type { JobIndex, ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues, Policy, PolicyDescription } from "@tutti/kernel/core/policy.ts";

/** The home of a gang: it arrives at the grid scheduler. */
export const GRID = -1;

export interface SiteSpec {
  /** 1 or more. */
  readonly processors: number;
  /** Service in a second on a processor of this site; 1 in the paper. */
  readonly speed: number;
}

/** Processors of all sites are numbered consecutively, site after site. */
export type ProcessorId = number;

/** Stands for "no processor" wherever a ProcessorId is expected. */
export const NO_PROCESSOR: ProcessorId = -1;

/** One problem for the simulator of sites. Rows in order of submission. */
export interface SitesInstance {
  readonly sites: readonly SiteSpec[];
  /** How much longer a gang on more than one site takes, as a share of its service time; 0.1 in the paper. */
  readonly splitOverhead: number;
  readonly count: number;
  readonly submitS: Float64Array;
  /** On a processor of speed 1; the same for all tasks of a gang. */
  readonly serviceS: Float64Array;
  /** What schedulers see instead of the service time. */
  readonly predictedS: Float64Array;
  /** Number of tasks; 1 for local jobs. */
  readonly size: Int32Array;
  /** Site at which a local job arrives; GRID for gangs. */
  readonly home: Int32Array;
  /** 1 for gangs that should be served before all others. */
  readonly critical: Uint8Array;
  /** A random number in (0, 1), for rules that draw at random. */
  readonly drawn: Float64Array;
}

/** What a policy may know about jobs. It must not look at a job before that job has arrived. */
export interface SitesJobsView {
  readonly count: number;
  readonly submitS: ReadonlyColumn;
  readonly predictedS: ReadonlyColumn;
  readonly size: ReadonlyColumn;
  readonly home: ReadonlyColumn;
  readonly critical: ReadonlyColumn;
  readonly drawn: ReadonlyColumn;
}

/** The sites as a policy reads them. Columns of sites, processors and jobs are kept up to date. */
export interface SitesView {
  readonly nowS: number;
  readonly siteCount: number;
  readonly processors: number;
  /** Processors of a site: firstOfSite[site] … firstOfSite[site + 1] − 1. */
  readonly firstOfSite: ReadonlyColumn;
  readonly speed: ReadonlyColumn;
  /** Number of processors of the site that are idle and have no job waiting in their queue. */
  readonly free: ReadonlyColumn;
  /** Number of processors of the site that have no job waiting in their queue, idle or not. */
  readonly emptyQueues: ReadonlyColumn;
  /** Number of idle processors of the site that have a gang waiting in their queue. */
  readonly held: ReadonlyColumn;
  /** Site of the processor. */
  readonly siteOf: ReadonlyColumn;
  /** Job in service; NO_JOB on an idle processor. */
  readonly running: ReadonlyColumn;
  /** The gang at the head of the processor's queue, or NO_JOB. */
  readonly waitingGang: ReadonlyColumn;
  /** Jobs at the processor: in service, gang at the head, and local jobs waiting. */
  readonly load: ReadonlyColumn;
  /**
   * Local jobs waiting at the processor, in order of arrival, each with a link to the next; NO_JOB ends the
   * list.
   */
  readonly firstLocal: ReadonlyColumn;
  readonly nextLocal: ReadonlyColumn;
  /** Processors that a waiting gang has claimed, in the order of the claims; NO_PROCESSOR ends the list. */
  readonly firstClaim: ReadonlyColumn;
  readonly nextClaim: ReadonlyColumn;
  /** Claimed processors of a waiting gang that are still busy. */
  readonly busyClaims: ReadonlyColumn;
  /** Processors of a job in service, or of the job that is departing. */
  readonly firstProcessor: ReadonlyColumn;
  readonly nextProcessor: ReadonlyColumn;
  /**
   * Seconds until the processor's job in service ends, as the processor reports it; 0 if it is idle or
   * overdue.
   */
  remainingS(processor: ProcessorId): number;
}

/**
 * The sites as a policy acts on them. Every call throws RuleViolation if the rules of the machine do not
 * allow it.
 */
export interface SitesMachine extends SitesView {
  /** Puts a local job that has just arrived at the tail of a queue of its site. */
  enqueue(local: JobIndex, processor: ProcessorId): void;
  /** Starts a local job that has just arrived, or that waits at this processor's queue. */
  startLocal(local: JobIndex, processor: ProcessorId, rule: SitesStartRule): void;
  /** Makes the gang wait for one more processor, at the head of its queue, where no other gang may wait. */
  claim(gang: JobIndex, processor: ProcessorId): void;
  /**
   * Gives the gang one idle processor at once, ahead of any gang that waits there. The other processors must
   * follow in the same decision, and then `startGang`.
   */
  take(gang: JobIndex, processor: ProcessorId): void;
  /**
   * Starts a gang that has taken or claimed as many processors as it has tasks; claimed ones must all be
   * idle.
   */
  startGang(gang: JobIndex, rule: SitesStartRule): void;
}

/** The rule by which a job was started. */
export const SitesStartRule = {
  /** Local: the processor was idle and its queue empty. */
  atOnce: 0,
  /** Local: it was the first in its queue. */
  inTurn: 1,
  /** Local: it passed a waiting gang. */
  backfilled: 2,
  /** Gang: a site had enough idle processors. */
  gangAtOnce: 3,
  /** Gang: the last of the processors for which it waited became idle. */
  gangGathered: 4,
  /** Gang: several sites together had enough idle processors. */
  gangSplit: 5,
} as const;
export type SitesStartRule = (typeof SitesStartRule)[keyof typeof SitesStartRule];

/** The rules by which a policy decides: what it promises, so that naive.ts can make the same decisions. */
export interface SitesRules {
  /** Gangs may be split. */
  readonly acrossSites: boolean;
  /** Which gang at the grid scheduler goes first. */
  readonly order: "largest" | "oldest";
  /**
   * A backfilled local job's predicted service is at most the time until the gang can start plus this; −1: no
   * backfilling.
   */
  readonly thresholdS: number;
  /** Of several suitable sites a gang gets the fastest; otherwise one is drawn. */
  readonly fastest: boolean;
  /** Gangs may start at once on idle processors at which another gang waits. */
  readonly takesHeld: boolean;
  /** Critical gangs go ahead of waiting local jobs. */
  readonly criticalAhead: boolean;
}

export interface SitesPolicyDefinition extends PolicyDescription<SitesRules> {
  make(machine: SitesMachine, jobs: SitesJobsView, parameters: ParameterValues): Policy;
}

/** What a simulation of sites returns. */
export interface SitesSchedule {
  /** NaN for a job that never started. */
  readonly startS: Float64Array;
  /** NaN for a job that had not ended when the run stopped. */
  readonly endS: Float64Array;
  /** 1 for gangs that ran on more than one site. */
  readonly split: Uint8Array;
  /** Instant at which the run stopped. */
  readonly stopS: number;
  /** Jobs that had arrived by then: rows 0 … arrived − 1. */
  readonly arrived: number;
  readonly completed: number;
  /** Processor-seconds in service from 0 to `stopS`, jobs still in service included, by site. */
  readonly busyS: readonly number[];
  /** Jobs started by each rule (index: SitesStartRule). */
  readonly startsByRule: readonly number[];
}

/** Receives the events of a simulation of sites. All times in seconds. */
export interface SitesObserver {
  enqueued?(timeS: number, local: JobIndex, processor: ProcessorId): void;
  claimed?(timeS: number, gang: JobIndex, processor: ProcessorId): void;
  /** One call per task of a gang, all at the same instant, before anything else happens. */
  started?(timeS: number, job: JobIndex, processor: ProcessorId, rule: SitesStartRule): void;
}
