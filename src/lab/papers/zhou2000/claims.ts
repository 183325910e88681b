/** Figures 3 to 5 of zhou2000 and what its text says of them, decided by our numbers. */
import type { ReproducedFigure, ReproducedStatement } from "../paper.ts";
import { OTHER_READING, type Variant } from "./cells.ts";
import {
  TABLE_1,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
} from "./published.ts";

/** Mean of our replications. */
export type Lookup = (table: 1 | 2, variant: Variant, load: number, measure: Zhou2000Measure) => number;

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
  const falls = (
    statement: string,
    table: 1 | 2,
    measure: Zhou2000Measure,
    variants: readonly Variant[],
    loads: readonly number[] = busy,
  ): ReproducedStatement => {
    const rows = loads.map((load) => variants.map((variant) => ours(table, variant, load, measure)));
    return {
      statement,
      holds: rows.every((row) => row.every((value, i) => i === 0 || value < row[i - 1])),
      evidence: rows
        .map(
          (row, i) =>
            `ρ = ${loads[i]}: ${row.map((value, v) => `${nameOf(variants[v])} ${value.toFixed(2)}`).join(", ")}`,
        )
        .join("; "),
    };
  };
  return [
    falls("Table 2: turnaround falls from BC over BRMS and BR to BRMMS at ρ ≥ 0.5", 2, "t_ta", [
      "bc",
      "brms",
      "br",
      "brmms",
    ]),
    falls(
      "Table 2: BRMMS has fewer rows than BR on the average, at every load",
      2,
      "n_a",
      ["br", "brmms"],
      ZHOU2000_LOADS,
    ),
    falls(
      "Table 1: turnaround is shorter under BR than under BC, at every load",
      1,
      "t_ta",
      ["bc", "br"],
      ZHOU2000_LOADS,
    ),
    falls("Table 1: turnaround falls from BR over BRMS to BRMMS at ρ ≥ 0.5", 1, "t_ta", [
      "br",
      "brms",
      "brmms",
    ]),
    falls("The same with an extra slot for every job that can have one", 1, "t_ta", [
      "br",
      OTHER_READING,
      "brmms",
    ]),
    falls("Figure 4: small jobs take longer under BRMS than under BR at ρ ≥ 0.5", 1, "t_sa", ["brms", "br"]),
    falls("Table 1: BRMS has more rows than BR at ρ ≥ 0.5", 1, "n_a", ["brms", "br"]),
    falls(
      "Figure 5: the active ratio falls from BRMMS over BR to BRMS at ρ ≥ 0.7",
      1,
      "r_a",
      ["brmms", "br", "brms"],
      [0.7, 0.9],
    ),
  ];
}

/** As in the tables: BRMS, BRMS:perChange=0. */
export function nameOf(variant: Variant): string {
  const [scheme, setting] = variant.split(":");
  return [scheme.toUpperCase(), ...(setting === undefined ? [] : [setting])].join(":");
}
