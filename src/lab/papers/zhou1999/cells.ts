/**
 * The simulations behind the statements of zhou1999: every scheme on the same jobs. The paper has no measured table, so the
 * workload is that of the authors' next paper (zhou2000.ts), and once more with sizes that are powers of two.
 */
import type { Instance } from "../../../core/jobs.ts";
import { parseParameters } from "../../../core/parameters.ts";
import type { PolicyChoice } from "../../../core/policy.ts";
import { DEFAULT_RULES } from "../../../core/rules.ts";
import { metricOf, summarise } from "../../../metrics/summary.ts";
import { choosePolicy } from "../../../policies/choose.ts";
import { simulate } from "../../../simulator/simulate.ts";
import { downey } from "../../../workload/models/downey.ts";
import { prepare } from "../../../workload/prepare.ts";
import type { PaperOptions } from "../paper.ts";

export const LOADS = [0.2, 0.5, 0.7, 0.9] as const;
/** Sizes as drawn, and rounded to powers of two. */
export const SIZES = ["any", "powers of two"] as const;
/** What jobs have: one slot; extra slots as they come free, kept to the end; extra slots given back where they are in the way. */
export const SLOTS = ["one", "kept", "returned"] as const;
export type Sizes = (typeof SIZES)[number];
export type Slots = (typeof SLOTS)[number];

const unified = (name: string) => ({
  one: name,
  kept: `${name}:extraSlots=kept`,
  returned: `${name}:extraSlots=returned`,
});
/** Policies by scheme and slots. Buddy with re-packing is the scheme of zhou2000. */
export const SCHEMES = {
  random: unified("random"),
  "first fit": unified("gang"),
  "best fit": unified("gang:fit=best"),
  buddy: unified("buddy"),
  "buddy, re-packing": { one: "br", kept: "brms", returned: "brmms" },
  WLV: unified("wlv"),
  "WLV, ring": unified("wlv:array=ring"),
} as const satisfies Readonly<Record<string, Readonly<Record<Slots, string>>>>;
export type Scheme = keyof typeof SCHEMES;
export const SCHEME_NAMES = Object.keys(SCHEMES) as Scheme[];

export const MEASURES = ["t_ta", "n_a", "r_a", "unifications", "moves"] as const;
export type Measure = (typeof MEASURES)[number];
/** One number per measure, in their order. */
export type Numbers = readonly number[];

const PROCESSORS = 128;
const JOBS = 2000;
const REPLICATIONS = 10;

/** All schemes on one set of jobs. */
export interface Zhou1999Cell {
  readonly sizes: Sizes;
  readonly load: number;
  readonly jobs: number;
  readonly seed: number;
}

/** Scheme by scheme, then in the order of SLOTS. */
export type Zhou1999Numbers = Readonly<Record<Scheme, readonly Numbers[]>>;

/** All cells, those that take longest first. */
export function cells({ seed }: PaperOptions): Zhou1999Cell[] {
  const list: Zhou1999Cell[] = [];
  for (const [at, load] of [...LOADS.entries()].reverse()) {
    for (const sizes of SIZES) {
      for (let i = 0; i < REPLICATIONS; i++)
        list.push({ sizes, load, jobs: JOBS, seed: seed + 1000 * at + i });
    }
  }
  return list;
}

/** Times in slots; unifications and moves per job. */
export function runCell(cell: Zhou1999Cell): Zhou1999Numbers {
  const instance = instanceOf(cell);
  const entries = SCHEME_NAMES.map((scheme) => [
    scheme,
    SLOTS.map((slots) => run(instance, choosePolicy(SCHEMES[scheme][slots]))),
  ]);
  return Object.fromEntries(entries) as Zhou1999Numbers;
}

function run(instance: Instance, choice: PolicyChoice): Numbers {
  const schedule = simulate(instance, choice, { slotS: 1, switchS: 0 });
  const summary = summarise(instance, schedule, { metrics: ["response"], quantiles: "none" });
  const { activeRatio, meanRows } = summary.gang!;
  const { unifications, moves } = schedule.gang!;
  return [
    metricOf(summary, "response").all.mean,
    meanRows,
    activeRatio,
    unifications / instance.count,
    moves / instance.count,
  ];
}

/** Arrivals at slot boundaries; the offered load is that of the sizes as they were drawn. */
function instanceOf({ sizes, load, jobs, seed }: Zhou1999Cell): Instance {
  const parameters = parseParameters("model", downey.parameters, [
    `jobs=${jobs}`,
    `processors=${PROCESSORS}`,
    `load=${load}`,
    "minRunS=1",
    "maxRunS=120",
    "unitS=1",
  ]);
  const workload = downey.generate(parameters, seed);
  const { runS, size: drawn } = workload.jobs;
  const size = sizes === "any" ? drawn : drawn.map(powerOfTwo);
  const scale = work(size, runS) / work(drawn, runS);
  const submitS = workload.jobs.submitS.map((timeS) => Math.ceil(timeS * scale));
  return prepare({ ...workload, jobs: { ...workload.jobs, size, submitS } }, PROCESSORS, DEFAULT_RULES);
}

/** The power of two nearest in ratio. */
function powerOfTwo(size: number): number {
  const low = 1 << (31 - Math.clz32(size));
  return size >= low * Math.SQRT2 ? 2 * low : low;
}

function work(size: Int32Array, runS: Float64Array): number {
  return size.reduce((sum, processors, job) => sum + processors * runS[job], 0);
}
