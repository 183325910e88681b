/**
 * Lists what is simulated for Kawanami, Yoshihisa and Kanazawa 2008: the same jobs under each scheduler, once
 * per seed (common random numbers).
 */

import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { connectedReservation } from "@tutti/kernel/policies/space/connected-reservation.ts";
import data from "../../../docs/papers/kawanami2008.cells.json" with { type: "json" };
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";
import type { QueuesResult } from "./run.ts";

const SEEDS = 96;

/**
 * The schedulers of section 4, and the conventional scheduler without the limit on passing, whose value the
 * paper does not print.
 */
export const SCHEDULERS = data.schedulers;
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
