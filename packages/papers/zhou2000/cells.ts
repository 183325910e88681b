/**
 * The simulations of zhou2000's two experiments. Time is in slots: a slot is 1 s long and a switch costs
 * nothing.
 */

import { seedOfPart } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { metricOf } from "@tutti/kernel/metrics/summary.ts";
import type { JobSource } from "@tutti/lab/experiments/jobs.ts";
import type { Cell, CellResult } from "@tutti/lab/experiments/kinds.ts";
import numbers from "../../../docs/papers/zhou2000.numbers.json" with { type: "json" };
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";

export const ZHOU2000_LOADS = [0.2, 0.5, 0.7, 0.9] as const;
export const ZHOU2000_SCHEMES = ["bc", "br", "brms", "brmms"] as const;
export const ZHOU2000_MEASURES = ["r_a", "n_l", "n_a", "t_ta", "t_sa", "t_ma", "t_la"] as const;
/** Tables 1 and 2 as printed: for each scheme a row for each load, with a number for each measure. */
export const PRINTED = numbers.tables;
export type Zhou2000Scheme = (typeof ZHOU2000_SCHEMES)[number];
export type Zhou2000Measure = (typeof ZHOU2000_MEASURES)[number];

/**
 * Other readings. BRMS: one extra slot per workload change in all, for the largest job, instead of as many as
 * possible. BC: blocks that a job has to itself.
 */
export const ONE_PER_CHANGE = "brms:extraOrder=largest:extraPerChange=1";
export const EXCLUSIVE = "bc:block=exclusive";
export type Variant = Zhou2000Scheme | typeof ONE_PER_CHANGE | typeof EXCLUSIVE;

/**
 * Load offered as a share of the nominal one. The printed active ratios say that the paper's own was about
 * 2 % below nominal (0.49 at 0.5, 0.69 at 0.7, 0.85 at 0.9).
 */
export const LOAD_SHARES = [1, 0.98] as const;
export type LoadShare = (typeof LOAD_SHARES)[number];

export interface Place {
  readonly table: 1 | 2;
  readonly variant: Variant;
  readonly load: number;
  readonly share: LoadShare;
}
export type Zhou2000Results = Results<Place, CellResult<"summary">>;

/** Bounds between small, medium and large jobs in section 4, in slots. */
const SMALL_MEDIUM_LARGE = [12, 60];

interface Experiment {
  readonly table: 1 | 2;
  readonly jobs: number;
  readonly replications: number;
  /** The schemes as compared with the printed table. */
  readonly schemes: readonly Variant[];
  /** Other readings, at the nominal load only. */
  readonly others: readonly Variant[];
}

/** BRMS with one slot per change is nearer to table 2, and the literal one to table 1. */
export const EXPERIMENTS: Readonly<Record<1 | 2, Experiment>> = {
  1: {
    table: 1,
    jobs: 200,
    replications: 20,
    schemes: ["bc", "br", "brms", "brmms"],
    others: [ONE_PER_CHANGE, EXCLUSIVE],
  },
  2: {
    table: 2,
    jobs: 20_000,
    replications: 5,
    schemes: ["bc", "br", ONE_PER_CHANGE, "brmms"],
    others: [EXCLUSIVE],
  },
};

/** All simulations, the longest first; at each load, all schemes see the same jobs. */
export function cells(seed: number): PlacedCell<Place, "summary">[] {
  return [EXPERIMENTS[2], EXPERIMENTS[1]].flatMap(({ table, jobs, replications, schemes, others }) =>
    [...ZHOU2000_LOADS].reverse().flatMap((load) =>
      Array.from({ length: replications }, (_, i) => i).flatMap((set) =>
        LOAD_SHARES.flatMap((share) =>
          [...schemes, ...(share === 1 ? others : [])].map((variant) => ({
            place: { table, variant, load, share },
            cell: {
              ...cellInSlots(variant, `jobs=${jobs}:load=${offeredLoad(load, share)}`, {
                seed: seedOfPart(seed, `table ${table}, load ${load}, set ${set}`),
              }),
              classBoundsS: SMALL_MEDIUM_LARGE,
            },
          })),
        ),
      ),
    ),
  );
}

/** As a short text: 0.98 × 0.7 is 0.6859999999999999 in floating point. */
function offeredLoad(load: number, share: LoadShare): string {
  return String(Math.round(10_000 * load * share) / 10_000);
}

/** A simulation of the paper's workload. */
export function cellInSlots(
  policy: string,
  settings: string,
  source: Omit<JobSource, "jobs" | "submits">,
): Cell<"summary"> {
  return {
    kind: "summary",
    source: {
      jobs: `downey:${settings}:processors=128:minRunS=1:maxRunS=120:unitS=1`,
      ...source,
      submits: "whole seconds",
    },
    rules: DEFAULT_RULES,
    policy,
    slotS: 1,
    switchS: 0,
    metrics: ["response"],
    quantiles: "none",
  };
}

/** Times in slots. */
export const MEASURES: Readonly<Record<Zhou2000Measure, (run: CellResult<"summary">) => number>> = {
  r_a: ({ summary }) => summary.gang!.activeRatio,
  n_l: ({ summary }) => summary.gang!.maxRows,
  n_a: ({ summary }) => summary.gang!.meanRows,
  t_ta: ({ summary }) => metricOf(summary, "response").all.mean,
  t_sa: ({ summary }) => metricOf(summary, "response").byClass[0].mean,
  t_ma: ({ summary }) => metricOf(summary, "response").byClass[1].mean,
  t_la: ({ summary }) => metricOf(summary, "response").byClass[2].mean,
};

/** As in the tables; other readings after a comma. */
export function nameOf(variant: Variant): string {
  if (variant === ONE_PER_CHANGE) return "BRMS, one per change";
  return variant === EXCLUSIVE ? "BC, exclusive blocks" : variant.toUpperCase();
}

/** The scheme of the paper that a variant reads. */
export function schemeOf(variant: Variant): Zhou2000Scheme {
  if (variant === ONE_PER_CHANGE) return "brms";
  return variant === EXCLUSIVE ? "bc" : variant;
}
