/**
 * Lists the simulations for the claims of zhou1999: every scheme on the same jobs. The paper has no measured
 * table, so we use the workload of the authors' next paper (zhou2000), once as it is and once with all sizes
 * rounded to powers of two.
 */
import { seedOfPart } from "@tutti/kernel/core/random.ts";
import { metricOf } from "@tutti/kernel/metrics/summary.ts";
import type { CellResult } from "@tutti/lab/experiments/kinds.ts";
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";
import { cellInSlots } from "../zhou2000/cells.ts";

export const LOADS = [0.2, 0.5, 0.7, 0.9] as const;
/** Sizes as generated, and rounded to powers of two. */
export const SIZES = ["any", "powers of two"] as const;
/**
 * How many slots jobs have. One; kept: extra slots as they become free, until the job ends; returned: extra
 * slots that are given back when they are in the way.
 */
export const SLOTS = ["one", "kept", "returned"] as const;
export type Sizes = (typeof SIZES)[number];
export type Slots = (typeof SLOTS)[number];

const unified = (name: string) => ({
  one: name,
  kept: `${name}:extraSlots=kept`,
  returned: `${name}:extraSlots=returned`,
});
/**
 * Policies by scheme and slots. Buddy with re-packing is the scheme of zhou2000. With exclusive blocks, a job
 * has its block to itself.
 */
const SCHEMES = {
  random: unified("random"),
  "first fit": unified("gang"),
  "best fit": unified("gang:fit=best"),
  buddy: unified("buddy"),
  "buddy, exclusive": unified("buddy:block=exclusive"),
  "buddy, re-packing": { one: "br", kept: "br:extraSlots=kept", returned: "brmms" },
  WLV: unified("wlv"),
  "WLV, ring": unified("wlv:array=ring"),
} as const satisfies Readonly<Record<string, Readonly<Record<Slots, string>>>>;
export type Scheme = keyof typeof SCHEMES;
export const SCHEME_NAMES = Object.keys(SCHEMES) as Scheme[];

type Run = CellResult<"summary">;
/** Times in slots; unifications and moves per job. */
export const MEASURES = {
  t_ta: ({ summary }) => metricOf(summary, "response").all.mean,
  n_a: ({ summary }) => summary.gang!.meanRows,
  r_a: ({ summary }) => summary.gang!.activeRatio,
  unifications: ({ summary, repacking }) => repacking!.unifications / summary.jobs.total,
  moves: ({ summary, repacking }) => repacking!.moves / summary.jobs.total,
} as const satisfies Readonly<Record<string, (run: Run) => number>>;
export type Measure = keyof typeof MEASURES;

const JOBS = 2000;
const REPLICATIONS = 10;

export interface Place {
  readonly sizes: Sizes;
  readonly load: number;
  readonly scheme: Scheme;
  readonly slots: Slots;
}
export type Zhou1999Results = Results<Place, Run>;

/** All simulations, the longest first. */
export function cells(seed: number): PlacedCell<Place, "summary">[] {
  return [...LOADS].reverse().flatMap((load) =>
    SIZES.flatMap((sizes) =>
      Array.from({ length: REPLICATIONS }, (_, set) => seedOfPart(seed, `load ${load}, set ${set}`)).flatMap(
        (ofJobs) =>
          SCHEME_NAMES.flatMap((scheme) =>
            SLOTS.map((slots) => ({
              place: { sizes, load, scheme, slots },
              cell: cellInSlots(SCHEMES[scheme][slots], `jobs=${JOBS}:load=${load}`, {
                seed: ofJobs,
                sizes: sizes === "any" ? undefined : sizes,
              }),
            })),
          ),
      ),
    ),
  );
}
