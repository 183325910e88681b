/**
 * The figures of zhou2000: the text has figure 1 as a table; figure 2 is lost and rebuilt so that every
 * sentence about it holds; figures 3 to 5 draw columns of the first experiment.
 */
import texts from "../../../docs/papers/zhou2000.texts.json" with { type: "json" };
import { drawnFigure, together } from "../drawn-matrix.ts";
import type { DrawnFigures, ReproducedFigure } from "../paper.ts";
import {
  MEASURES,
  PRINTED,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
  type Zhou2000Results,
} from "./cells.ts";

export function figures(results: Zhou2000Results): ReproducedFigure[] {
  const figure = (id: string, title: string, yAxis: string, measure: Zhou2000Measure): ReproducedFigure => ({
    id,
    title,
    xAxis: "load ρ",
    yAxis,
    series: ZHOU2000_SCHEMES.map((variant) => ({
      name: variant.toUpperCase(),
      ours: ZHOU2000_LOADS.map(
        (load) => [load, results.mean({ table: 1, variant, load, share: 1 }, MEASURES[measure])] as const,
      ),
      published: ZHOU2000_LOADS.map(
        (load, i) => [load, PRINTED[1].rows[variant][i][ZHOU2000_MEASURES.indexOf(measure)]] as const,
      ),
    })),
  });
  return [
    figure("Figure 3", "Average turnaround time of all jobs", "turnaround time in slots", "t_ta"),
    figure("Figure 4", "Average turnaround time of small jobs", "turnaround time in slots", "t_sa"),
    figure("Figure 5", "Average processor active ratio", "active ratio", "r_a"),
  ];
}

export function drawnFigures(): DrawnFigures {
  return together(texts.drawn.map(drawnFigure));
}
