/**
 * Reproduces Zhou, Brent, Johnson and Walsh 1999 on job re-packing. The paper works through examples; we
 * reproduce them by applying the same operations. It argues for re-packing and for allocation with a workload
 * vector, but does not measure them, so our simulations decide whether its statements hold.
 */

import { judge } from "@tutti/lab/claims.ts";
import texts from "../../../docs/papers/zhou1999.texts.json" with { type: "json" };
import type { ReproducedFigure } from "../paper.ts";
import { paperOf } from "../texts.ts";
import { LOADS, MEASURES, SCHEME_NAMES, type Slots, type Zhou1999Results } from "./cells.ts";
import { claims } from "./claims.ts";
import { figureResults } from "./figures.ts";
import { zhou1999Tables } from "./tables.ts";

export const zhou1999 = paperOf(zhou1999Tables, texts, {
  figures: (results) => [
    figure("Comparison 1", "Mean turnaround time, one slot per job", "one", results),
    figure("Comparison 2", "Mean turnaround time, slots united and returned", "returned", results),
  ],
  drawn: figureResults,
  statements: (results) => claims(results).map(judge),
});

function figure(id: string, title: string, slots: Slots, results: Zhou1999Results): ReproducedFigure {
  const series = SCHEME_NAMES.map((scheme) => ({
    name: scheme,
    ours: LOADS.map(
      (load) => [load, results.mean({ sizes: "any", load, scheme, slots }, MEASURES.t_ta)] as const,
    ),
  }));
  return { id, title, xAxis: "load ρ", yAxis: "turnaround time in slots", series };
}
