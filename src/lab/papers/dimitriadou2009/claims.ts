/**
 * The sentences in which Dimitriadou and Karatza 2009 tell their figures (the figures' numbers are not printed), each decided by
 * our numbers. "Almost the same", "a bit" and the like are given a number here, named in the evidence.
 */

import type { ReproducedStatement } from "../paper.ts";
import { LOCAL_EVERY_S } from "./cells.ts";
import type { Measure, Results } from "./results.ts";
import { differenceInWords, inWords, MEASURES } from "./results.ts";

const [HIGH, MEDIUM, LOW] = LOCAL_EVERY_S;
const BOTH = ["one", "across"] as const;
const NAMES = { one: "approach 1", across: "approach 2" } as const;
/** Lambda as the paper prints it. */
const LAMBDA: Readonly<Record<number, string>> = { [HIGH]: "12.5", [MEDIUM]: "10", [LOW]: "8.3" };
type Approach = (typeof BOTH)[number];
const ALMOST_ALL = 95;
/** Percentage points. */
const ALMOST_TEN = 5;
/** Percentage points of finished gangs that still are "almost the same". */
const ALMOST_SAME_SHARE = 0.5;
/** Relative difference of means that still is "almost the same" or "very small". */
const ALMOST_SAME = 0.05;

/** Which idle processors a gang may start on at once: table II speaks for the first reading, figures 3 to 5 for the second. */
type Reading = "free" | "held";
type Name = keyof typeof MEASURES;
const VARIANTS = {
  free: { one: "one", across: "across" },
  held: { one: "one, held", across: "across, held" },
} as const;

/** A statement holds or not under the first reading; the second one's numbers follow in the evidence. */
export function statementsOf(results: Results): ReproducedStatement[] {
  const under = (reading: Reading) => [
    ...ofFinishedGangs(results, reading),
    ...ofApproaches(results, reading),
  ];
  const second = under("held");
  const both = under("free").map((first, i) => ({
    ...first,
    evidence: `${first.evidence}. With processors held for a waiting gang counted as idle it ${second[i].holds ? "holds" : "does not hold"}: ${second[i].evidence}`,
  }));
  return [...both, ...ofErrors(results)];
}

/** Figures 2 and 3. */
function ofFinishedGangs(results: Results, reading: Reading): ReproducedStatement[] {
  const variants = VARIANTS[reading];
  const finished = (study: "uniform" | "powers", approach: Approach, everyS: number) =>
    results.mean(study, variants[approach], everyS, MEASURES.finished);
  const list = (study: "uniform" | "powers") =>
    BOTH.map(
      (v) =>
        `${NAMES[v]} ${LOCAL_EVERY_S.map((everyS) => `${finished(study, v, everyS).toFixed(2)} %`).join(", ")}`,
    ).join("; ");
  const gain = (study: "uniform" | "powers") =>
    LOCAL_EVERY_S.map((everyS) =>
      results.difference(study, variants.one, variants.across, everyS, MEASURES.finished),
    );
  const gains = (study: "uniform" | "powers") =>
    `percentage points gained by approach 2 at λ = 12.5, 10, 8.3: ${gain(study).map(differenceInWords).join(", ")}`;
  return [
    {
      statement:
        "For uniform gang sizes (figure 2) we have a higher completion of gangs in all workloads than for powers of two (figure 3)",
      holds: BOTH.every((v) =>
        LOCAL_EVERY_S.every((e) => finished("uniform", v, e) > finished("powers", v, e)),
      ),
      evidence: `finished at λ = 12.5, 10, 8.3: uniform ${list("uniform")}; powers of two ${list("powers")}`,
    },
    {
      statement:
        "For medium and high workloads, almost all gangs complete execution in both approaches (uniform sizes)",
      holds: BOTH.every((v) => [HIGH, MEDIUM].every((e) => finished("uniform", v, e) >= ALMOST_ALL)),
      evidence: `finished at λ = 12.5, 10, 8.3: ${list("uniform")}; almost all: at least ${ALMOST_ALL} %`,
    },
    {
      statement:
        "Powers of two: approach 2 results in the completion of almost 10 % more gangs than approach 1",
      holds: gain("powers").some(({ mean }) => mean >= ALMOST_TEN),
      evidence: `${gains("powers")}; almost 10: at least ${ALMOST_TEN} at one load`,
    },
    {
      statement: "Powers of two: approach 1 never completes 100 % of gangs even in low workloads",
      holds: LOCAL_EVERY_S.every((e) => Math.round(finished("powers", "one", e)) < 100),
      evidence: `finished: ${list("powers")}; rounded to whole per cent; under medium and low load only gangs still in the system at the end are missing`,
    },
    {
      statement: "Uniform sizes: approach 2 completes almost the same share of gangs as approach 1",
      holds: gain("uniform").every(({ mean }) => Math.abs(mean) <= ALMOST_SAME_SHARE),
      evidence: `${gains("uniform")}; almost the same: within ${ALMOST_SAME_SHARE}`,
    },
  ];
}

/** Figures 4 to 7 and table II. */
function ofApproaches(results: Results, reading: Reading): ReproducedStatement[] {
  const variants = VARIANTS[reading];
  const mean = (approach: Approach, everyS: number, name: Name) =>
    results.mean("uniform", variants[approach], everyS, MEASURES[name]);
  const grows = (name: Name) =>
    BOTH.every(
      (v) => mean(v, HIGH, name) > mean(v, MEDIUM, name) && mean(v, MEDIUM, name) > mean(v, LOW, name),
    );
  const list = (name: Name) =>
    `${name} ${BOTH.map((v) => `${NAMES[v]} ${LOCAL_EVERY_S.map((e) => inWords(mean(v, e, name))).join(", ")}`).join("; ")}`;
  const difference = (name: Name, everyS: number) =>
    results.difference("uniform", variants.one, variants.across, everyS, MEASURES[name]);
  const told = (names: readonly Name[], loads: readonly number[]) => {
    const one = (n: Name) => loads.map((e) => `${differenceInWords(difference(n, e))} at λ = ${LAMBDA[e]}`);
    return `approach 2 minus approach 1, paired: ${names.map((n) => `${n} ${one(n).join(", ")}`).join("; ")}`;
  };
  const split = `${(100 * results.mean("uniform", variants.across, HIGH, (n) => n.gangsSplit)).toFixed(2)} % of the gangs were split at λ = 12.5`;
  const higher = (names: readonly Name[], beside: readonly Name[]): ReproducedStatement => ({
    statement: `For higher workloads we have higher ${names.join(" and ")}`,
    holds: names.every(grows),
    evidence: `at λ = 12.5, 10, 8.3: ${[...names, ...beside].map(list).join("; ")}`,
  });
  const sameBelowHigh = (names: readonly Name[], what: string): ReproducedStatement => ({
    statement: `For medium and low workload ${names.join(" and ")} of ${what} are almost the same in both approaches`,
    holds: names.every((name) =>
      [MEDIUM, LOW].every((e) => Math.abs(difference(name, e).mean) <= ALMOST_SAME * mean("one", e, name)),
    ),
    evidence: `${told(names, [MEDIUM, LOW])}; almost the same: within ${100 * ALMOST_SAME} %`,
  });
  return [
    higher(["WRT", "WSLD"], ["bounded WSLD"]),
    {
      statement: "Approach 2 results in lower WRT and WSLD when the workload is high",
      holds: (["WRT", "WSLD"] as const).every((n) => difference(n, HIGH).mean + difference(n, HIGH).half < 0),
      evidence: `${told(["WRT", "WSLD", "bounded WSLD"], [HIGH])}; holds when the 95 % intervals lie below 0; ${split}`,
    },
    sameBelowHigh(["WRT", "WSLD"], "gangs"),
    higher(["RT", "SLD"], ["bounded SLD"]),
    {
      statement: "For λ = 12.5, RT and SLD are a bit higher for approach 2 than for approach 1",
      holds: (["RT", "SLD"] as const).every((n) => difference(n, HIGH).mean - difference(n, HIGH).half > 0),
      evidence: `${told(["RT", "SLD", "bounded SLD"], [HIGH])}; holds when the 95 % intervals lie above 0`,
    },
    sameBelowHigh(["RT", "SLD"], "local jobs"),
    higher(["U"], []),
    {
      statement: "For the same workload, approach 2 results in slightly higher system utilization",
      holds: LOCAL_EVERY_S.every((e) => difference("U", e).mean > 0),
      evidence: `${told(["U"], LOCAL_EVERY_S)}; the paper's differences are 0.00035, 0.00006 and 0.00006; ${split}, each with 10 % more service`,
    },
  ];
}

/** Figures 8 to 13. */
function ofErrors(results: Results): ReproducedStatement[] {
  const withError = {
    one: ["one", "one, E = 10", "one, E = 30"],
    across: ["across", "across, E = 10", "across, E = 30"],
  } as const;
  const means = (approach: Approach, everyS: number, measure: Measure) =>
    withError[approach].map((variant) => results.mean("uniform", variant, everyS, measure));
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
    BOTH.every((v) => {
      const [none, ten, thirty] = means(v, HIGH, measure);
      return none! < ten! && ten! < thirty!;
    });
  const rise = (name: "WRT" | "WSLD"): ReproducedStatement => ({
    statement: `For high workloads both approaches result in higher ${name} when the error is bigger; it is lowest without error`,
    holds: rises(MEASURES[name]),
    evidence: `${name} for E = 0, 10, 30: ${list(name, [HIGH])}; E = 30 minus E = 0, paired: ${BOTH.map((v) => `${NAMES[v]} ${differenceInWords(results.difference("uniform", v, withError[v][2], HIGH, MEASURES[name]))}`).join(", ")}`,
  });
  const small = (name: "WRT" | "RT", loads: readonly number[], statement: string): ReproducedStatement => ({
    statement,
    holds: BOTH.every((v) => loads.every((e) => spread(v, e, MEASURES[name]) <= ALMOST_SAME)),
    evidence: `${name} for E = 0, 10, 30: ${list(name, loads)}; small: within 5 %`,
  });
  const rules = (variant: "one" | "one, E = 30" | "one, no backfilling", measure: Measure) =>
    inWords(results.mean("rules", variant, HIGH, measure));
  const gain = (measure: Measure) =>
    results.difference("rules", "one, no backfilling", "one, E = 30", HIGH, measure);
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
      holds: [MEASURES.RT, MEASURES.WRT].every((m) => gain(m).mean + gain(m).half < 0),
      evidence: `λ = 12.5, approach 1, ${results.values("rules", "one", HIGH, MEASURES.RT).length} replications: RT ${rules("one, no backfilling", MEASURES.RT)} without backfilling, ${rules("one, E = 30", MEASURES.RT)} with E = 30; WRT ${rules("one, no backfilling", MEASURES.WRT)} and ${rules("one, E = 30", MEASURES.WRT)}; gangs finished ${rules("one, no backfilling", MEASURES.finished)} % and ${rules("one, E = 30", MEASURES.finished)} %`,
    },
  ];
}
