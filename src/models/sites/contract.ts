/**
 * The contract for grids of sites: processors with a FIFO queue each, grouped into sites, shared by local jobs (one processor, at
 * their own site) and gangs (all tasks at once on distinct processors, wherever the grid scheduler sends them).
 * After Dimitriadou and Karatza 2009, section II, with any number of sites of any sizes and speeds.
 *
 *   gangs ──▶ grid scheduler ──┬──▶ site 0   ▶▯▯▯●  ▶▯●  ▶●   queue and processor, side by side
 *               (own queue)    └──▶ site 1   ▶▯●  ▶▯▯●
 *                      local jobs ──▲ arrive at their site
 *
 * A policy decides as in core/policy.ts: it is told of departures, then `decide` is called with the arrivals in order of submission, once
 * per instant; a job without service time departs in the instant in which it starts, which is then decided again. What a paper
 * leaves to chance is decided by the job's `lot`, drawn with the job, so that policies stay deterministic and all of
 * them meet the same jobs (common random numbers).
 */
import type { JobIndex, ReadonlyColumn } from "../../core/jobs.ts";
import type { ParameterValues, Policy, PolicyDescription } from "../../core/policy.ts";

/** The home of a gang: it arrives at the grid scheduler. */
export const GRID = -1;

export interface SiteSpec {
  /** 1 or more. */
  readonly processors: number;
  /** Service in a second on a processor of this site; 1 in the paper. */
  readonly speed: number;
}

/** Processors of all sites are numbered through, a site's in one stretch. */
export type ProcessorId = number;

/** Stands for "no processor" wherever a ProcessorId is expected. */
export const NO_PROCESSOR: ProcessorId = -1;

/** One problem for the simulator of sites. Rows in order of submission. */
export interface SitesInstance {
  readonly sites: readonly SiteSpec[];
  /** Share of its service time by which a gang is prolonged that runs on more than one site; 0.1 in the paper. */
  readonly splitOverhead: number;
  readonly count: number;
  readonly submitS: Float64Array;
  /** On a processor of speed 1; all tasks of a gang alike. */
  readonly serviceS: Float64Array;
  /** What schedulers are told instead of the service time. */
  readonly predictedS: Float64Array;
  /** Tasks; 1 for local jobs. */
  readonly size: Int32Array;
  /** Site at which a local job arrives; GRID for gangs. */
  readonly home: Int32Array;
  /** 1 for gangs that are to be served before all others. */
  readonly critical: Uint8Array;
  /** A number in (0, 1) of the job's own, for whatever a rule leaves to chance. */
  readonly drawn: Float64Array;
}

/** What a policy may know of the jobs. It must not look at a job before that job has arrived. */
export interface SitesJobsView {
  readonly count: number;
  readonly submitS: ReadonlyColumn;
  readonly predictedS: ReadonlyColumn;
  readonly size: ReadonlyColumn;
  readonly home: ReadonlyColumn;
  readonly critical: ReadonlyColumn;
  readonly drawn: ReadonlyColumn;
}

/** The sites to read. Columns of sites, of processors and of jobs are kept up to date. */
export interface SitesView {
  readonly nowS: number;
  readonly siteCount: number;
  readonly processors: number;
  /** Processors of a site: firstOfSite[site] … firstOfSite[site + 1] − 1. */
  readonly firstOfSite: ReadonlyColumn;
  readonly speed: ReadonlyColumn;
  /** Processors of the site that are idle and at whose queue nobody waits. */
  readonly free: ReadonlyColumn;
  /** Processors of the site at whose queue nobody waits, idle or not. */
  readonly emptyQueues: ReadonlyColumn;
  /** Idle processors of the site at whose queue a gang waits. */
  readonly held: ReadonlyColumn;
  /** Site of the processor. */
  readonly siteOf: ReadonlyColumn;
  /** Job in service; NO_JOB on an idle processor. */
  readonly running: ReadonlyColumn;
  /** The gang at the head of the processor's queue, or NO_JOB. */
  readonly waitingGang: ReadonlyColumn;
  /** Jobs at the processor: in service, gang at the head, local jobs waiting. */
  readonly load: ReadonlyColumn;
  /** Local jobs waiting at the processor, in order of arrival, each with the next one; NO_JOB ends the list. */
  readonly firstLocal: ReadonlyColumn;
  readonly nextLocal: ReadonlyColumn;
  /** Processors that a waiting gang has claimed, in the order of the claims; NO_PROCESSOR ends the list. */
  readonly firstClaim: ReadonlyColumn;
  readonly nextClaim: ReadonlyColumn;
  /** Claimed processors of a waiting gang that are still busy. */
  readonly busyClaims: ReadonlyColumn;
  /** Processors of a job in service, or of the job that `depart` tells of. */
  readonly firstProcessor: ReadonlyColumn;
  readonly nextProcessor: ReadonlyColumn;
  /** Seconds until the processor's job in service ends, as the processor tells it; 0 when idle or overdue. */
  remainingS(processor: ProcessorId): number;
}

/** The sites as a policy acts on them. Every call throws RuleViolation when the rules of the machine do not allow it. */
export interface SitesMachine extends SitesView {
  /** Puts a local job that has just arrived at the tail of a queue of its site. */
  enqueue(local: JobIndex, processor: ProcessorId): void;
  /** Starts a local job that has just arrived, or that waits at this processor's queue. */
  startLocal(local: JobIndex, processor: ProcessorId, rule: SitesStartRule): void;
  /** Lets the gang wait for one more processor, at the head of its queue, where no other gang waits. */
  claim(gang: JobIndex, processor: ProcessorId): void;
  /** Gives the gang one idle processor at once, past a gang that waits there; the rest must follow in the same decision, then `startGang`. */
  take(gang: JobIndex, processor: ProcessorId): void;
  /** Starts a gang that has taken, or claimed, as many processors as it has tasks; claimed ones must all be idle. */
  startGang(gang: JobIndex, rule: SitesStartRule): void;
}

/** Why a job was started. */
export const SitesStartRule = {
  /** Local: the processor was idle and its queue empty. */
  atOnce: 0,
  /** Local: its turn had come. */
  inTurn: 1,
  /** Local: it passed a waiting gang. */
  backfilled: 2,
  /** Gang: a site had enough idle processors. */
  gangAtOnce: 3,
  /** Gang: the last of the processors that it waited for became idle. */
  gangGathered: 4,
  /** Gang: several sites together had enough idle processors. */
  gangSplit: 5,
} as const;
export type SitesStartRule = (typeof SitesStartRule)[keyof typeof SitesStartRule];

/** What a policy promises beyond the rules of the machine; the checker holds it to that. */
export interface SitesGuarantees {
  /** A backfilled local job's predicted service is at most the time until the gang can start plus this; −1 without backfilling. */
  readonly thresholdS: number;
  /** After `decide` no gang is left at the grid scheduler that the empty queues of one site could take. */
  readonly noGangLeft: boolean;
  /** After `decide` no gang is left there that the free processors of all sites together could take. */
  readonly noGangLeftAcrossSites: boolean;
  /** Gangs may start at once on idle processors at which another gang waits; "free" in the two lines above includes these. */
  readonly takesHeld: boolean;
  /** Critical gangs may go ahead of local jobs that wait. */
  readonly criticalAhead: boolean;
}

export interface SitesPolicyDefinition extends PolicyDescription<SitesGuarantees> {
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

/** Listens to a simulation of sites. All times in seconds. */
export interface SitesObserver {
  arrived?(timeS: number, job: JobIndex): void;
  enqueued?(timeS: number, local: JobIndex, processor: ProcessorId): void;
  claimed?(timeS: number, gang: JobIndex, processor: ProcessorId): void;
  /** A gang is told once per task, all in the same instant, before anything else happens. */
  started?(timeS: number, job: JobIndex, processor: ProcessorId, rule: SitesStartRule): void;
  departed?(timeS: number, job: JobIndex): void;
  /** After each `decide`. */
  decided?(timeS: number): void;
}
