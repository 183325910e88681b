/**
 * Lists what is simulated for Kawanami, Yoshihisa and Kanazawa 2008: the same jobs under each scheduler, once
 * per seed (common random numbers).
 */
import { DEFAULT_RULES } from "../../../core/rules.ts";
import { connectedReservation } from "../../../policies/space/connected-reservation.ts";
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";
import type { QueuesResult } from "./run.ts";

const SEEDS = 96;

/**
 * The schedulers of section 4, and the conventional scheduler without the limit on passing, whose value the
 * paper does not print.
 */
export const SCHEDULERS = {
  conventional: {
    title: "conventional",
    meaning:
      "users choose queues by hand, first fit; all running jobs that passed others use at most one node of 128 processors together",
    settings: ["selection=user", "reservations=none", `passing=${128 / 1408}`],
  },
  unlimited: {
    title: "conventional, free passing",
    meaning: "the same, without the limit on jobs that passed others",
    settings: ["selection=user", "reservations=none"],
  },
  proposal1: {
    title: "proposal 1",
    meaning: "automatic queue selection, first fit, no reservations",
    settings: ["selection=automatic", "reservations=none"],
  },
  proposal2: {
    title: "proposal 2",
    meaning: "automatic queue selection, first fit, connected reservations within the limits of table 4",
    settings: ["selection=automatic", "reservations=limited"],
  },
} as const;

export type SchedulerKey = keyof typeof SCHEDULERS;
export const SCHEDULER_KEYS = Object.keys(SCHEDULERS) as SchedulerKey[];

export interface Place {
  readonly scheduler: SchedulerKey;
}
export type KawanamiResults = Results<Place, QueuesResult>;

/** Seed by seed, all schedulers on the same jobs. */
export function cells(firstSeed: number): PlacedCell<Place, "queues">[] {
  return Array.from({ length: SEEDS }, (_, i) =>
    SCHEDULER_KEYS.map((scheduler) => ({
      place: { scheduler },
      cell: {
        kind: "queues" as const,
        source: { jobs: "hpc2500", seed: firstSeed + i },
        rules: DEFAULT_RULES,
        policy: [connectedReservation.name, ...SCHEDULERS[scheduler].settings].join(":"),
        slotS: 1,
        switchS: 0,
      },
    })),
  ).flat();
}
