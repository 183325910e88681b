/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate
 * runtime computations": reproduces table II next to the published values, figures 2 to 13 (whose numbers
 * are not printed), and the sentences that describe them.
 */
import texts from "../../../docs/papers/dimitriadou2009.texts.json" with { type: "json" };
import { paperOf } from "../texts.ts";
import { LOCAL_EVERY_S, STUDIES, type StudyName, type VariantOf } from "./cells.ts";
import { claims } from "./claims.ts";
import { figures } from "./figures.ts";
import { at, inWords, MEASURES, type SitesResults } from "./measures.ts";
import { dimitriadou2009Tables } from "./tables.ts";

export const dimitriadou2009 = paperOf(dimitriadou2009Tables, texts, {
  figures,
  statements: (results) =>
    claims(results).map(({ statement, holds, evidence }) => ({ statement, holds, evidence })),
  noteValues,
});

const HIGH = LOCAL_EVERY_S[0];

function noteValues(results: SitesResults) {
  const split = (variant: "across" | "across, held") =>
    results.mean(at("uniform", variant, HIGH), (n) => n.gangsSplit);
  const utilisation = <S extends StudyName>(study: S, variant: VariantOf<S>) =>
    results.mean(at(study, variant, HIGH), MEASURES.U);
  const finished = (variant: "one" | "one, held") =>
    results.mean(at("uniform", variant, HIGH), (n) => n.gangsFinished);
  const nearer = <V extends "one" | "across">(approach: V) =>
    (utilisation("uniform", `${approach}, held`) - utilisation("uniform", approach)).toFixed(4);
  return {
    splitHeld: percent(split("across, held")),
    splitFree: percent(split("across")),
    utilisationHeld: utilisation("uniform", "across, held").toFixed(4),
    nearerOne: nearer("one"),
    nearerAcross: nearer("across"),
    finishedHeld: percent(finished("one, held")),
    finishedFree: percent(finished("one")),
    utilisationT: utilisation("rules", "one, T = 0.5").toFixed(4),
    utilisationNone: utilisation("rules", "one, no backfilling").toFixed(4),
    studies: Object.entries(STUDIES)
      .map(([name, { title, replications }]) => `${name}: ${title}, ${replications} replications`)
      .join("; "),
  };
}

function percent(share: number): string {
  return `${inWords(100 * share)} %`;
}
