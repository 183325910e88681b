/**
 * What the text of zhou2000 says about its tables and figures, judged at the nominal load. All schemes get
 * the same sets of jobs, so they are compared set by set: a statement holds if the 95 % intervals of the
 * paired differences lie on its side.
 */

import { confidenceInterval, type Interval, testMean } from "@tutti/kernel/metrics/statistics.ts";
import { type Claim, type Comparison, verdictOf, within } from "@tutti/lab/claims.ts";
import statements from "../../../docs/papers/zhou2000.claims.json" with { type: "json" };
import { filled } from "../texts.ts";
import {
  MEASURES,
  nameOf,
  type Variant,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  type Zhou2000Measure,
  type Zhou2000Results,
} from "./cells.ts";

const BUSY = ZHOU2000_LOADS.filter((load) => load >= 0.5);
/** How much more is "dramatically" more; the printed rows of BRMS are 2.4 to 4 times those of BR. */
const FAR_MORE = 2;

/**
 * A statement of docs/papers/zhou2000.claims.json; `falls`, `best` or `farMore` says what must hold;
 * without them, BR must not differ from BC by more than chance.
 */
interface ClaimText {
  readonly statement: string;
  readonly table: 1 | 2;
  readonly measure?: Zhou2000Measure;
  /** Those of 0.5 and more if undefined. */
  readonly loads?: readonly number[];
  /** The measure falls from each variant to the next. */
  readonly falls?: readonly Variant[];
  /** No variant in `of` is better than this one, in any measure at any load. */
  readonly best?: Variant;
  readonly of?: readonly Variant[];
  /** The first has at least `FAR_MORE` times as much as the second. */
  readonly farMore?: readonly [Variant, Variant];
}

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
    { statement, table, measure, loads = BUSY }: ClaimText & { measure: Zhou2000Measure },
    variants: readonly Variant[],
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
  const best = ({ statement, table }: ClaimText, own: Variant, others: readonly Variant[]): Claim => {
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
  /** "Dramatically" more, in the paper's words. */
  const farMore = (
    { statement, table, measure }: ClaimText & { measure: Zhou2000Measure },
    [more, less]: readonly [Variant, Variant],
  ): Claim => {
    const rows = BUSY.map((load) => {
      const [many, few] = [more, less].map((variant) =>
        results.values(place(table, variant, load), MEASURES[measure]),
      );
      const excess = confidenceInterval(many.map((value, set) => value - FAR_MORE * few[set]));
      return { load, means: [many, few].map((values) => confidenceInterval(values).mean), excess };
    });
    return {
      statement: filled(statement, { factor: String(FAR_MORE) }),
      comparisons: rows.map(({ excess }) => ({ a: within(excess), is: "at least", b: 0 })),
      evidence: rows
        .map(({ load, means: [many, few], excess }) => {
          const spread = spreadText(excess, measure);
          return `ρ = ${load}: ${nameOf(more)} ${many.toFixed(2)}, ${nameOf(less)} ${few.toFixed(2)} (minus ${FAR_MORE} × ${nameOf(less)}: ${spread})`;
        })
        .join("; "),
    };
  };
  return (statements as readonly ClaimText[]).map((text) => {
    const { measure = "t_ta", falls: order, best: own, of = [], farMore: pair } = text;
    if (order !== undefined) return falls({ ...text, measure }, order);
    if (own !== undefined) return best(text, own, of);
    return pair === undefined ? insignificant(text, results) : farMore({ ...text, measure }, pair);
  });
}

/** A paired difference, such as `−2.01 ± 1.33`. */
function spreadText({ mean, half }: Interval, measure: Zhou2000Measure): string {
  const text = (value: number) => value.toFixed(measure === "r_a" ? 3 : 2).replace("-", "−");
  return `${text(mean)} ± ${text(half)}`;
}

/** As the paper could judge it: two samples of 20 sets of jobs each, class by class. */
function insignificant(
  { statement, table, loads: [load] = BUSY }: ClaimText,
  results: Zhou2000Results,
): Claim {
  const [bc, br] = (["bc", "br"] as const).map((variant) => ({ table, variant, load, share: 1 }) as const);
  const compared = (["t_ta", "t_sa", "t_ma", "t_la"] as const).map((measure) => {
    const { mean, count } = results.interval(bc, MEASURES[measure]);
    const { t, quantile } = testMean(results.values(br, MEASURES[measure]), mean, count);
    return { measure, t, quantile, paired: results.difference(bc, br, MEASURES[measure]) };
  });
  return {
    statement,
    comparisons: compared.flatMap(({ t, quantile }) => [
      { a: t, is: "above", b: -quantile },
      { a: t, is: "below", b: quantile },
    ]),
    evidence: `ρ = ${load}: ${compared
      .map(
        ({ measure, t, quantile, paired }) =>
          `${measure} ${paired.mean.toFixed(2).replace("-", "−")} slots, two-sample t ${t.toFixed(2).replace("-", "−")} (limit ${quantile.toFixed(2)}); on the same jobs ± ${paired.half.toFixed(2)}`,
      )
      .join("; ")}`,
  };
}
