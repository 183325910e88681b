/** The numbers that the notes on dimitriadou2009 (docs/papers/dimitriadou2009.texts.json) quote. */

import type { StudyName, VariantOf } from "./cells.ts";
import { LOCAL_EVERY_S, STUDIES } from "./cells.ts";
import type { SitesResults } from "./measures.ts";
import { at, inWords, MEASURES } from "./measures.ts";

const HIGH = LOCAL_EVERY_S[0];

export function noteValues(results: SitesResults) {
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
