/** Small problems for tests of the simulator of sites: random ones, and ones written as a list of jobs. */
import fc from "fast-check";
import type { SiteSpec, SitesInstance } from "./contract.ts";
import { GRID } from "./contract.ts";

export interface SmallJob {
  readonly submitS: number;
  readonly serviceS: number;
  /** Default: the service time. */
  readonly predictedS?: number;
  /** Default: 1. */
  readonly size?: number;
  /** Default: site 0. */
  readonly home?: number;
  readonly critical?: boolean;
  /** Default: just above 0, which picks the first candidate. */
  readonly drawn?: number;
}

/** Jobs need not be sorted. */
export function smallInstance(
  sites: readonly SiteSpec[],
  list: readonly SmallJob[],
  splitOverhead = 0.5,
): SitesInstance {
  const jobs = [...list].sort((a, b) => a.submitS - b.submitS);
  return {
    sites,
    splitOverhead,
    count: jobs.length,
    submitS: Float64Array.from(jobs, (job) => job.submitS),
    serviceS: Float64Array.from(jobs, (job) => job.serviceS),
    predictedS: Float64Array.from(jobs, (job) => job.predictedS ?? job.serviceS),
    size: Int32Array.from(jobs, (job) => job.size ?? 1),
    home: Int32Array.from(jobs, (job) => job.home ?? 0),
    critical: Uint8Array.from(jobs, (job) => (job.critical === true ? 1 : 0)),
    drawn: Float64Array.from(jobs, (job) => job.drawn ?? 1e-9),
  };
}

/** Sites of one speed, each with this many processors. */
export function sitesOf(...processors: readonly number[]): SiteSpec[] {
  return processors.map((count) => ({ processors: count, speed: 1 }));
}

/**
 * Crowded problems with whole-number times, so that many things happen at one instant, and with some jobs
 * without service.
 */
export const arbitraryInstance: fc.Arbitrary<SitesInstance> = fc
  .array(fc.record({ processors: fc.integer({ min: 1, max: 5 }), speed: fc.constantFrom(1, 1, 2, 0.5) }), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((sites) => {
    const processors = sites.reduce((sum, site) => sum + site.processors, 0);
    const job = fc.record({
      submitS: fc.integer({ min: 0, max: 40 }),
      serviceS: fc.integer({ min: 0, max: 8 }),
      predictedS: fc.integer({ min: 0, max: 8 }),
      isGang: fc.integer({ min: 0, max: 2 }).map((draw) => draw === 0),
      size: fc.integer({ min: 1, max: processors }),
      home: fc.integer({ min: 0, max: sites.length - 1 }),
      critical: fc.boolean(),
      drawn: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    });
    const jobs = fc.array(job, { maxLength: 60, size: "max" });
    return fc.tuple(jobs, fc.constantFrom(0, 0.5)).map(([list, overhead]) =>
      smallInstance(
        sites,
        list.map(({ isGang, ...rest }) => ({
          ...rest,
          size: isGang ? rest.size : 1,
          home: isGang ? GRID : rest.home,
        })),
        overhead,
      ),
    );
  });
