/** What the text of zhou2000 says about its tables and figures. */
import type { Claim } from "../../claims.ts";
import { MEASURES, nameOf, OTHER_READING, type Variant, type Zhou2000Results } from "./cells.ts";
import { ZHOU2000_LOADS, type Zhou2000Measure } from "./published.ts";

const BUSY = ZHOU2000_LOADS.filter((load) => load >= 0.5);

export function claims(results: Zhou2000Results): Claim[] {
  const falls = (
    statement: string,
    table: 1 | 2,
    measure: Zhou2000Measure,
    variants: readonly Variant[],
    loads: readonly number[] = BUSY,
  ): Claim => {
    const rows = loads.map((load) =>
      variants.map((variant) => results.mean({ table, variant, load }, MEASURES[measure])),
    );
    const texts = rows.map((row, i) => {
      const values = row.map((value, v) => `${nameOf(variants[v])} ${value.toFixed(2)}`);
      return `ρ = ${loads[i]}: ${values.join(", ")}`;
    });
    return {
      statement,
      comparisons: rows.flatMap((row) =>
        row.slice(1).map((a, i) => ({ a, is: "below" as const, b: row[i] })),
      ),
      evidence: texts.join("; "),
    };
  };
  return [
    falls("Table 2: turnaround falls from BC to BRMS to BR to BRMMS at ρ ≥ 0.5", 2, "t_ta", [
      "bc",
      "brms",
      "br",
      "brmms",
    ]),
    falls(
      "Table 2: BRMMS has fewer rows than BR on average, at every load",
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
    falls("Table 1: turnaround falls from BR to BRMS to BRMMS at ρ ≥ 0.5", 1, "t_ta", [
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
      "Figure 5: the active ratio falls from BRMMS to BR to BRMS at ρ ≥ 0.7",
      1,
      "r_a",
      ["brmms", "br", "brms"],
      [0.7, 0.9],
    ),
  ];
}
