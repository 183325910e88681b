/**
 * Reproduces Zhou, Brent, Johnson and Walsh 1999 on job re-packing. The paper works through examples; we
 * reproduce them by applying the same operations. It argues for re-packing and for allocation with a workload
 * vector, but does not measure them, so our simulations decide whether its statements hold.
 */
import { judge } from "../../claims.ts";
import { type Paper, type ReproducedFigure, tablesOf } from "../paper.ts";
import { LOADS, MEASURES, type Place, SCHEME_NAMES, type Slots, type Zhou1999Results } from "./cells.ts";
import { claims } from "./claims.ts";
import { figureResults } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES } from "./notes.ts";
import { zhou1999Tables } from "./tables.ts";

export const zhou1999: Paper<Place, "summary"> = {
  ...zhou1999Tables,
  title: "Job Re-Packing for Enhancing the Performance of Gang Scheduling",
  authors: "B. B. Zhou, R. P. Brent, C. W. Johnson and D. Walsh",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1659, Springer 1999",
  index: INDEX,
  collect(results) {
    const { matrices, statements } = figureResults();
    return {
      tables: tablesOf(zhou1999Tables, results),
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

function figure(id: string, title: string, slots: Slots, results: Zhou1999Results): ReproducedFigure {
  const series = SCHEME_NAMES.map((scheme) => ({
    name: scheme,
    ours: LOADS.map(
      (load) => [load, results.mean({ sizes: "any", load, scheme, slots }, MEASURES.t_ta)] as const,
    ),
  }));
  return { id, title, xAxis: "load ρ", yAxis: "turnaround time in slots", series };
}
