/** Draws what a life is like: machine, configuration, users, workload, and which faults how often. */
import type { Random } from "../world/contract.ts";
import { clusterSetting } from "./cluster/swarm.ts";
import { FAULTS } from "./faults.ts";
import { COMPARABLE_KINDS, COMPARABLE_POLICIES } from "./invariants/decisions.ts";
import { KINDS } from "./kinds.ts";
import { POLICIES, type Setting, type Topic } from "./setting.ts";
import { drawWeights } from "./weights.ts";

const SLOTS_MS = [20, 100, 100, 100, 500, 500, 1000, 1000, 1000, 5000, 5000, 30_000] as const;
const S_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** In a broad life, on average: jobs that come one after the other show little that the first ones do not. */
const MOST_ARRIVALS = 200;
/** In a narrow life, of jobs and of faults. */
const MOST_KINDS = 3;
/** Every fifth seed has jobs that run on nodes of a Slurm. */
const CLUSTER_EVERY = 5;
/** Mean of running times on a scale of factors from a 50th of the longest, as a part of the longest. */
const MEAN_OF_LONGEST = 0.25;
const GANG_POLICIES = POLICIES.filter((policy) => /^(?:gang|wlv|br)/.test(policy));

interface Named {
  readonly name: string;
  readonly weight?: number;
  readonly about?: readonly Topic[];
}

/** What a life is about: how long it is, which jobs come how often, and which faults. */
type Theme = Pick<Setting, "hours" | "arrivalMs" | "faultMs" | "runMs" | "kinds" | "faults"> &
  Partial<Pick<Setting, "policy" | "maxRows" | "graceMs" | "runningJobs" | "olderStore">>;

/**
 * A few kinds of jobs and a few faults, often and close together: what needs both at the same moment happens
 * in some of these lives, and hardly ever in a life that has everything.
 * @param topic what most of them are about; left out: anything
 * @param loads parts of the machine that the jobs need, one of which is drawn
 */
function narrow(
  random: Random,
  cpus: number,
  topic?: Topic,
  loads: readonly number[] = [0.1, 0.3, 1],
): Theme {
  const some = (all: readonly Named[], most: number) => {
    const isAbout = ({ about }: Named) => topic === undefined || about?.includes(topic);
    const weighted = (kept: readonly Named[]) =>
      kept.flatMap((one) => Array<Named>(one.weight ?? 1).fill(one));
    const chosen = Array.from({ length: random.between(1, most) }, () =>
      random.pick(weighted(all.filter(isAbout))),
    );
    if (topic !== undefined && random.chance(0.3)) chosen.push(random.pick(weighted(all)));
    return Object.fromEntries(chosen.map(({ name }) => [name, 1]));
  };
  const arrivalMs = random.between(6 * S_MS, 30 * S_MS);
  const meanTasks = 0.5 + 0.25 * (1 + cpus);
  const longestMs = Math.ceil((arrivalMs * random.pick(loads) * cpus) / meanTasks / MEAN_OF_LONGEST);
  return {
    hours: 0.5 + random.unit(),
    arrivalMs,
    faultMs: random.between(8 * S_MS, 40 * S_MS),
    runMs: [Math.ceil(longestMs / 50), longestMs],
    kinds: some(KINDS, MOST_KINDS),
    faults: some(FAULTS, MOST_KINDS),
  };
}

/** Most kinds and most faults, in many hours: a backlog, and what follows from one fault after the other. */
function broad(random: Random): Theme {
  const hours = random.between(1, 3);
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
function quiet(random: Random, cpus: number): Theme {
  const theme = random.chance(0.5) ? narrow(random, cpus, "clock") : broad(random);
  const hours = random.between(1, 3);
  const arrivalMs = (hours * HOUR_MS) / random.between(4, 20);
  return { ...theme, hours, arrivalMs, faultMs: 10 * MINUTE_MS, runMs: [S_MS, MINUTE_MS] };
}

/** Nothing disturbs it, so that its decisions can be compared with those of the simulator. */
function undisturbed(random: Random, cpus: number): Theme {
  return {
    ...narrow(random, cpus, undefined, [0.8, 1, 1.3]),
    faults: {},
    kinds: Object.fromEntries(COMPARABLE_KINDS.map((name) => [name, name === "knows its time" ? 3 : 1])),
    policy: random.pick(COMPARABLE_POLICIES),
    runningJobs: undefined,
    olderStore: undefined,
  };
}

type DrawTheme = (random: Random, cpus: number) => Theme;

const ends: DrawTheme = (random, cpus) => ({
  ...narrow(random, cpus, "ends"),
  graceMs: random.pick([500, 5000, 30_000]),
});
const records: DrawTheme = (random, cpus) => narrow(random, cpus, "records", [0.3, 1, 1.5]);

/** With faults and kinds that few lives of the topic would draw, besides those that are drawn. */
function withMore(
  theme: DrawTheme,
  faultNames: readonly string[],
  kindNames: readonly string[] = [],
): DrawTheme {
  const faults = once(FAULTS, faultNames);
  const kinds = once(KINDS, kindNames);
  return (random, cpus) => {
    const drawn = theme(random, cpus);
    return { ...drawn, faults: { ...drawn.faults, ...faults }, kinds: { ...drawn.kinds, ...kinds } };
  };
}

/** A name that nothing has would be a theme without what it is about. */
function once(all: readonly Named[], names: readonly string[]): Readonly<Record<string, number>> {
  const unknown = names.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined) throw new RangeError(`Cannot draw "${unknown}": no fault or job has this name`);
  return Object.fromEntries(names.map((name) => [name, 1]));
}

/** How often each comes, and how it is drawn. */
const THEMES: readonly (readonly [times: number, theme: DrawTheme])[] = [
  [2, ends],
  [
    4,
    withMore(
      ends,
      ["state moved away and back", "conductor stopped"],
      ["ends before its limit", "signal before the limit"],
    ),
  ],
  [3, (random, cpus) => narrow(random, cpus, "starts")],
  [
    3,
    (random, cpus) => ({
      ...narrow(random, cpus, "turns", [0.5, 1, 1.5]),
      ...{ policy: random.pick(GANG_POLICIES), maxRows: random.pick([2, 3, 4, 8]) },
    }),
  ],
  [3, records],
  [2, withMore(records, ["drain with a kill in it", "window with a kill in it"])],
  [2, (random, cpus) => narrow(random, cpus, "hooks")],
  [2, (random, cpus) => narrow(random, cpus, "clock")],
  [2, (random, cpus) => narrow(random, cpus, "disk")],
  [3, withMore((random, cpus) => narrow(random, cpus, "restores"), ["older backup restored"])],
  [1, narrow],
  [1, quiet],
  [1, broad],
  [2, undisturbed],
];
/** Seeds go through them in this order, so that each comes soon, wherever one begins. */
const DEALT = THEMES.flatMap(([times, theme]) =>
  Array.from({ length: times }, (_, i) => ({ at: (i + 0.5) / times, theme })),
)
  .sort((a, b) => a.at - b.at)
  .map(({ theme }) => theme);

export function drawSetting(seed: number, random: Random): Setting {
  const groups = random.pick(["v2", "v2", "hybrid", "v1", "none"] as const);
  const isShared = random.chance(0.6);
  const cpus = random.pick([1, 2, 2, 4, 4, 8, 16]);
  // Those with a Slurm are not counted, or some themes would always fall to them.
  const ordinal = seed - Math.ceil(seed / CLUSTER_EVERY);
  const theme = DEALT[ordinal % DEALT.length](random, cpus);
  const setting: Setting = {
    seed,
    cpus,
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
    ...theme,
  };
  return seed % CLUSTER_EVERY === 0 ? clusterSetting(setting, random.fork("cluster")) : setting;
}
