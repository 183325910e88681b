/**
 * What is simulated for Dimitriadou and Karatza 2009: the paper's own experiments (sections IV.B and IV.C), readings and rules
 * varied beside them, and the extensions that its conclusion asks for. A cell is one study at one load in one
 * replication; it makes its jobs once and runs all variants on them (common random numbers).
 */
import { parseParameters } from "../../../core/parameters.ts";
import type { SiteSpec, SitesPolicyDefinition } from "../../../models/sites/contract.ts";
import type { SitesNumbers } from "../../../models/sites/metrics.ts";
import { summariseSites } from "../../../models/sites/metrics.ts";
import { acrossSites, oneSite } from "../../../models/sites/policies.ts";
import type { RemainingRule } from "../../../models/sites/simulate.ts";
import { simulateSites } from "../../../models/sites/simulate.ts";
import type { SitesJobs } from "../../../models/sites/workload.ts";
import {
  generateSites,
  POWER_OF_TWO_GANGS,
  UNIFORM_GANGS,
  withPredictionError,
} from "../../../models/sites/workload.ts";

/** Mean times between local jobs at a site of the paper, as it prints them; its λ are their inverses, 12.5, 10 and 8.3. */
export const LOCAL_EVERY_S = [0.08, 0.1, 0.12] as const;
/** Mean time between gangs, 1/λ3. */
const GANG_EVERY_S = 2;
/** A run stops when so many jobs have ended. */
const COMPLETIONS = 120_000;
const SPLIT_OVERHEAD = 0.1;

interface Variant {
  readonly policy: SitesPolicyDefinition;
  readonly settings?: readonly string[];
  /** E in %; default 0. */
  readonly error?: number;
  readonly remaining?: RemainingRule;
}

interface Study {
  readonly title: string;
  readonly sites: readonly SiteSpec[];
  /** Share of all local jobs that arrive at each site. */
  readonly localShares: readonly number[];
  readonly gangSizes: readonly number[];
  readonly criticalShare: number;
  readonly replications: number;
  /** Jobs made: enough for the completions and for all that can be left in the system. */
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
const BOTH = { one: { policy: oneSite }, across: { policy: acrossSites } };
/** The second reading of "idle": processors count at whose queue a gang waits. */
const BOTH_HELD = {
  "one, held": { policy: oneSite, settings: ["idle=held"] },
  "across, held": { policy: acrossSites, settings: ["idle=held"] },
};

/** The most expensive first. */
export const STUDIES = {
  uniform: {
    ...PAPER,
    title: "the paper's system, gangs of 2 to 13 tasks",
    variants: {
      ...BOTH,
      "one, E = 10": { policy: oneSite, error: 10 },
      "across, E = 10": { policy: acrossSites, error: 10 },
      "one, E = 30": { policy: oneSite, error: 30 },
      "across, E = 30": { policy: acrossSites, error: 30 },
      ...BOTH_HELD,
    },
  },
  rules: {
    ...PAPER,
    title: "rules and readings varied, approach 1",
    replications: EXTENSION_REPLICATIONS,
    jobs: 140_000,
    variants: {
      one: { policy: oneSite },
      "one, E = 30": { policy: oneSite, error: 30 },
      "one, E = 30, remaining times predicted": { policy: oneSite, error: 30, remaining: "predicted" },
      "one, T = 0.5": { policy: oneSite, settings: ["threshold=0.5"] },
      "one, oldest gang first": { policy: oneSite, settings: ["order=oldest"] },
      "one, no backfilling": { policy: oneSite, settings: ["backfill=none"] },
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
    title: "a tenth of the gangs critical",
    criticalShare: 0.1,
    replications: EXTENSION_REPLICATIONS,
    variants: {
      one: { policy: oneSite },
      "one, critical ahead": { policy: oneSite, settings: ["critical=ahead"] },
      "across, critical ahead": { policy: acrossSites, settings: ["critical=ahead"] },
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
      "one, fastest site": { policy: oneSite, settings: ["site=fastest"] },
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

export interface DimitriadouCell {
  readonly study: StudyName;
  readonly localEveryS: number;
  readonly replication: number;
  readonly seed: number;
}

/** One entry per variant, in their order. */
export type DimitriadouNumbers = readonly SitesNumbers[];

export function cellsOf(seed: number): DimitriadouCell[] {
  return (Object.keys(STUDIES) as StudyName[]).flatMap((study) =>
    LOCAL_EVERY_S.flatMap((localEveryS) =>
      Array.from({ length: STUDIES[study].replications }, (_, replication) => ({
        study,
        localEveryS,
        replication,
        seed,
      })),
    ),
  );
}

/** @throws Error when the jobs made do not suffice for the completions */
export function runCell(cell: DimitriadouCell): DimitriadouNumbers {
  const jobs = jobsOf(cell);
  return Object.keys(STUDIES[cell.study].variants).map((variant) => runVariant(cell.study, variant, jobs));
}

/** The jobs of a cell; all variants have the same. */
export function jobsOf(cell: DimitriadouCell): SitesJobs {
  const study: Study = STUDIES[cell.study];
  return generateSites({
    sites: study.sites,
    localEveryS: study.localShares.map((share) => cell.localEveryS / 2 / share),
    gangEveryS: GANG_EVERY_S,
    gangSizes: study.gangSizes,
    serviceS: 1,
    splitOverhead: SPLIT_OVERHEAD,
    criticalShare: study.criticalShare,
    count: study.jobs,
    seed: cell.seed,
    replication: cell.replication,
  });
}

export function runVariant(name: StudyName, variantName: string, jobs: SitesJobs): SitesNumbers {
  const study: Study = STUDIES[name];
  const { policy, settings, error, remaining } = study.variants[variantName];
  const instance = withPredictionError(jobs, error ?? 0);
  const parameters = parseParameters(policy.name, policy.parameters, settings ?? []);
  const schedule = simulateSites(instance, policy, parameters, {
    completions: COMPLETIONS,
    remaining: remaining ?? "exact",
  });
  if (schedule.completed < COMPLETIONS || schedule.arrived === study.jobs) {
    throw new Error(
      `Cannot measure "${variantName}" of study ${name}: only ${schedule.completed} jobs ended, expected ${COMPLETIONS} before the last of ${study.jobs} arrived`,
    );
  }
  return summariseSites(instance, schedule);
}

function sitesOf(...list: readonly (readonly [processors: number, speed: number])[]): SiteSpec[] {
  return list.map(([processors, speed]) => ({ processors, speed }));
}
