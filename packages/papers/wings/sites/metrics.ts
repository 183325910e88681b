/**
 * Computes the numbers of one run of sites as Dimitriadou and Karatza 2009 define them (section IV.A):
 * response time and slowdown of local jobs, and the same for gangs, weighted by size. They cover the jobs
 * that ended before the run stopped, from the first job on, since the paper leaves out no warm-up.
 *
 * The mean slowdown of exponential service times does not converge (the mean of 1/x near zero is infinite):
 * one job with almost no service can outweigh all others, and more jobs do not help. So bounded slowdowns and
 * medians are given, too.
 */

import { quantilesInPlace } from "@tutti/kernel/core/selection.ts";
import { sumOf } from "@tutti/kernel/metrics/compensated-sum.ts";
import type { SitesInstance, SitesSchedule } from "./contract.ts";
import { GRID, SitesStartRule } from "./contract.ts";

/** Bound of bounded slowdowns: a tenth of the mean service time of the paper. */
const SITES_BOUND_S = 0.1;

/** Numbers over one kind of jobs; NaN if none has ended. */
export interface SitesJobNumbers {
  readonly arrived: number;
  readonly ended: number;
  /** RT: from arrival to end. */
  readonly responseS: number;
  readonly medianResponseS: number;
  /**
   * SLD: response over service time on a processor of speed 1, without overhead; NaN or infinite as soon as a
   * job without service has ended.
   */
  readonly slowdown: number;
  readonly medianSlowdown: number;
  /** max(1, response / max(service, bound)). */
  readonly boundedSlowdown: number;
  /** WRT, WSLD and so on: means weighted by size. */
  readonly weightedResponseS: number;
  readonly weightedSlowdown: number;
  readonly weightedBoundedSlowdown: number;
}

export interface SitesNumbers {
  readonly locals: SitesJobNumbers;
  readonly gangs: SitesJobNumbers;
  /** The critical gangs. */
  readonly critical: SitesJobNumbers;
  /**
   * Busy processor-seconds over processors × time, until the run stopped: of all sites together, then of each
   * site.
   */
  readonly utilisation: number;
  readonly siteUtilisation: readonly number[];
  /** Share of the gangs that arrived and ended; NaN without gangs. */
  readonly gangsFinished: number;
  /** Share of the started gangs that were split over sites. */
  readonly gangsSplit: number;
  /** Share of the started local jobs that passed a gang. */
  readonly localsBackfilled: number;
}

/**
 * All numbers of one run; linear in the jobs.
 * @param boundS service times below this count as this in bounded slowdowns
 */
export function summariseSites(
  instance: SitesInstance,
  schedule: SitesSchedule,
  boundS = SITES_BOUND_S,
): SitesNumbers {
  const { sites } = instance;
  const { busyS, stopS, startsByRule } = schedule;
  const processors = sites.reduce((sum, site) => sum + site.processors, 0);
  const { atOnce, inTurn, backfilled, gangAtOnce, gangGathered, gangSplit } = SitesStartRule;
  const started = (...rules: number[]) => rules.reduce((sum, rule) => sum + startsByRule[rule], 0);
  const of = (counts: (job: number) => boolean) => numbersOf(instance, schedule, boundS, counts);
  const gangs = of((job) => instance.home[job] === GRID);
  return {
    locals: of((job) => instance.home[job] !== GRID),
    gangs,
    critical: of((job) => instance.critical[job] === 1),
    utilisation: busyS.reduce((sum, siteS) => sum + siteS, 0) / (processors * stopS),
    siteUtilisation: sites.map((site, i) => busyS[i] / (site.processors * stopS)),
    gangsFinished: gangs.ended / gangs.arrived,
    gangsSplit: started(gangSplit) / started(gangAtOnce, gangGathered, gangSplit),
    localsBackfilled: started(backfilled) / started(atOnce, inTurn, backfilled),
  };
}

function numbersOf(
  instance: SitesInstance,
  schedule: SitesSchedule,
  boundS: number,
  counts: (job: number) => boolean,
): SitesJobNumbers {
  const { submitS, serviceS, size } = instance;
  const { arrived, endS } = schedule;
  const jobs = Array.from({ length: arrived }, (_, job) => job).filter(counts);
  const ended = jobs.filter((job) => !Number.isNaN(endS[job]));
  const of = (value: (job: number) => number) => Float64Array.from(ended, value);
  const mean = (values: Float64Array) => sumOf(values) / ended.length;
  const sizes = sumOf(of((job) => size[job]));
  const weighted = (values: Float64Array) => sumOf(values.map((value, i) => size[ended[i]] * value)) / sizes;
  const responses = of((job) => endS[job] - submitS[job]);
  const slowdowns = responses.map((responseS, i) => responseS / serviceS[ended[i]]);
  const bounded = responses.map((responseS, i) =>
    Math.max(1, responseS / Math.max(serviceS[ended[i]], boundS)),
  );
  return {
    arrived: jobs.length,
    ended: ended.length,
    responseS: mean(responses),
    medianResponseS: median(responses),
    slowdown: mean(slowdowns),
    medianSlowdown: median(slowdowns),
    boundedSlowdown: mean(bounded),
    weightedResponseS: weighted(responses),
    weightedSlowdown: weighted(slowdowns),
    weightedBoundedSlowdown: weighted(bounded),
  };
}

function median(values: Float64Array): number {
  return quantilesInPlace(values.slice(), 0, values.length, [0.5])[0];
}
