/**
 * Generates the workload of Dimitriadou and Karatza 2009, section II, for any number of sites: local jobs
 * arrive at each site and gangs at the grid scheduler, all as Poisson streams with exponential service times.
 * Every attribute of every source has its own random stream. So if a run has another load, size distribution
 * or prediction error, everything else stays the same.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { SiteSpec, SitesInstance } from "./contract.ts";
import { GRID } from "./contract.ts";

export interface SitesWorkload {
  readonly sites: readonly SiteSpec[];
  /** Mean time between local jobs at each site, in seconds; Infinity for none. */
  readonly localEveryS: readonly number[];
  /** Mean time between gangs in seconds; Infinity for none. */
  readonly gangEveryS: number;
  /** Sizes of gangs, equally likely. */
  readonly gangSizes: readonly number[];
  /** Mean service time of a local job and of a gang's task, on a processor of speed 1. */
  readonly serviceS: number;
  readonly splitOverhead: number;
  /** Share of the gangs that are critical. */
  readonly criticalShare: number;
  /** Number of jobs to generate. */
  readonly count: number;
  readonly seed: number;
  readonly replication: number;
}

/** An instance with exact predictions, and the random numbers on which its predictions depend. */
interface SitesJobs {
  readonly instance: SitesInstance;
  /** Uniform in (−1, 1) for each job. */
  readonly error: Float64Array;
}

/** The gang sizes of the paper, 2 … 13, mean 7.5. */
export const UNIFORM_GANGS: readonly number[] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
/** The gang sizes of the authors' previous study, also with mean 7.5. */
export const POWER_OF_TWO_GANGS: readonly number[] = [2, 4, 8, 16];

/** A source of jobs, with its next arrival and its random streams. */
function sourceOf(name: string, home: number, everyS: number, { seed, replication }: SitesWorkload) {
  const stream = (attribute: string) => new Random(seed, `${replication}/${name}/${attribute}`);
  const arrivals = stream("arrivals");
  return {
    home,
    everyS,
    nextS: arrivals.exponential(everyS),
    arrivals,
    service: stream("service"),
    error: stream("error"),
    drawn: stream("lot"),
    sizes: stream("sizes"),
    critical: stream("critical"),
  };
}

/** @throws InputError if a number is out of range */
export function generateSites(workload: SitesWorkload): SitesJobs {
  check(workload);
  const { sites, localEveryS, gangEveryS, gangSizes, count } = workload;
  const sources = localEveryS.map((everyS, site) => sourceOf(`local ${site}`, site, everyS, workload));
  sources.push(sourceOf("gangs", GRID, gangEveryS, workload));
  const submitS = new Float64Array(count);
  const serviceS = new Float64Array(count);
  const size = new Int32Array(count);
  const home = new Int32Array(count);
  const critical = new Uint8Array(count);
  const drawn = new Float64Array(count);
  const error = new Float64Array(count);
  for (let job = 0; job < count; job++) {
    let source = sources[0];
    for (let i = 1; i < sources.length; i++) if (sources[i].nextS < source.nextS) source = sources[i];
    submitS[job] = source.nextS;
    serviceS[job] = source.service.exponential(workload.serviceS);
    home[job] = source.home;
    size[job] = source.home === GRID ? gangSizes[source.sizes.below(gangSizes.length)] : 1;
    critical[job] = source.home === GRID && source.critical.uniform() < workload.criticalShare ? 1 : 0;
    drawn[job] = source.drawn.uniform();
    error[job] = 2 * source.error.uniform() - 1;
    source.nextS += source.arrivals.exponential(source.everyS);
  }
  const { splitOverhead } = workload;
  return {
    instance: {
      sites,
      splitOverhead,
      count,
      submitS,
      serviceS,
      predictedS: serviceS,
      size,
      home,
      critical,
      drawn,
    },
    error,
  };
}

/**
 * The same jobs with predictions that are off by up to `percent` % of the service time, uniformly (E in the
 * paper).
 */
export function withPredictionError(jobs: SitesJobs, percent: number): SitesInstance {
  if (!(percent >= 0 && percent <= 100)) {
    throw new InputError(`Cannot predict with an error of ${percent} %: expected 0 to 100`);
  }
  const { serviceS } = jobs.instance;
  const predictedS = serviceS.map((exactS, job) => exactS * (1 + (percent / 100) * jobs.error[job]));
  return { ...jobs.instance, predictedS };
}

function check(workload: SitesWorkload): void {
  const { sites, localEveryS, gangEveryS, gangSizes, serviceS, splitOverhead, criticalShare, count } =
    workload;
  const refuse = (what: string, value: unknown, expected: string): never => {
    throw new InputError(`Cannot generate jobs for sites with ${what} ${value}: expected ${expected}`);
  };
  if (localEveryS.length !== sites.length) {
    refuse("mean times between local jobs for", `${localEveryS.length} sites`, `${sites.length}`);
  }
  for (const everyS of [...localEveryS, gangEveryS]) {
    if (!(everyS > 0)) refuse("mean time between arrivals", everyS, "above 0 s");
  }
  if (Math.min(...localEveryS, gangEveryS) === Number.POSITIVE_INFINITY) {
    refuse("mean times between arrivals that are all", Number.POSITIVE_INFINITY, "a finite one");
  }
  for (const size of gangSizes) {
    if (!(Number.isInteger(size) && size >= 1)) refuse("gang size", size, "an integer of 1 or more");
  }
  if (gangSizes.length === 0) refuse("gang sizes", "none", "one or more");
  if (!(serviceS > 0 && serviceS < Number.POSITIVE_INFINITY))
    refuse("mean service time", serviceS, "above 0 s");
  if (!(splitOverhead >= 0 && splitOverhead <= 10)) refuse("overhead", splitOverhead, "0 to 10");
  if (!(criticalShare >= 0 && criticalShare <= 1)) refuse("share of critical gangs", criticalShare, "0 to 1");
  if (!(Number.isInteger(count) && count >= 0)) refuse("count", count, "an integer of 0 or more");
}
