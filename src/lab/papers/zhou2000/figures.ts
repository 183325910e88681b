/** Figures 3 to 5 of zhou2000, which draw columns of its first experiment. */
import type { ReproducedFigure } from "../paper.ts";
import { MEASURES, type Zhou2000Results } from "./cells.ts";
import {
  TABLE_1,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
} from "./published.ts";

export function figures(results: Zhou2000Results): ReproducedFigure[] {
  const figure = (id: string, title: string, yAxis: string, measure: Zhou2000Measure): ReproducedFigure => ({
    id,
    title,
    xAxis: "load ρ",
    yAxis,
    series: ZHOU2000_SCHEMES.map((variant) => ({
      name: variant.toUpperCase(),
      ours: ZHOU2000_LOADS.map(
        (load) => [load, results.mean({ table: 1, variant, load }, MEASURES[measure])] as const,
      ),
      published: ZHOU2000_LOADS.map(
        (load, i) => [load, TABLE_1[variant][i][ZHOU2000_MEASURES.indexOf(measure)]] as const,
      ),
    })),
  });
  return [
    figure("Figure 3", "Average turnaround time of all jobs", "turnaround time in slots", "t_ta"),
    figure("Figure 4", "Average turnaround time of small jobs", "turnaround time in slots", "t_sa"),
    figure("Figure 5", "Average processor active ratio", "active ratio", "r_a"),
  ];
}
