/**
 * The sentences in which Dimitriadou and Karatza 2009 describe their figures, each decided by our numbers;
 * the paper does not print the figures' numbers. "Almost the same", "a bit" and the like get a number here,
 * which the evidence names.
 */
import { allHold, type Claim, type Comparison, within } from "../../../lab/claims.ts";
import { LOCAL_EVERY_S } from "./cells.ts";
import type { Measure, SitesResults } from "./measures.ts";
import { at, differenceInWords, inWords, MEASURES } from "./measures.ts";

const [HIGH, MEDIUM, LOW] = LOCAL_EVERY_S;
const BOTH = ["one", "across"] as const;
const NAMES = { one: "approach 1", across: "approach 2" } as const;
/** λ as the paper prints it. */
const LAMBDA: Readonly<Record<number, string>> = { [HIGH]: "12.5", [MEDIUM]: "10", [LOW]: "8.3" };
type Approach = (typeof BOTH)[number];
const ALMOST_ALL = 95;
/** Percentage points. */
const ALMOST_TEN = 5;
/** Percentage points by which shares of finished gangs may differ and still be "almost the same". */
const ALMOST_SAME_SHARE = 0.5;
/** Relative difference of means that still counts as "almost the same" or "very small". */
const ALMOST_SAME = 0.05;

/**
 * On which idle processors a gang may start at once: table II supports the first reading, figures 3 to 5 the
 * second.
 */
type Reading = "free" | "held";
type Name = keyof typeof MEASURES;
const VARIANTS = {
  free: { one: "one", across: "across" },
  held: { one: "one, held", across: "across, held" },
} as const;

/** The verdict comes from the first reading; the evidence adds the numbers of the second. */
export function claims(results: SitesResults): Claim[] {
  const under = (reading: Reading) => [
    ...ofFinishedGangs(results, reading),
    ...ofApproaches(results, reading),
  ];
  const second = under("held");
  const both = under("free").map((first, i) => ({
    ...first,
    evidence: `${first.evidence}. If processors held for a waiting gang count as idle, it ${allHold(second[i].comparisons) ? "holds" : "does not hold"}: ${second[i].evidence}`,
  }));
  return [...both, ...ofErrors(results)];
}

/** Figures 2 and 3. */
function ofFinishedGangs(results: SitesResults, reading: Reading): Claim[] {
  const variants = VARIANTS[reading];
  const finished = (study: "uniform" | "powers", approach: Approach, everyS: number) =>
    results.mean(at(study, variants[approach], everyS), MEASURES.finished);
  const list = (study: "uniform" | "powers") =>
    BOTH.map(
      (v) =>
        `${NAMES[v]} ${LOCAL_EVERY_S.map((everyS) => `${finished(study, v, everyS).toFixed(2)} %`).join(", ")}`,
    ).join("; ");
  const gain = (study: "uniform" | "powers") =>
    LOCAL_EVERY_S.map((everyS) =>
      results.difference(
        at(study, variants.one, everyS),
        at(study, variants.across, everyS),
        MEASURES.finished,
      ),
    );
  const gains = (study: "uniform" | "powers") =>
    `percentage points gained by approach 2 at λ = 12.5, 10, 8.3: ${gain(study).map(differenceInWords).join(", ")}`;
  return [
    {
      statement:
        "For uniform gang sizes (figure 2) we have a higher completion of gangs in all workloads than for powers of two (figure 3)",
      comparisons: BOTH.flatMap((v) =>
        LOCAL_EVERY_S.map((e) => compared(finished("uniform", v, e), "above", finished("powers", v, e))),
      ),
      evidence: `finished at λ = 12.5, 10, 8.3: uniform ${list("uniform")}; powers of two ${list("powers")}`,
    },
    {
      statement:
        "For medium and high workloads, almost all gangs complete execution in both approaches (uniform sizes)",
      comparisons: BOTH.flatMap((v) =>
        [HIGH, MEDIUM].map((e) => compared(finished("uniform", v, e), "at least", ALMOST_ALL)),
      ),
      evidence: `finished at λ = 12.5, 10, 8.3: ${list("uniform")}; almost all: at least ${ALMOST_ALL} %`,
    },
    {
      statement:
        "Powers of two: approach 2 results in the completion of almost 10 % more gangs than approach 1",
      comparisons: [compared(Math.max(...gain("powers").map(({ mean }) => mean)), "at least", ALMOST_TEN)],
      evidence: `${gains("powers")}; almost 10: at least ${ALMOST_TEN} at one load`,
    },
    {
      statement: "Powers of two: approach 1 never completes 100 % of gangs even in low workloads",
      comparisons: LOCAL_EVERY_S.map((e) => compared(Math.round(finished("powers", "one", e)), "below", 100)),
      evidence: `finished: ${list("powers")}; rounded to whole per cent; under medium and low load only gangs that are still in the system at the end are missing`,
    },
    {
      statement: "Uniform sizes: approach 2 completes almost the same share of gangs as approach 1",
      comparisons: gain("uniform").map(({ mean }) => compared(Math.abs(mean), "at most", ALMOST_SAME_SHARE)),
      evidence: `${gains("uniform")}; almost the same: within ${ALMOST_SAME_SHARE}`,
    },
  ];
}

/** Figures 4 to 7 and table II. */
function ofApproaches(results: SitesResults, reading: Reading): Claim[] {
  const variants = VARIANTS[reading];
  const mean = (approach: Approach, everyS: number, name: Name) =>
    results.mean(at("uniform", variants[approach], everyS), MEASURES[name]);
  const grows = (name: Name) =>
    BOTH.flatMap((v) => [
      compared(mean(v, HIGH, name), "above", mean(v, MEDIUM, name)),
      compared(mean(v, MEDIUM, name), "above", mean(v, LOW, name)),
    ]);
  const list = (name: Name) =>
    `${name} ${BOTH.map((v) => `${NAMES[v]} ${LOCAL_EVERY_S.map((e) => inWords(mean(v, e, name))).join(", ")}`).join("; ")}`;
  const difference = (name: Name, everyS: number) =>
    results.difference(
      at("uniform", variants.one, everyS),
      at("uniform", variants.across, everyS),
      MEASURES[name],
    );
  const differences = (names: readonly Name[], loads: readonly number[]) => {
    const atLoads = (n: Name) =>
      loads.map((e) => `${differenceInWords(difference(n, e))} at λ = ${LAMBDA[e]}`);
    return `approach 2 minus approach 1, paired: ${names.map((n) => `${n} ${atLoads(n).join(", ")}`).join("; ")}`;
  };
  const split = `${(100 * results.mean(at("uniform", variants.across, HIGH), (n) => n.gangsSplit)).toFixed(2)} % of the gangs were split at λ = 12.5`;
  const higher = (names: readonly Name[], also: readonly Name[]): Claim => ({
    statement: `For higher workloads we have higher ${names.join(" and ")}`,
    comparisons: names.flatMap(grows),
    evidence: `at λ = 12.5, 10, 8.3: ${[...names, ...also].map(list).join("; ")}`,
  });
  const sameBelowHigh = (names: readonly Name[], what: string): Claim => ({
    statement: `For medium and low workload ${names.join(" and ")} of ${what} are almost the same in both approaches`,
    comparisons: names.flatMap((name) =>
      [MEDIUM, LOW].map((e) =>
        compared(Math.abs(difference(name, e).mean), "at most", ALMOST_SAME * mean("one", e, name)),
      ),
    ),
    evidence: `${differences(names, [MEDIUM, LOW])}; almost the same: within ${100 * ALMOST_SAME} %`,
  });
  return [
    higher(["WRT", "WSLD"], ["bounded WSLD"]),
    {
      statement: "Approach 2 results in lower WRT and WSLD when the workload is high",
      comparisons: (["WRT", "WSLD"] as const).map((n) => compared(within(difference(n, HIGH)), "below", 0)),
      evidence: `${differences(["WRT", "WSLD", "bounded WSLD"], [HIGH])}; holds when the 95 % intervals lie below 0; ${split}`,
    },
    sameBelowHigh(["WRT", "WSLD"], "gangs"),
    higher(["RT", "SLD"], ["bounded SLD"]),
    {
      statement: "For λ = 12.5, RT and SLD are a bit higher for approach 2 than for approach 1",
      comparisons: (["RT", "SLD"] as const).map((n) => compared(within(difference(n, HIGH)), "above", 0)),
      evidence: `${differences(["RT", "SLD", "bounded SLD"], [HIGH])}; holds when the 95 % intervals lie above 0`,
    },
    sameBelowHigh(["RT", "SLD"], "local jobs"),
    higher(["U"], []),
    {
      statement: "For the same workload, approach 2 results in slightly higher system utilization",
      comparisons: LOCAL_EVERY_S.map((e) => compared(difference("U", e).mean, "above", 0)),
      evidence: `${differences(["U"], LOCAL_EVERY_S)}; the paper's differences are 0.00035, 0.00006 and 0.00006; ${split}, each with 10 % more service`,
    },
  ];
}

/** Figures 8 to 13. */
function ofErrors(results: SitesResults): Claim[] {
  const withError = {
    one: ["one", "one, E = 10", "one, E = 30"],
    across: ["across", "across, E = 10", "across, E = 30"],
  } as const;
  const means = (approach: Approach, everyS: number, measure: Measure) =>
    withError[approach].map((variant) => results.mean(at("uniform", variant, everyS), measure));
  const spread = (approach: Approach, everyS: number, measure: Measure) => {
    const list = means(approach, everyS, measure);
    return (Math.max(...list) - Math.min(...list)) / list[0];
  };
  const list = (name: Name, loads: readonly number[]) =>
    loads
      .map(
        (e) =>
          BOTH.map((v) => `${NAMES[v]} ${means(v, e, MEASURES[name]).map(inWords).join(", ")}`).join("; ") +
          ` at λ = ${LAMBDA[e]}`,
      )
      .join("; ");
  const rises = (measure: Measure) =>
    BOTH.flatMap((v) => {
      const [none, ten, thirty] = means(v, HIGH, measure);
      return [compared(none, "below", ten), compared(ten, "below", thirty)];
    });
  const rise = (name: "WRT" | "WSLD"): Claim => ({
    statement: `For high workloads both approaches result in higher ${name} when the error is bigger; it is lowest without error`,
    comparisons: rises(MEASURES[name]),
    evidence: `${name} for E = 0, 10, 30: ${list(name, [HIGH])}; E = 30 minus E = 0, paired: ${BOTH.map((v) => `${NAMES[v]} ${differenceInWords(results.difference(at("uniform", v, HIGH), at("uniform", withError[v][2], HIGH), MEASURES[name]))}`).join(", ")}`,
  });
  const small = (name: "WRT" | "RT", loads: readonly number[], statement: string): Claim => ({
    statement,
    comparisons: BOTH.flatMap((v) =>
      loads.map((e) => compared(spread(v, e, MEASURES[name]), "at most", ALMOST_SAME)),
    ),
    evidence: `${name} for E = 0, 10, 30: ${list(name, loads)}; small: within 5 %`,
  });
  const rules = (variant: "one" | "one, E = 30" | "one, no backfilling", measure: Measure) =>
    inWords(results.mean(at("rules", variant, HIGH), measure));
  const gain = (measure: Measure) =>
    results.difference(at("rules", "one, no backfilling", HIGH), at("rules", "one, E = 30", HIGH), measure);
  return [
    small(
      "WRT",
      [MEDIUM, LOW],
      "The change in WRT for different values of the error is very small in low to medium workloads",
    ),
    rise("WRT"),
    rise("WSLD"),
    small(
      "RT",
      LOCAL_EVERY_S,
      "The error in runtime predictions of local jobs has little to no effect on their mean response times",
    ),
    {
      statement:
        "Even when there is error in the predictions, backfilling is an excellent technique for this system",
      comparisons: [MEASURES.RT, MEASURES.WRT].map((m) => compared(within(gain(m)), "below", 0)),
      evidence: `λ = 12.5, approach 1, ${results.values(at("rules", "one", HIGH), MEASURES.RT).length} replications: RT ${rules("one, no backfilling", MEASURES.RT)} without backfilling, ${rules("one, E = 30", MEASURES.RT)} with E = 30; WRT ${rules("one, no backfilling", MEASURES.WRT)} and ${rules("one, E = 30", MEASURES.WRT)}; gangs finished ${rules("one, no backfilling", MEASURES.finished)} % and ${rules("one, E = 30", MEASURES.finished)} %`,
    },
  ];
}

function compared(a: Comparison["a"], is: Comparison["is"], b: number): Comparison {
  return { a, is, b };
}
