/** Draws what a life is like: machine, configuration, users, workload, and which faults how often. */
import type { Random } from "../world/contract.ts";
import type { GroupsKind } from "../world/kernel/machine.ts";
import { FAULTS } from "./faults.ts";
import { KINDS } from "./kinds.ts";

export interface Setting {
  readonly seed: number;
  /** How long faults and arrivals go on, in hours of the world. */
  readonly hours: number;
  readonly cpus: number;
  /** Control groups of the machine: how gangs can be stopped. */
  readonly groups: GroupsKind;
  /** Serves all users, run by root; or one user. */
  readonly isShared: boolean;
  readonly users: readonly string[];
  readonly policy: string;
  readonly mode: "gang" | "concurrent";
  readonly slotMs: number;
  readonly maxRows: number;
  /** Running jobs of a user at a time; undefined: no limit. */
  readonly runningJobs: number | undefined;
  readonly graceMs: number;
  /** Between two arrivals, on average. */
  readonly arrivalMs: number;
  /** Between two faults, on average. */
  readonly faultMs: number;
  /** Running times are drawn between these, on a scale of factors. */
  readonly runMs: readonly [number, number];
  /** Whether the disk keeps changes in any order without a sync. */
  readonly isLaxDisk: boolean;
  readonly pidMax: number;
  /** Weights by name; 0: not in this life. */
  readonly faults: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
}

export const POLICIES = [
  "gang",
  "easy",
  "brmms:queue=first-fit",
  "conservative",
  "wlv:queue=first-fit",
  "fcfs",
  "brms",
  "first-fit",
  "easy:order=fair-share",
] as const;

const SLOTS_MS = [20, 100, 100, 500, 1000, 1000, 5000, 30_000] as const;
const MINUTE_MS = 60_000;
/** A swarm: each fault is left out of some lives, so that the others come through to what it would hide. */
const LEFT_OUT = 0.4;

export function drawSetting(seed: number, random: Random, hours: number): Setting {
  const weights = (all: readonly { readonly name: string; readonly weight?: number }[]) =>
    Object.fromEntries(
      all.map(({ name, weight = 1 }) => [name, random.chance(LEFT_OUT) ? 0 : weight * (0.2 + random.unit())]),
    );
  const isShared = random.chance(0.6);
  const longestMs = random.pick([10_000, 2 * MINUTE_MS, 20 * MINUTE_MS, 90 * MINUTE_MS]);
  return {
    seed,
    hours,
    cpus: random.pick([1, 2, 2, 4, 4, 8, 16]),
    groups: random.pick(["v2", "v2", "hybrid", "v1", "none"]),
    isShared,
    users: isShared ? ["ada", "bob", "eve"] : ["root"],
    policy: random.pick(POLICIES),
    mode: random.chance(0.85) ? "gang" : "concurrent",
    slotMs: random.pick(SLOTS_MS),
    maxRows: random.pick([1, 2, 3, 4, 4, 8]),
    runningJobs: isShared && random.chance(0.5) ? random.between(1, 4) : undefined,
    graceMs: random.pick([0, 500, 5000, 30_000]),
    arrivalMs: longestMs * (0.2 + 0.6 * random.unit()),
    faultMs: random.pick([MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS]),
    runMs: [longestMs / 200, longestMs],
    isLaxDisk: random.chance(0.3),
    pidMax: random.pick([500, 32_768, 32_768]),
    faults: weights(FAULTS),
    kinds: weights(KINDS),
  };
}
