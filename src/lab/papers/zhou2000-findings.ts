/** Figures 3 to 5 of zhou2000 and what its text says of them, decided by our numbers. */
import type { ReproducedFigure, ReproducedStatement } from "./paper.ts";
import type { Lookup } from "./zhou2000.ts";
import {
  TABLE_1,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
} from "./zhou2000-published.ts";

export function figures(ours: Lookup): ReproducedFigure[] {
  return [
    figure("Figure 3", "Average turnaround time of all jobs", "turnaround time in slots", "t_ta", ours),
    figure("Figure 4", "Average turnaround time of small jobs", "turnaround time in slots", "t_sa", ours),
    figure("Figure 5", "Average processor active ratio", "active ratio", "r_a", ours),
  ];
}

/** The paper draws its figures from the first experiment. */
function figure(
  id: string,
  title: string,
  yAxis: string,
  measure: Zhou2000Measure,
  ours: Lookup,
): ReproducedFigure {
  const at = ZHOU2000_MEASURES.indexOf(measure);
  const series = ZHOU2000_SCHEMES.map((scheme) => ({
    name: scheme.toUpperCase(),
    ours: ZHOU2000_LOADS.map((load) => [load, ours(1, scheme, load, measure)] as const),
    published: ZHOU2000_LOADS.map((load, i) => [load, TABLE_1[scheme][i][at]] as const),
  }));
  return { id, title, xAxis: "load ρ", yAxis, series };
}

export function statements(ours: Lookup): ReproducedStatement[] {
  const busy = ZHOU2000_LOADS.filter((load) => load >= 0.5);
  const list = (load: number, table: 1 | 2, measure: Zhou2000Measure, schemes: readonly string[]) =>
    `ρ = ${load}: ${schemes
      .map((name) => {
        const scheme = ZHOU2000_SCHEMES.find((one) => one === name)!;
        return `${name.toUpperCase()} ${ours(table, scheme, load, measure).toFixed(2)}`;
      })
      .join(", ")}`;
  /** Whether the measure falls from scheme to scheme at all the loads. */
  const descends = (
    statement: string,
    table: 1 | 2,
    measure: Zhou2000Measure,
    schemes: readonly (typeof ZHOU2000_SCHEMES)[number][],
    loads: readonly number[],
  ): ReproducedStatement => ({
    statement,
    holds: loads.every((load) =>
      schemes.every(
        (scheme, i) =>
          i === 0 || ours(table, scheme, load, measure) < ours(table, schemes[i - 1], load, measure),
      ),
    ),
    evidence: loads.map((load) => list(load, table, measure, schemes)).join("; "),
  });
  return [
    descends(
      "Table 2: mean turnaround falls from BC over BRMS and BR to BRMMS at ρ ≥ 0.5",
      2,
      "t_ta",
      ["bc", "brms", "br", "brmms"],
      busy,
    ),
    descends(
      "Table 1: BR has shorter turnaround than BC at every load",
      1,
      "t_ta",
      ["bc", "br"],
      ZHOU2000_LOADS,
    ),
    descends(
      "Table 1: BRMMS has the shortest turnaround of the schemes with re-packing at ρ ≥ 0.5",
      1,
      "t_ta",
      ["br", "brmms"],
      busy,
    ),
    descends("Table 1: BRMS has shorter turnaround than BR at ρ ≥ 0.5", 1, "t_ta", ["br", "brms"], busy),
    descends(
      "Figure 4: small jobs wait longer under BRMS than under BR at ρ ≥ 0.5",
      1,
      "t_sa",
      ["brms", "br"],
      busy,
    ),
    descends("Table 1: BRMS multiplies the number of slots at ρ ≥ 0.5", 1, "n_a", ["brms", "br"], busy),
    descends(
      "Figure 5: the active ratio falls from BRMMS over BR to BRMS at ρ ≥ 0.7",
      1,
      "r_a",
      ["brmms", "br", "brms"],
      busy.slice(1),
    ),
    descends(
      "Table 2: BRMMS never has more slots than BR on the average",
      2,
      "n_a",
      ["br", "brmms"],
      ZHOU2000_LOADS,
    ),
  ];
}
