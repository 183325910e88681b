/** Draws what a life is like: machine, configuration, users, workload, and which faults how often. */
import type { Random } from "../world/contract.ts";
import { clusterSetting } from "./cluster/swarm.ts";
import { FAULTS } from "./faults.ts";
import { KINDS } from "./kinds.ts";
import { POLICIES, type Setting } from "./setting.ts";
import { drawWeights } from "./weights.ts";

const SLOTS_MS = [20, 100, 100, 100, 500, 500, 1000, 1000, 1000, 5000, 5000, 30_000] as const;
const S_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a broad life, on average: jobs that come one after the other show little that the first ones do not. */
const MOST_ARRIVALS = 200;
/** Lives whose jobs run on nodes of a Slurm. */
const CLUSTERS = 1 / 3;

interface Named {
  readonly name: string;
  readonly weight?: number;
}

/** What a life is about: how long it is, which jobs come how often, and which faults. */
type Theme = Pick<Setting, "hours" | "arrivalMs" | "faultMs" | "runMs" | "kinds" | "faults">;

/**
 * A few kinds of jobs and a few faults, often and close together: what needs both at the same moment happens
 * in some of these lives, and hardly ever in a life that has everything.
 */
function narrow(random: Random): Theme {
  const some = (all: readonly Named[], most: number) => {
    const drawn = all.flatMap((one) => Array<Named>(one.weight ?? 1).fill(one));
    const chosen = Array.from({ length: random.between(1, most) }, () => random.pick(drawn));
    return Object.fromEntries(chosen.map(({ name }) => [name, 1]));
  };
  const longestMs = random.pick([5 * S_MS, 20 * S_MS, MINUTE_MS]);
  return {
    hours: 0.5 + random.unit(),
    arrivalMs: random.between(6 * S_MS, 30 * S_MS),
    faultMs: random.between(8 * S_MS, 40 * S_MS),
    runMs: [longestMs / 50, longestMs],
    kinds: some(KINDS, 5),
    faults: some(FAULTS, 5),
  };
}

/** Most kinds and most faults, in many hours: a backlog, and what follows from one fault after the other. */
function broad(random: Random): Theme {
  const hours = random.between(1, 10);
  const longestMs = random.pick([10 * S_MS, 2 * MINUTE_MS, 20 * MINUTE_MS, 90 * MINUTE_MS]);
  return {
    hours,
    arrivalMs: Math.max(longestMs * (0.2 + 0.6 * random.unit()), (hours * HOUR_MS) / MOST_ARRIVALS),
    faultMs: random.pick([MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS]),
    runMs: [longestMs / 200, longestMs],
    kinds: drawWeights(KINDS, random),
    faults: drawWeights(FAULTS, random),
  };
}

/** Nearly nothing happens that could wake what sleeps for too long. */
function quiet(random: Random): Theme {
  const jobs = random.between(4, 20);
  const theme = { ...broad(random), hours: random.between(3, 6), faultMs: 10 * MINUTE_MS };
  return { ...theme, arrivalMs: (theme.hours * HOUR_MS) / jobs, runMs: [S_MS, MINUTE_MS] };
}

const THEMES = [...Array(7).fill(narrow), quiet, broad] as const;

export function drawSetting(seed: number, random: Random): Setting {
  const groups = random.pick(["v2", "v2", "hybrid", "v1", "none"] as const);
  const isShared = random.chance(0.6);
  const setting: Setting = {
    seed,
    ...random.pick(THEMES)(random),
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
    isLaxDisk: random.chance(0.3),
    pidMax: random.pick([500, 32_768, 32_768]),
    olderStore: random.chance(0.15) ? random.pick([7, 8, 9, 10]) : undefined,
  };
  const ofCluster = random.fork("cluster");
  return ofCluster.chance(CLUSTERS) ? clusterSetting(setting, ofCluster) : setting;
}
