/** Draws what is different in a life whose jobs run on nodes of a Slurm. */
import type { Random } from "../../world/contract.ts";
import { fixedKind, type Setting } from "../setting.ts";
import { drawWeights } from "../weights.ts";
import { CLUSTER_FAULTS } from "./faults.ts";
import { CLUSTER_KINDS } from "./kinds.ts";

/** Most lives have pilots of one size, one at a time. In the others they are as jobs need them. */
function kindsOf(nodes: number, spare: number, timeMs: number, random: Random) {
  const own = random.fork("kinds of pilots");
  if (!own.chance(0.4)) return { kinds: fixedKind(nodes, timeMs), maxNodes: nodes };
  const kind = (name: string, most: number, leastMs: number) => ({
    name,
    nodes: { min: 1, max: most },
    timeMs: { min: Math.min(leastMs, timeMs), max: timeMs },
    sbatch: [],
  });
  const kinds = [kind("narrow", own.between(1, nodes), HOUR_MS / 2), kind("wide", nodes, HOUR_MS)];
  return { kinds, maxNodes: nodes + spare };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A user of the site: `tutti serve --on slurm` serves nobody else. */
const USER = "ada";
export function clusterSetting(setting: Setting, random: Random): Setting {
  const longestMs = random.pick([10_000, 2 * MINUTE_MS, 20 * MINUTE_MS]);
  const nodes = random.pick([2, 2, 3, 4]);
  const cpus = random.pick([1, 2, 2, 4]);
  const spare = random.chance(0.3) ? 1 : 0;
  // More processes have more to do, so these lives are shorter.
  const hours = 0.4 + 0.6 * random.unit();
  // The limit of a job is half of it, and no job comes to that.
  const times = [1, 2, 4, 8, 24].map((count) => count * HOUR_MS).filter((ms) => ms > 3 * longestMs);
  return {
    ...setting,
    hours,
    cpus: nodes * cpus,
    isShared: false,
    users: [USER],
    mode: "gang",
    runningJobs: undefined,
    olderStore: undefined,
    arrivalMs: Math.max(MINUTE_MS, longestMs * (0.2 + 0.6 * random.unit())),
    faultMs: random.pick([1, 2, 5]) * MINUTE_MS,
    runMs: [longestMs / 200, longestMs],
    cluster: {
      nodes: Array<number>(nodes + spare).fill(cpus),
      tracksByGroups: random.chance(0.6),
      slurmdTimeoutMs: random.pick([60_000, 300_000]),
      pilots: {
        ...kindsOf(nodes, spare, random.pick(times), random),
        idleMs: random.pick([MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS, undefined]),
        drainMs: random.pick([2, 5]) * MINUTE_MS,
        stopBeforeMs: random.pick([30_000, 60_000]),
        steps: random.pick([2, 16]),
        sbatch: [],
      },
    },
    faults: drawWeights(CLUSTER_FAULTS, random),
    kinds: drawWeights(CLUSTER_KINDS, random),
  };
}
