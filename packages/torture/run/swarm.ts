/** Draws what a life is like: machine, configuration, users, workload, and which faults how often. */
import type { Random } from "../world/contract.ts";
import { FAULTS } from "./faults.ts";
import { KINDS } from "./kinds.ts";
import { POLICIES, type Setting } from "./setting.ts";

const SLOTS_MS = [20, 100, 100, 100, 500, 500, 1000, 1000, 1000, 5000, 5000, 30_000] as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a life, on average: jobs that come one after the other show little that the first ones do not. */
const MOST_ARRIVALS = 200;
/**
 * A swarm: of kinds and faults, some or most are left out of a life, so that the others come through to what
 * these would hide, and often enough.
 */
const LEFT_OUT = [0.3, 0.6, 0.85] as const;

export function drawSetting(seed: number, random: Random, hours: number): Setting {
  const weights = (all: readonly { readonly name: string; readonly weight?: number }[]) => {
    const leftOut = random.pick(LEFT_OUT);
    return Object.fromEntries(
      all.map(({ name, weight = 1 }) => [name, random.chance(leftOut) ? 0 : weight * (0.2 + random.unit())]),
    );
  };
  const groups = random.pick(["v2", "v2", "hybrid", "v1", "none"] as const);
  const isShared = random.chance(0.6);
  const longestMs = random.pick([10_000, 2 * MINUTE_MS, 20 * MINUTE_MS, 90 * MINUTE_MS]);
  return {
    seed,
    hours,
    cpus: random.pick([1, 2, 2, 4, 4, 8, 16]),
    groups,
    isShared,
    users: isShared ? ["ada", "bob", "eve"] : ["root"],
    policy: random.pick(POLICIES),
    // Without control groups, no gang can run at low priority, and the scheduler does not start.
    mode: random.chance(0.85) || groups === "none" ? "gang" : "concurrent",
    slotMs: random.pick(SLOTS_MS),
    maxRows: random.pick([1, 2, 3, 4, 4, 8]),
    runningJobs: isShared && random.chance(0.5) ? random.between(1, 4) : undefined,
    graceMs: random.pick([0, 500, 5000, 30_000]),
    // In some lives, nearly nothing happens that could wake what sleeps for too long.
    arrivalMs:
      Math.max(longestMs * (0.2 + 0.6 * random.unit()), (hours * HOUR_MS) / MOST_ARRIVALS) *
      (random.chance(0.2) ? 20 : 1),
    faultMs: random.pick([MINUTE_MS / 3, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS]),
    runMs: [longestMs / 200, longestMs],
    isLaxDisk: random.chance(0.3),
    pidMax: random.pick([500, 32_768, 32_768]),
    faults: weights(FAULTS),
    kinds: weights(KINDS),
  };
}
