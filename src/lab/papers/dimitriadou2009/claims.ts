/**
 * Decides by our numbers the sentences in which Dimitriadou and Karatza 2009 describe their figures; the
 * paper does not print the figures' numbers. Words such as "almost the same" and "a bit" get a limit here,
 * which the evidence names.
 *
 * Every sentence is decided under both readings of "idle". It holds if the 95 % intervals over the
 * replications lie on its side. We also count the replications that show it alone. The mean slowdown does
 * not converge, so sentences on slowdowns are decided by the bounded one.
 */

import type { Interval } from "../../../metrics/statistics.ts";
import { allHold, type Comparison, within } from "../../claims.ts";
import type { ReproducedStatement } from "../paper.ts";
import { LOCAL_EVERY_S, STUDIES, type StudyName } from "./cells.ts";
import { at, differenceInWords, inWords, MEASURES, type Measure, type SitesResults } from "./measures.ts";

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
 * On which idle processors a gang may start at once: on all (`held`, the literal reading), or only on those
 * for which no gang waits (`free`).
 */
export type Reading = "held" | "free";
export const READINGS: readonly Reading[] = ["held", "free"];
type Name = keyof typeof MEASURES;
type Error = 0 | 10 | 30;

/** The variant of an approach under a reading, with the largest error of predictions in %. */
function variantOf(reading: Reading, approach: Approach, error: Error = 0) {
  return `${approach}${reading === "held" ? ", held" : ""}${error === 0 ? "" : `, E = ${error}`}` as const;
}

/** The results under one reading, of all replications or of a single one. */
class View {
  readonly #results: SitesResults;
  readonly #reading: Reading;

  constructor(results: SitesResults, reading: Reading) {
    this.#results = results;
    this.#reading = reading;
  }

  place(study: "uniform" | "powers", approach: Approach, everyS: number, error: Error = 0) {
    return { study, variant: variantOf(this.#reading, approach, error), localEveryS: everyS };
  }

  interval(...[study, approach, everyS, measure, error]: Of): Interval {
    return this.#results.interval(this.place(study, approach, everyS, error), measure);
  }

  mean(...of: Of): number {
    return this.interval(...of).mean;
  }

  /** `to` minus `from`, replication by replication. */
  difference(from: Of, to: Of): Interval {
    const [, , , measure] = from;
    const placeOf = ([study, approach, everyS, , error]: Of) => this.place(study, approach, everyS, error);
    return this.#results.difference(placeOf(from), placeOf(to), measure);
  }

  /** A rule's variant of approach 1 under high load. */
  rules(rule: "E = 30" | "no backfilling") {
    return at("rules", this.#reading === "held" ? `one, held, ${rule}` : `one, ${rule}`, HIGH);
  }

  get all(): SitesResults {
    return this.#results;
  }
}
type Of = readonly [
  study: "uniform" | "powers",
  approach: Approach,
  everyS: number,
  measure: Measure,
  error?: Error,
];

interface Sentence {
  readonly statement: string;
  /** The study whose replications decide it. */
  readonly study: StudyName;
  compare(view: View): Comparison[];
  tell(view: View): string;
}

/** How a sentence came out under one reading. */
interface Outcome extends ReproducedStatement {
  readonly reading: Reading;
  /** Whether each replication shows it alone. */
  readonly alone: readonly boolean[];
}

/** A table and the page both need them, and they take seconds. */
const decided = new WeakMap<SitesResults, readonly Outcome[]>();

/** All sentences under both readings. Sentences of one reading are adjacent. */
export function claims(results: SitesResults): readonly Outcome[] {
  const known = decided.get(results);
  if (known !== undefined) return known;
  const outcomes = READINGS.flatMap((reading) =>
    SENTENCES.map((sentence) => decide(sentence, results, reading)),
  );
  decided.set(results, outcomes);
  return outcomes;
}

function decide(sentence: Sentence, results: SitesResults, reading: Reading): Outcome {
  const { statement, study, compare, tell } = sentence;
  const view = new View(results, reading);
  const holds = allHold(compare(view));
  const alone = Array.from(
    { length: STUDIES[study].replications },
    (_, i) => allHold(compare(new View(results.replication(i), reading))) === true,
  );
  const count = alone.filter((one) => one).length;
  const open = holds === null ? "; neither shown nor refuted, since a 95 % interval contains the limit" : "";
  return {
    statement: `${statement} [idle=${reading}]`,
    holds,
    evidence: `${tell(view)}${open}; true in ${count} of ${alone.length} replications alone`,
    reading,
    alone,
  };
}

function compared(a: Interval, is: Comparison["is"], b: number): Comparison {
  return { a: within(a), is, b };
}

/** Both sides of a difference that counts as none. */
function nearlyZero(difference: Interval, limit: number): Comparison[] {
  return [compared(difference, "at most", limit), compared(difference, "at least", -limit)];
}

/** Figures 2 and 3. */
function ofFinishedGangs(): Sentence[] {
  const finished = MEASURES.finished;
  const list = (view: View, study: "uniform" | "powers") =>
    BOTH.map((v) => {
      const shares = LOCAL_EVERY_S.map((everyS) => view.mean(study, v, everyS, finished));
      return `${NAMES[v]} ${shares.map((share) => `${share.toFixed(2)} %`).join(", ")}`;
    }).join("; ");
  const gains = (view: View, study: "uniform" | "powers") =>
    LOCAL_EVERY_S.map((everyS) =>
      view.difference([study, "one", everyS, finished], [study, "across", everyS, finished]),
    );
  const gainText = (view: View, study: "uniform" | "powers") =>
    `percentage points gained by approach 2 at λ = 12.5, 10, 8.3: ${gains(view, study).map(differenceInWords).join(", ")}`;
  return [
    {
      statement:
        "At every load, more gangs of uniform sizes (figure 2) complete than gangs whose sizes are powers of two (figure 3)",
      study: "powers",
      compare: (view) =>
        BOTH.flatMap((v) =>
          LOCAL_EVERY_S.map((e) =>
            compared(view.difference(["powers", v, e, finished], ["uniform", v, e, finished]), "above", 0),
          ),
        ),
      tell: (view) =>
        `finished at λ = 12.5, 10, 8.3: uniform ${list(view, "uniform")}; powers of two ${list(view, "powers")}`,
    },
    {
      statement: "Uniform sizes: nearly every gang completes under both approaches at medium and high load",
      study: "uniform",
      compare: (view) =>
        BOTH.flatMap((v) =>
          [HIGH, MEDIUM].map((e) =>
            compared(view.interval("uniform", v, e, finished), "at least", ALMOST_ALL),
          ),
        ),
      tell: (view) =>
        `finished at λ = 12.5, 10, 8.3: ${list(view, "uniform")}; almost all: at least ${ALMOST_ALL} %`,
    },
    {
      statement: "Powers of two: nearly 10 % more gangs complete under approach 2 than under approach 1",
      study: "powers",
      compare: (view) => [
        compared(
          gains(view, "powers").reduce((most, gain) => (gain.mean > most.mean ? gain : most)),
          "at least",
          ALMOST_TEN,
        ),
      ],
      tell: (view) => `${gainText(view, "powers")}; almost 10: at least ${ALMOST_TEN} at one load`,
    },
    {
      statement: "Powers of two: at every load, more gangs complete under approach 2 than under approach 1",
      study: "powers",
      compare: (view) => gains(view, "powers").map((gain) => compared(gain, "above", 0)),
      tell: (view) => gainText(view, "powers"),
    },
    {
      statement: "Powers of two: under approach 1 some gangs never complete, not even at low load",
      study: "powers",
      compare: (view) =>
        LOCAL_EVERY_S.map((e) => compared(view.interval("powers", "one", e, finished), "below", 99.5)),
      tell: (view) =>
        `finished: ${list(view, "powers")}; in whole per cent; under medium and low load only gangs that are still in the system at the end are missing`,
    },
    {
      statement: "Uniform sizes: approach 2 completes almost the same share of gangs as approach 1",
      study: "uniform",
      compare: (view) => gains(view, "uniform").flatMap((gain) => nearlyZero(gain, ALMOST_SAME_SHARE)),
      tell: (view) => `${gainText(view, "uniform")}; almost the same: within ${ALMOST_SAME_SHARE}`,
    },
    {
      statement: "Uniform sizes: at high load, a larger share of gangs completes under approach 2",
      study: "uniform",
      compare: (view) => [compared(gains(view, "uniform")[LOCAL_EVERY_S.indexOf(HIGH)], "above", 0)],
      tell: (view) => gainText(view, "uniform"),
    },
  ];
}

/** What the sentences say of the bounded slowdowns that stand for the paper's. */
const SLOWDOWNS = { "bounded SLD": "SLD", "bounded WSLD": "WSLD" } as const;
type Decided = "RT" | "WRT" | keyof typeof SLOWDOWNS;

/** Figures 4 to 7 and table II. */
function ofApproaches(): Sentence[] {
  const of = (approach: Approach, everyS: number, name: Name) =>
    ["uniform", approach, everyS, MEASURES[name]] as const;
  const between = (view: View, name: Name, everyS: number) =>
    view.difference(of("one", everyS, name), of("across", everyS, name));
  const list = (view: View, name: Name) =>
    `${name} ${BOTH.map((v) => `${NAMES[v]} ${LOCAL_EVERY_S.map((e) => inWords(view.mean(...of(v, e, name)))).join(", ")}`).join("; ")}`;
  const names = (name: Name): Name[] =>
    name === "bounded SLD" || name === "bounded WSLD" ? [name, SLOWDOWNS[name]] : [name];
  const divergent = (name: Name) =>
    name === "bounded SLD" || name === "bounded WSLD" ? "; the mean slowdown does not converge" : "";
  const differences = (view: View, name: Name, loads: readonly number[]) => {
    const atLoads = (n: Name) =>
      loads.map((e) => `${differenceInWords(between(view, n, e))} at λ = ${LAMBDA[e]}`);
    return `approach 2 minus approach 1, paired: ${names(name)
      .map((n) => `${n} ${atLoads(n).join(", ")}`)
      .join("; ")}${divergent(name)}`;
  };
  const split = (view: View) =>
    `${(100 * view.mean("uniform", "across", HIGH, (n) => n.gangsSplit)).toFixed(2)} % of the gangs were split at λ = 12.5`;
  const called = (name: Decided | "U") =>
    name === "bounded SLD" || name === "bounded WSLD" ? `${SLOWDOWNS[name]} (bounded slowdown)` : name;
  const higher = (name: Decided | "U"): Sentence => ({
    statement: `A higher load means a higher ${called(name)}`,
    study: "uniform",
    compare: (view) =>
      BOTH.flatMap((v) =>
        [
          [MEDIUM, HIGH],
          [LOW, MEDIUM],
        ].map(([from, to]) => compared(view.difference(of(v, from, name), of(v, to, name)), "above", 0)),
      ),
    tell: (view) =>
      `at λ = 12.5, 10, 8.3: ${names(name)
        .map((n) => list(view, n))
        .join("; ")}${divergent(name)}`,
  });
  const lower = (name: Decided): Sentence => ({
    statement: `Approach 2 results in lower ${called(name)} when the workload is high`,
    study: "uniform",
    compare: (view) => [compared(between(view, name, HIGH), "below", 0)],
    tell: (view) => `${differences(view, name, [HIGH])}; ${split(view)}`,
  });
  const sameBelowHigh = (name: Decided, what: string): Sentence => ({
    statement: `For medium and low workload ${called(name)} of ${what} is almost the same in both approaches`,
    study: "uniform",
    compare: (view) =>
      [MEDIUM, LOW].flatMap((e) =>
        nearlyZero(between(view, name, e), ALMOST_SAME * view.mean(...of("one", e, name))),
      ),
    tell: (view) =>
      `${differences(view, name, [MEDIUM, LOW])}; almost the same: within ${100 * ALMOST_SAME} %`,
  });
  const aBitHigher = (name: Decided): Sentence => ({
    statement: `For λ = 12.5, ${called(name)} is a bit higher for approach 2 than for approach 1`,
    study: "uniform",
    compare: (view) => [compared(between(view, name, HIGH), "above", 0)],
    tell: (view) => differences(view, name, [HIGH]),
  });
  return [
    higher("WRT"),
    higher("bounded WSLD"),
    lower("WRT"),
    lower("bounded WSLD"),
    sameBelowHigh("WRT", "gangs"),
    sameBelowHigh("bounded WSLD", "gangs"),
    higher("RT"),
    higher("bounded SLD"),
    aBitHigher("RT"),
    aBitHigher("bounded SLD"),
    sameBelowHigh("RT", "local jobs"),
    sameBelowHigh("bounded SLD", "local jobs"),
    higher("U"),
    {
      statement: "At equal load, the utilisation is slightly higher under approach 2",
      study: "uniform",
      compare: (view) => LOCAL_EVERY_S.map((e) => compared(between(view, "U", e), "above", 0)),
      tell: (view) =>
        `${differences(view, "U", LOCAL_EVERY_S)}; the paper's differences are 0.00035, 0.00006 and 0.00006; ${split(view)}, each with 10 % more service`,
    },
  ];
}

/** Figures 8 to 13. */
function ofErrors(): Sentence[] {
  const errors = [0, 10, 30] as const;
  const of = (v: Approach, e: number, name: Name, error: Error) =>
    ["uniform", v, e, MEASURES[name], error] as const;
  const between = (view: View, v: Approach, e: number, name: Name, from: Error, to: Error) =>
    view.difference(of(v, e, name, from), of(v, e, name, to));
  const list = (view: View, name: Name, loads: readonly number[]) =>
    loads
      .map((e) => {
        const means = (v: Approach) => errors.map((error) => inWords(view.mean(...of(v, e, name, error))));
        return `${BOTH.map((v) => `${NAMES[v]} ${means(v).join(", ")}`).join("; ")} at λ = ${LAMBDA[e]}`;
      })
      .join("; ");
  const rise = (name: "WRT" | "bounded WSLD", called: string): Sentence => ({
    statement: `At high load, ${called} rises with the error under both approaches, and it is lowest without an error`,
    study: "uniform",
    compare: (view) =>
      BOTH.flatMap((v) => [
        compared(between(view, v, HIGH, name, 0, 10), "above", 0),
        compared(between(view, v, HIGH, name, 10, 30), "above", 0),
      ]),
    tell: (view) => {
      const steps = (v: Approach) =>
        `${NAMES[v]} ${differenceInWords(between(view, v, HIGH, name, 0, 10))} and ${differenceInWords(between(view, v, HIGH, name, 10, 30))}`;
      return `${name} for E = 0, 10, 30: ${list(view, name, [HIGH])}; from 0 to 10 and from 10 to 30, paired: ${BOTH.map(steps).join("; ")}`;
    },
  });
  const small = (
    name: "WRT" | "bounded WSLD" | "RT",
    loads: readonly number[],
    statement: string,
  ): Sentence => ({
    statement,
    study: "uniform",
    compare: (view) =>
      BOTH.flatMap((v) =>
        loads.flatMap((e) =>
          ([10, 30] as const).flatMap((error) =>
            nearlyZero(between(view, v, e, name, 0, error), ALMOST_SAME * view.mean(...of(v, e, name, 0))),
          ),
        ),
      ),
    tell: (view) => `${name} for E = 0, 10, 30: ${list(view, name, loads)}; small: within 5 % of E = 0`,
  });
  const kept = [MEASURES.RT, MEASURES.WRT] as const;
  return [
    small(
      "WRT",
      [MEDIUM, LOW],
      "At low and medium load, the weighted response time (WRT) hardly changes with the error",
    ),
    small(
      "WRT",
      LOCAL_EVERY_S,
      "At every load, the weighted response time (WRT) changes by very little with the error",
    ),
    small(
      "bounded WSLD",
      [MEDIUM, LOW],
      "At low and medium load, WSLD (bounded slowdown) hardly changes with the error",
    ),
    small(
      "bounded WSLD",
      LOCAL_EVERY_S,
      "At every load, WSLD (bounded slowdown) changes by very little with the error",
    ),
    rise("WRT", "WRT"),
    rise("bounded WSLD", "WSLD (bounded slowdown)"),
    small(
      "RT",
      LOCAL_EVERY_S,
      "The response time of local jobs hardly changes with the error of their predictions",
    ),
    {
      statement: "Backfilling pays off in this system even if predictions are wrong",
      study: "rules",
      compare: (view) =>
        kept.map((measure) =>
          compared(
            view.all.difference(view.rules("no backfilling"), view.rules("E = 30"), measure),
            "below",
            0,
          ),
        ),
      tell: (view) => {
        const both = (measure: Measure) => {
          const [none, some] = (["no backfilling", "E = 30"] as const).map((rule) =>
            inWords(view.all.mean(view.rules(rule), measure)),
          );
          return `${none} and ${some}`;
        };
        return `λ = 12.5, approach 1, without backfilling and with E = 30: RT ${both(MEASURES.RT)}; WRT ${both(MEASURES.WRT)}; gangs finished in % ${both(MEASURES.finished)}`;
      },
    },
  ];
}

const SENTENCES: readonly Sentence[] = [...ofFinishedGangs(), ...ofApproaches(), ...ofErrors()];
