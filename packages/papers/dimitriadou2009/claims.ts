/**
 * Decides by our numbers the sentences in which Dimitriadou and Karatza 2009 describe their figures; the
 * paper does not print the figures' numbers. Words such as "almost the same" and "a bit" get a limit here,
 * which the evidence names.
 *
 * Every sentence is decided under both readings of "idle". It holds if the 95 % intervals over the
 * replications lie on its side. We also count the replications that show it alone. The mean slowdown does
 * not converge, so sentences on slowdowns are decided by the bounded one.
 */

import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import { allHold, type Comparison, within } from "@tutti/lab/claims.ts";
import statements from "../../../docs/papers/dimitriadou2009.claims.json" with { type: "json" };
import type { ReproducedStatement } from "../paper.ts";
import { LOCAL_EVERY_S, STUDIES } from "./cells.ts";
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

/** A statement of docs/papers/dimitriadou2009.claims.json. */
interface ClaimText {
  readonly statement: string;
  readonly rule: keyof typeof RULES;
  /** The study whose replications decide it; "uniform" if undefined. */
  readonly study?: Study;
  readonly measure?: Name;
  /** λ as printed; all three if undefined. */
  readonly loads?: readonly string[];
}

type Study = "uniform" | "powers" | "rules";

/** What a statement is about. */
interface About {
  readonly study: "uniform" | "powers";
  readonly name: Name;
  readonly loads: readonly number[];
}

/** Decides a kind of statement under a reading. */
interface Rule {
  compare(view: View, about: About): Comparison[];
  tell(view: View, about: About): string;
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
    (statements as readonly ClaimText[]).map((text) => decide(text, results, reading)),
  );
  decided.set(results, outcomes);
  return outcomes;
}

function decide(text: ClaimText, results: SitesResults, reading: Reading): Outcome {
  const { statement, rule, study = "uniform", measure: name = "finished", loads } = text;
  const { compare, tell }: Rule = RULES[rule];
  const about: About = {
    study: study === "powers" ? study : "uniform",
    name,
    loads: LOCAL_EVERY_S.filter((everyS) => loads?.includes(LAMBDA[everyS]) ?? true),
  };
  const view = new View(results, reading);
  const holds = allHold(compare(view, about));
  const alone = Array.from(
    { length: STUDIES[study].replications },
    (_, i) => allHold(compare(new View(results.replication(i), reading), about)) === true,
  );
  const count = alone.filter((one) => one).length;
  const open = holds === null ? "; neither shown nor refuted, since a 95 % interval contains the limit" : "";
  return {
    statement: `${statement} [idle=${reading}]`,
    holds,
    evidence: `${tell(view, about)}${open}; true in ${count} of ${alone.length} replications alone`,
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

const FINISHED = MEASURES.finished;
/** The bounded slowdowns that stand for the paper's. */
const SLOWDOWNS: Partial<Record<Name, Name>> = { "bounded SLD": "SLD", "bounded WSLD": "WSLD" };

/** The measure as printed, too, if another one stands for it. */
const names = (name: Name): Name[] => [name, SLOWDOWNS[name] ?? []].flat();
const divergent = (name: Name) => (name in SLOWDOWNS ? "; the mean slowdown does not converge" : "");

const finishedShares = (view: View, study: "uniform" | "powers") =>
  BOTH.map((v) => {
    const shares = LOCAL_EVERY_S.map((e) => view.mean(study, v, e, FINISHED));
    return `${NAMES[v]} ${shares.map((share) => `${share.toFixed(2)} %`).join(", ")}`;
  }).join("; ");
const gainAt = (view: View, study: "uniform" | "powers", e: number) =>
  view.difference([study, "one", e, FINISHED], [study, "across", e, FINISHED]);
const gainText = (view: View, study: "uniform" | "powers") =>
  `percentage points gained by approach 2 at λ = 12.5, 10, 8.3: ${LOCAL_EVERY_S.map((e) => differenceInWords(gainAt(view, study, e))).join(", ")}`;

const of = (approach: Approach, everyS: number, name: Name, error: Error = 0) =>
  ["uniform", approach, everyS, MEASURES[name], error] as const;
/** Approach 2 minus approach 1. */
const between = (view: View, name: Name, everyS: number) =>
  view.difference(of("one", everyS, name), of("across", everyS, name));
const meansText = (view: View, name: Name) =>
  `${name} ${BOTH.map((v) => `${NAMES[v]} ${LOCAL_EVERY_S.map((e) => inWords(view.mean(...of(v, e, name)))).join(", ")}`).join("; ")}`;
const differencesText = (view: View, { name, loads }: About) => {
  const atLoads = (n: Name) =>
    loads.map((e) => `${differenceInWords(between(view, n, e))} at λ = ${LAMBDA[e]}`);
  return `approach 2 minus approach 1, paired: ${names(name)
    .map((n) => `${n} ${atLoads(n).join(", ")}`)
    .join("; ")}${divergent(name)}`;
};
const splitText = (view: View) =>
  `${(100 * view.mean("uniform", "across", HIGH, (n) => n.gangsSplit)).toFixed(2)} % of the gangs were split at λ = 12.5`;

/** The change of a measure from one error of predictions to another. */
const change = (view: View, v: Approach, e: number, name: Name, from: Error, to: Error) =>
  view.difference(of(v, e, name, from), of(v, e, name, to));
const byErrorText = (view: View, { name, loads }: About) => {
  const means = (v: Approach, e: number) =>
    ([0, 10, 30] as const).map((error) => inWords(view.mean(...of(v, e, name, error))));
  const atLoad = (e: number) => BOTH.map((v) => `${NAMES[v]} ${means(v, e).join(", ")}`).join("; ");
  return `${name} for E = 0, 10, 30: ${loads.map((e) => `${atLoad(e)} at λ = ${LAMBDA[e]}`).join("; ")}`;
};

/** How the statements are decided, by the names that the texts give. */
export const RULES = {
  // Figures 2 and 3.
  moreThanWithPowers: {
    compare: (view, { loads }) =>
      BOTH.flatMap((v) =>
        loads.map((e) =>
          compared(view.difference(["powers", v, e, FINISHED], ["uniform", v, e, FINISHED]), "above", 0),
        ),
      ),
    tell: (view) =>
      `finished at λ = 12.5, 10, 8.3: uniform ${finishedShares(view, "uniform")}; powers of two ${finishedShares(view, "powers")}`,
  },
  almostAllFinish: {
    compare: (view, { study, loads }) =>
      BOTH.flatMap((v) =>
        loads.map((e) => compared(view.interval(study, v, e, FINISHED), "at least", ALMOST_ALL)),
      ),
    tell: (view, { study }) =>
      `finished at λ = 12.5, 10, 8.3: ${finishedShares(view, study)}; almost all: at least ${ALMOST_ALL} %`,
  },
  almostTenMoreFinish: {
    compare: (view, { study, loads }) => {
      const gains = loads.map((e) => gainAt(view, study, e));
      const largest = gains.reduce((most, gain) => (gain.mean > most.mean ? gain : most));
      return [compared(largest, "at least", ALMOST_TEN)];
    },
    tell: (view, { study }) => `${gainText(view, study)}; almost 10: at least ${ALMOST_TEN} at one load`,
  },
  moreFinish: {
    compare: (view, { study, loads }) => loads.map((e) => compared(gainAt(view, study, e), "above", 0)),
    tell: (view, { study }) => gainText(view, study),
  },
  someNeverFinish: {
    compare: (view, { study, loads }) =>
      loads.map((e) => compared(view.interval(study, "one", e, FINISHED), "below", 99.5)),
    tell: (view, { study }) =>
      `finished: ${finishedShares(view, study)}; in whole per cent; under medium and low load only gangs that are still in the system at the end are missing`,
  },
  sameShareFinishes: {
    compare: (view, { study, loads }) =>
      loads.flatMap((e) => nearlyZero(gainAt(view, study, e), ALMOST_SAME_SHARE)),
    tell: (view, { study }) => `${gainText(view, study)}; almost the same: within ${ALMOST_SAME_SHARE}`,
  },
  // Figures 4 to 7 and table II.
  risesWithLoad: {
    compare: (view, { name }) =>
      BOTH.flatMap((v) =>
        [
          [MEDIUM, HIGH],
          [LOW, MEDIUM],
        ].map(([from, to]) => compared(view.difference(of(v, from, name), of(v, to, name)), "above", 0)),
      ),
    tell: (view, { name }) =>
      `at λ = 12.5, 10, 8.3: ${names(name)
        .map((n) => meansText(view, n))
        .join("; ")}${divergent(name)}`,
  },
  lowerAcross: {
    compare: (view, { name, loads }) => loads.map((e) => compared(between(view, name, e), "below", 0)),
    tell: (view, about) => `${differencesText(view, about)}; ${splitText(view)}`,
  },
  higherAcross: {
    compare: (view, { name, loads }) => loads.map((e) => compared(between(view, name, e), "above", 0)),
    tell: differencesText,
  },
  same: {
    compare: (view, { name, loads }) =>
      loads.flatMap((e) =>
        nearlyZero(between(view, name, e), ALMOST_SAME * view.mean(...of("one", e, name))),
      ),
    tell: (view, about) => `${differencesText(view, about)}; almost the same: within ${100 * ALMOST_SAME} %`,
  },
  higherUtilisation: {
    compare: (view, { name, loads }) => loads.map((e) => compared(between(view, name, e), "above", 0)),
    tell: (view, about) =>
      `${differencesText(view, about)}; the paper's differences are 0.00035, 0.00006 and 0.00006; ${splitText(view)}, each with 10 % more service`,
  },
  // Figures 8 to 13.
  changesLittleWithError: {
    compare: (view, { name, loads }) =>
      BOTH.flatMap((v) =>
        loads.flatMap((e) =>
          ([10, 30] as const).flatMap((error) =>
            nearlyZero(change(view, v, e, name, 0, error), ALMOST_SAME * view.mean(...of(v, e, name))),
          ),
        ),
      ),
    tell: (view, about) => `${byErrorText(view, about)}; small: within 5 % of E = 0`,
  },
  risesWithError: {
    compare: (view, { name, loads }) =>
      BOTH.flatMap((v) =>
        loads.flatMap((e) => [
          compared(change(view, v, e, name, 0, 10), "above", 0),
          compared(change(view, v, e, name, 10, 30), "above", 0),
        ]),
      ),
    tell: (view, about) => {
      const steps = (v: Approach) =>
        `${NAMES[v]} ${differenceInWords(change(view, v, HIGH, about.name, 0, 10))} and ${differenceInWords(change(view, v, HIGH, about.name, 10, 30))}`;
      return `${byErrorText(view, about)}; from 0 to 10 and from 10 to 30, paired: ${BOTH.map(steps).join("; ")}`;
    },
  },
  backfillingPays: {
    compare: (view) =>
      [MEASURES.RT, MEASURES.WRT].map((measure) =>
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
} as const satisfies Readonly<Record<string, Rule>>;
