/**
 * Reproduces Zhou, Brent, Johnson and Walsh 1999 on job re-packing. The paper works through examples; we
 * reproduce them by applying the same operations. It argues for re-packing and for allocation with a workload
 * vector, but does not measure them, so our simulations decide whether its statements hold.
 */
import { judge } from "../../claims.ts";
import type { Paper, ReproducedFigure, ReproducedTable } from "../paper.ts";
import {
  cells,
  LOADS,
  MEASURES,
  type Measure,
  type Place,
  SCHEME_NAMES,
  SIZES,
  type Sizes,
  SLOTS,
  type Slots,
  type Zhou1999Results,
} from "./cells.ts";
import { claims } from "./claims.ts";
import { figureResults } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES } from "./notes.ts";

export const zhou1999: Paper<Place, "summary"> = {
  key: "zhou1999",
  title: "Job Re-Packing for Enhancing the Performance of Gang Scheduling",
  authors: "B. B. Zhou, R. P. Brent, C. W. Johnson and D. Walsh",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1659, Springer 1999",
  defaultSeed: 1999,
  index: INDEX,
  cells,
  collect(results) {
    const { matrices, statements } = figureResults();
    return {
      tables: SIZES.flatMap((sizes) => LOADS.map((load) => table(sizes, load, results))),
      figures: [
        figure("Comparison 1", "Mean turnaround time, one slot per job", "one", results),
        figure("Comparison 2", "Mean turnaround time, slots united and returned", "returned", results),
      ],
      matrices,
      statements: [...statements, ...claims(results).map(judge)],
      notes: NOTES,
    };
  },
};

function table(sizes: Sizes, load: number, results: Zhou1999Results): ReproducedTable {
  const rows = SCHEME_NAMES.flatMap((scheme) =>
    SLOTS.map((slots) => ({
      labels: [scheme, slots],
      values: (Object.keys(MEASURES) as Measure[]).map((measure) =>
        results.value({ sizes, load, scheme, slots }, MEASURES[measure]),
      ),
    })),
  );
  return {
    id: `Load ${load}`,
    title: `sizes: ${sizes}; 2,000 jobs, mean of 10 sets of jobs`,
    labelColumns: ["scheme", "slots"],
    valueColumns: VALUE_COLUMNS,
    rows,
  };
}

function figure(id: string, title: string, slots: Slots, results: Zhou1999Results): ReproducedFigure {
  const series = SCHEME_NAMES.map((scheme) => ({
    name: scheme,
    ours: LOADS.map(
      (load) => [load, results.mean({ sizes: "any", load, scheme, slots }, MEASURES.t_ta)] as const,
    ),
  }));
  return { id, title, xAxis: "load ρ", yAxis: "turnaround time in slots", series };
}

const VALUE_COLUMNS: ReproducedTable["valueColumns"] = [
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "unifications", unit: "per job", meaning: "extra slots given out" },
  { name: "moves", unit: "per job", meaning: "changes of row by re-packing" },
];
