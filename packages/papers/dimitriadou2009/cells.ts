/**
 * Lists what is simulated for Dimitriadou and Karatza 2009: the paper's experiments (sections IV.B and IV.C),
 * variants of its rules and of how we read them, and the extensions that the paper's conclusion asks for. All
 * variants of a study get the same jobs.
 */

import data from "../../../docs/papers/dimitriadou2009.cells.json" with { type: "json" };
import type { PlacedCell } from "../paper.ts";
import type { RemainingRule } from "../wings/sites/simulate.ts";
import type { SitesWorkload } from "../wings/sites/workload.ts";

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

/** As in docs/papers/dimitriadou2009.cells.json; the most expensive study comes first. */
export type StudyName = keyof typeof data.studies;
export type VariantOf<S extends StudyName> = keyof (typeof data.studies)[S]["variants"];

export const STUDIES = Object.fromEntries(
  Object.entries(data.studies).map(([name, study]) => [name, { ...data.paper, ...study }]),
) as unknown as Readonly<Record<StudyName, Study>>;

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
