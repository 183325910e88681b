/**
 * Lists what is simulated for Dimitriadou and Karatza 2009: the paper's experiments (sections IV.B and IV.C),
 * variants of its rules and of how we read them, and the extensions that the paper's conclusion asks for. All
 * variants of a study get the same jobs.
 */

import type { SiteSpec } from "../../../wings/sites/contract.ts";
import { acrossSites, oneSite } from "../../../wings/sites/policies.ts";
import type { RemainingRule } from "../../../wings/sites/simulate.ts";
import { POWER_OF_TWO_GANGS, type SitesWorkload, UNIFORM_GANGS } from "../../../wings/sites/workload.ts";
import type { PlacedCell } from "../paper.ts";

/**
 * Mean times between local jobs at a site, as the paper prints them. Its λ are the inverses: 12.5, 10 and 8.3
 * jobs per mean service time.
 */
export const LOCAL_EVERY_S = [0.08, 0.1, 0.12] as const;
/** Mean time between gangs, 1/λ3. */
const GANG_EVERY_S = 2;
/** A run stops when this many jobs have ended. */
const COMPLETIONS = 120_000;
const SPLIT_OVERHEAD = 0.1;

const ONE = oneSite.name;
const ACROSS = acrossSites.name;

interface Variant {
  /** As on the command line. */
  readonly policy: string;
  /** Largest error of predictions, in %; default 0. */
  readonly error?: number;
  readonly remaining?: RemainingRule;
}

interface Study extends Pick<SitesWorkload, "sites" | "gangSizes" | "criticalShare"> {
  readonly title: string;
  /** Share of all local jobs that arrive at each site. */
  readonly localShares: readonly number[];
  readonly replications: number;
  /** Jobs to generate: enough for the completions and for all jobs that can be left in the system. */
  readonly jobs: number;
  readonly variants: Readonly<Record<string, Variant>>;
}

const PAPER = {
  sites: sitesOf([16, 1], [16, 1]),
  localShares: [0.5, 0.5],
  gangSizes: UNIFORM_GANGS,
  criticalShare: 0,
  replications: 10,
  jobs: 124_000,
};
const EXTENSION_REPLICATIONS = 5;
const BOTH = { one: { policy: ONE }, across: { policy: ACROSS } };
/** "Idle" read literally: an idle processor counts even if a gang waits in its queue. */
const ONE_HELD = `${ONE}:idle=held`;
const ACROSS_HELD = `${ACROSS}:idle=held`;
const BOTH_HELD = { "one, held": { policy: ONE_HELD }, "across, held": { policy: ACROSS_HELD } };

/** The most expensive study comes first. */
export const STUDIES = {
  uniform: {
    ...PAPER,
    title: "the paper's system, gangs of 2 to 13 tasks",
    variants: {
      ...BOTH,
      "one, E = 10": { policy: ONE, error: 10 },
      "across, E = 10": { policy: ACROSS, error: 10 },
      "one, E = 30": { policy: ONE, error: 30 },
      "across, E = 30": { policy: ACROSS, error: 30 },
      ...BOTH_HELD,
      "one, held, E = 10": { policy: ONE_HELD, error: 10 },
      "across, held, E = 10": { policy: ACROSS_HELD, error: 10 },
      "one, held, E = 30": { policy: ONE_HELD, error: 30 },
      "across, held, E = 30": { policy: ACROSS_HELD, error: 30 },
    },
  },
  rules: {
    ...PAPER,
    title: "variants of the rules and of how we read them, approach 1",
    replications: EXTENSION_REPLICATIONS,
    jobs: 140_000,
    variants: {
      one: { policy: ONE },
      "one, E = 30": { policy: ONE, error: 30 },
      "one, E = 30, remaining times predicted": { policy: ONE, error: 30, remaining: "predicted" },
      "one, T = 0.5": { policy: `${ONE}:threshold=0.5` },
      "one, oldest gang first": { policy: `${ONE}:order=oldest` },
      "one, no backfilling": { policy: `${ONE}:backfill=none` },
      "one, held, E = 30": { policy: ONE_HELD, error: 30 },
      "one, held, no backfilling": { policy: `${ONE_HELD}:backfill=none` },
    },
  },
  powers: {
    ...PAPER,
    title: "the paper's system, gangs of 2, 4, 8 or 16 tasks",
    gangSizes: POWER_OF_TWO_GANGS,
    variants: { ...BOTH, ...BOTH_HELD },
  },
  critical: {
    ...PAPER,
    title: "a tenth of the gangs are critical",
    criticalShare: 0.1,
    replications: EXTENSION_REPLICATIONS,
    variants: {
      one: { policy: ONE },
      "one, critical ahead": { policy: `${ONE}:critical=ahead` },
      "across, critical ahead": { policy: `${ACROSS}:critical=ahead` },
    },
  },
  speeds: {
    ...PAPER,
    title: "sites of 16 processors of speed 1.25 and 16 of speed 0.75, local jobs in proportion",
    sites: sitesOf([16, 1.25], [16, 0.75]),
    localShares: [0.625, 0.375],
    replications: EXTENSION_REPLICATIONS,
    variants: {
      ...BOTH,
      "one, fastest site": { policy: `${ONE}:site=fastest` },
    },
  },
  sizes: {
    ...PAPER,
    title: "sites of 24 and 8 processors, local jobs in proportion",
    sites: sitesOf([24, 1], [8, 1]),
    localShares: [0.75, 0.25],
    replications: EXTENSION_REPLICATIONS,
    variants: BOTH,
  },
  four: {
    ...PAPER,
    title: "four sites of 8 processors",
    sites: sitesOf([8, 1], [8, 1], [8, 1], [8, 1]),
    localShares: [0.25, 0.25, 0.25, 0.25],
    replications: EXTENSION_REPLICATIONS,
    variants: BOTH,
  },
} as const satisfies Readonly<Record<string, Study>>;

export type StudyName = keyof typeof STUDIES;
export type VariantOf<S extends StudyName> = keyof (typeof STUDIES)[S]["variants"];

/** One variant at one load. */
export interface Place {
  readonly study: StudyName;
  readonly variant: string;
  readonly localEveryS: number;
}

export function cells(seed: number): PlacedCell<Place, "sites">[] {
  return (Object.entries(STUDIES) as [StudyName, Study][]).flatMap(([name, study]) =>
    LOCAL_EVERY_S.flatMap((localEveryS) =>
      Array.from({ length: study.replications }, (_, replication) =>
        Object.entries(study.variants).map(([variant, { policy, error = 0, remaining = "exact" }]) => ({
          place: { study: name, variant, localEveryS },
          cell: {
            kind: "sites" as const,
            jobs: workloadOf(study, localEveryS, seed, replication),
            error,
            policy,
            remaining,
            completions: COMPLETIONS,
          },
        })),
      ).flat(),
    ),
  );
}

function workloadOf(study: Study, localEveryS: number, seed: number, replication: number): SitesWorkload {
  return {
    sites: study.sites,
    localEveryS: study.localShares.map((share) => localEveryS / 2 / share),
    gangEveryS: GANG_EVERY_S,
    gangSizes: study.gangSizes,
    serviceS: 1,
    splitOverhead: SPLIT_OVERHEAD,
    criticalShare: study.criticalShare,
    count: study.jobs,
    seed,
    replication,
  };
}

function sitesOf(...list: readonly (readonly [processors: number, speed: number])[]): SiteSpec[] {
  return list.map(([processors, speed]) => ({ processors, speed }));
}
