/**
 * The simulations of zhou2000's two experiments. Time is in slots: a slot is 1 s long and a switch costs
 * nothing.
 */
import { DEFAULT_RULES } from "../../../core/rules.ts";
import { metricOf } from "../../../metrics/summary.ts";
import type { JobSource } from "../../experiments/jobs.ts";
import type { Cell, CellResult } from "../../experiments/kinds.ts";
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";
import { ZHOU2000_LOADS, ZHOU2000_SCHEMES, type Zhou2000Measure, type Zhou2000Scheme } from "./published.ts";

/** Another reading of BRMS: an extra slot for every job that can have one. */
export const OTHER_READING = "brms:perChange=0";
export type Variant = Zhou2000Scheme | typeof OTHER_READING;

export interface Place {
  readonly table: 1 | 2;
  readonly variant: Variant;
  readonly load: number;
}
export type Zhou2000Results = Results<Place, CellResult<"summary">>;

/** Bounds between small, medium and large jobs in section 4, in slots. */
const SMALL_MEDIUM_LARGE = [12, 60];

interface Experiment {
  readonly table: 1 | 2;
  readonly jobs: number;
  readonly replications: number;
  readonly variants: readonly Variant[];
}

const EXPERIMENTS: readonly Experiment[] = [
  { table: 2, jobs: 20_000, replications: 5, variants: ZHOU2000_SCHEMES },
  { table: 1, jobs: 200, replications: 20, variants: [...ZHOU2000_SCHEMES, OTHER_READING] },
];

/** All simulations, the longest first; at each load, all schemes see the same jobs. */
export function cells(seed: number): PlacedCell<Place, "summary">[] {
  return EXPERIMENTS.flatMap(({ table, jobs, replications, variants }) =>
    [...ZHOU2000_LOADS.entries()].reverse().flatMap(([at, load]) =>
      Array.from({ length: replications }, (_, i) => seed + 10_000 * table + 1_000 * at + i).flatMap(
        (ofJobs) =>
          [...variants].reverse().map((variant) => ({
            place: { table, variant, load },
            cell: {
              ...cellInSlots(variant, `jobs=${jobs}:load=${load}`, { seed: ofJobs }),
              classBoundsS: SMALL_MEDIUM_LARGE,
            },
          })),
      ),
    ),
  );
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

/** As in the tables: BRMS, BRMS:perChange=0. */
export function nameOf(variant: Variant): string {
  return variant.replace(/^\w+/, (scheme) => scheme.toUpperCase());
}
