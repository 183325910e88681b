/**
 * What the text of zhou2000 says about its tables and figures, judged at the nominal load. All schemes get
 * the same sets of jobs, so they are compared set by set: a statement holds if the 95 % intervals of the
 * paired differences lie on its side.
 */
import { confidenceInterval, type Interval, testMean } from "../../../metrics/statistics.ts";
import { type Claim, type Comparison, verdictOf, within } from "../../claims.ts";
import {
  EXPERIMENTS,
  MEASURES,
  nameOf,
  ONE_PER_CHANGE,
  type Variant,
  type Zhou2000Results,
} from "./cells.ts";
import { ZHOU2000_LOADS, ZHOU2000_MEASURES, type Zhou2000Measure } from "./published.ts";

const BUSY = ZHOU2000_LOADS.filter((load) => load >= 0.5);
const HIGH = [0.7, 0.9];
/** How much more is "dramatically" more; the printed rows of BRMS are 2.4 to 4 times those of BR. */
const FAR_MORE = 2;

export function claims(results: Zhou2000Results): Claim[] {
  const place = (table: 1 | 2, variant: Variant, load: number) =>
    ({ table, variant, load, share: 1 }) as const;
  const meanOf = (table: 1 | 2, variant: Variant, load: number, measure: Zhou2000Measure) =>
    results.mean(place(table, variant, load), MEASURES[measure]);
  const difference = (
    table: 1 | 2,
    [from, to]: readonly [Variant, Variant],
    load: number,
    measure: Zhou2000Measure,
  ) => results.difference(place(table, from, load), place(table, to, load), MEASURES[measure]);
  const falls = (
    statement: string,
    table: 1 | 2,
    measure: Zhou2000Measure,
    variants: readonly Variant[],
    loads: readonly number[] = BUSY,
  ): Claim => {
    const steps = loads.map((load) =>
      variants.slice(1).map((to, i) => difference(table, [variants[i], to], load, measure)),
    );
    const texts = loads.map((load, at) => {
      const values = variants.map((variant, v) => {
        const step = v === 0 ? "" : ` (${spreadText(steps[at][v - 1], measure)})`;
        return `${nameOf(variant)} ${meanOf(table, variant, load, measure).toFixed(2)}${step}`;
      });
      return `ρ = ${load}: ${values.join(", ")}`;
    });
    return {
      statement,
      comparisons: steps.flat().map((step) => ({ a: within(step), is: "below", b: 0 })),
      evidence: texts.join("; "),
    };
  };
  /** None of the others is better, in any measure at any load, by more than the printed digits show. */
  const best = (own: Variant, others: readonly Variant[], table: 1 | 2, statement: string): Claim => {
    const cells = ZHOU2000_LOADS.flatMap((load) =>
      ZHOU2000_MEASURES.map((measure) => {
        const compared = others.map((other) => {
          const gap = difference(table, [other, own], load, measure);
          const limit = measure === "n_l" ? 0.5 : 0.005;
          const comparison: Comparison =
            measure === "r_a"
              ? { a: within(gap), is: "at least", b: -limit }
              : { a: within(gap), is: "at most", b: limit };
          return { comparison, text: `${nameOf(other)}: ${spreadText(gap, measure)}` };
        });
        return { compared, at: `ρ = ${load}, ${measure}` };
      }),
    );
    const list = (verdict: ReturnType<typeof verdictOf>, words: string) =>
      cells.flatMap(({ compared, at }) => {
        const such = compared.filter(({ comparison }) => verdictOf(comparison) === verdict);
        return such.length === 0 ? [] : [`${at} ${words} ${such.map(({ text }) => text).join(", ")}`];
      });
    const count = cells.filter(({ compared }) =>
      compared.every(({ comparison }) => verdictOf(comparison) === "holds"),
    ).length;
    return {
      statement,
      comparisons: cells.flatMap(({ compared }) => compared.map(({ comparison }) => comparison)),
      evidence: [
        `ρ = 0.9: t_ta ${meanOf(table, own, 0.9, "t_ta").toFixed(2)}`,
        `best in ${count} of ${cells.length} cells`,
        ...list("fails", "worse than"),
        ...list("open", "open against"),
      ].join("; "),
    };
  };
  const bestOfFour = (table: 1 | 2): Claim =>
    best(
      "brmms",
      EXPERIMENTS[table].schemes.filter((variant) => variant !== "brmms"),
      table,
      `Section 4.3: BRMMS is the best of the four in all categories of table ${table}`,
    );
  /** "Dramatically" more, in the paper's words. */
  const farMore = (measure: Zhou2000Measure, words: string): Claim => {
    const rows = BUSY.map((load) => {
      const [br, brms] = (["br", "brms"] as const).map((variant) =>
        results.values(place(1, variant, load), MEASURES[measure]),
      );
      const excess = confidenceInterval(brms.map((value, set) => value - FAR_MORE * br[set]));
      return { load, means: [brms, br].map((values) => confidenceInterval(values).mean), excess };
    });
    return {
      statement: `Table 1: BRMS has at least ${FAR_MORE} times as many rows as BR, ${words}, at ρ ≥ 0.5`,
      comparisons: rows.map(({ excess }) => ({ a: within(excess), is: "at least", b: 0 })),
      evidence: rows
        .map(({ load, means: [brms, br], excess }) => {
          const spread = spreadText(excess, measure);
          return `ρ = ${load}: BRMS ${brms.toFixed(2)}, BR ${br.toFixed(2)} (minus ${FAR_MORE} × BR: ${spread})`;
        })
        .join("; "),
    };
  };
  return [
    falls("Table 2: turnaround falls from BC to BRMS to BR to BRMMS at ρ ≥ 0.5", 2, "t_ta", [
      "bc",
      ONE_PER_CHANGE,
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
    best("br", ["bc"], 1, "Section 4.3: BR is no worse than BC in any category of table 1"),
    insignificant(results),
    falls("Figure 3: turnaround falls from BR to BRMS to BRMMS at ρ ≥ 0.5", 1, "t_ta", [
      "br",
      "brms",
      "brmms",
    ]),
    falls("Figure 4: small jobs take longer under BRMS than under BR at ρ ≥ 0.5", 1, "t_sa", ["brms", "br"]),
    farMore("n_a", "on average (n_a)"),
    farMore("n_l", "at the maximum (n_l)"),
    falls(
      "Figure 5: the active ratio falls from BRMMS to BR to BRMS at ρ ≥ 0.7",
      1,
      "r_a",
      ["brmms", "br", "brms"],
      HIGH,
    ),
    falls(
      "Figure 5: the active ratio is lower under BRMS than under BC at ρ ≥ 0.7",
      1,
      "r_a",
      ["bc", "brms"],
      HIGH,
    ),
    falls(
      "Table 2: the active ratio is lower under BRMS than under BR at ρ = 0.9",
      2,
      "r_a",
      ["br", ONE_PER_CHANGE],
      [0.9],
    ),
    bestOfFour(1),
    bestOfFour(2),
  ];
}

/** A paired difference, such as `−2.01 ± 1.33`. */
function spreadText({ mean, half }: Interval, measure: Zhou2000Measure): string {
  const text = (value: number) => value.toFixed(measure === "r_a" ? 3 : 2).replace("-", "−");
  return `${text(mean)} ± ${text(half)}`;
}

/** As the paper could judge it: two samples of 20 sets of jobs each, class by class. */
function insignificant(results: Zhou2000Results): Claim {
  const place = { table: 1, load: 0.2, share: 1 } as const;
  const compared = (["t_ta", "t_sa", "t_ma", "t_la"] as const).map((measure) => {
    const bc = results.interval({ ...place, variant: "bc" }, MEASURES[measure]);
    const br = results.values({ ...place, variant: "br" }, MEASURES[measure]);
    const { t, quantile } = testMean(br, bc.mean, bc.count);
    const paired = results.difference(
      { ...place, variant: "bc" },
      { ...place, variant: "br" },
      MEASURES[measure],
    );
    return { measure, t, quantile, paired };
  });
  return {
    statement: "Section 4.3: at ρ = 0.2 the improvement of BR over BC is not significant",
    comparisons: compared.flatMap(({ t, quantile }) => [
      { a: t, is: "above", b: -quantile },
      { a: t, is: "below", b: quantile },
    ]),
    evidence: `ρ = 0.2: ${compared
      .map(
        ({ measure, t, quantile, paired }) =>
          `${measure} ${paired.mean.toFixed(2).replace("-", "−")} slots, two-sample t ${t.toFixed(2).replace("-", "−")} (limit ${quantile.toFixed(2)}); on the same jobs ± ${paired.half.toFixed(2)}`,
      )
      .join("; ")}`,
  };
}
