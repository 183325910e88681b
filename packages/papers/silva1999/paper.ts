/**
 * Reproduces tables 1 to 10 of Silva and Scherson 1999, "Towards flexibility and scalability in parallel job
 * scheduling". They compare conventional gang scheduling with Concurrent Gang on five workloads of tasks that
 * block. The paper has one run of each; we have ten and show their spread.
 */

import { judge } from "@tutti/lab/claims.ts";
import texts from "../../../docs/papers/silva1999.texts.json" with { type: "json" };
import { paperOf } from "../texts.ts";
import { NOTE_VALUES } from "./cells.ts";
import { claims } from "./claims.ts";
import { idleFigures, studyFigures } from "./figures.ts";
import { silva1999Tables } from "./tables.ts";

export const silva1999 = paperOf(silva1999Tables, texts, {
  figures: (results) => [...idleFigures(results), ...studyFigures(results)],
  statements: (results) => claims(results).map(judge),
  noteValues: () => NOTE_VALUES,
});
