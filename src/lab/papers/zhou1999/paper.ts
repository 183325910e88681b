/**
 * Zhou, Brent, Johnson and Walsh 1999: job re-packing. The paper works out examples, which are made here by the same operations,
 * and argues for re-packing and allocation with a workload vector without measuring; our simulations decide what it says.
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

export const zhou1999: Paper<Place, "summary"> = {
  key: "zhou1999",
  title: "Job Re-Packing for Enhancing the Performance of Gang Scheduling",
  authors: "B. B. Zhou, R. P. Brent, C. W. Johnson and D. Walsh",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1659, Springer 1999",
  defaultSeed: 1999,
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

const NOTES: readonly string[] = [
  "The paper prints no measured table. Its examples are made by the same operations; what it argues is decided by simulations on the workload of the authors' next paper (zhou2000): 128 processors, run times and sizes uniform in log space. A statement holds when the 95 % interval of the paired difference over 10 sets of jobs is on its side at every load from 0.5 on.",
  "Figures 3, 4 and 5 are lost and were rebuilt so that every sentence about them is true.",
  "Sizes that are powers of two are the drawn ones rounded to the nearest in ratio; arrivals are stretched so that the load stays. They are there because the paper takes its word on buddy systems from Feitelson 1996, whose jobs mostly have such sizes. With any sizes, whole blocks raise the load by a third, and buddy row by row comes last.",
  "Slots: one per job; kept, one extra slot per workload change, to the largest job that can have one, to its end (as BRMS of zhou2000); returned, all that can be used, given back when they are in the way (as BRMMS). The paper leaves open which jobs are given slots, and when.",
  "A unification is counted when a job is given one more slot; a move when a job changes its row in an exchange.",
  "On a linear array WLV has, after every decision, exactly as many rows as its fullest processor has jobs: no re-packing without migration could do with fewer.",
  "On a ring two fragments can be joined only between two legal cuts. A row can be deleted whenever every processor has an idle slot and one cut is legal in all rows; without such a cut it may be impossible (three jobs of two processors on three). With the search made here the ring, though it has more windows to choose from, needs more rows than the array.",
  "Figure 6, the tree over the workload vector, is the subject of zhou2000 and reproduced there.",
];
