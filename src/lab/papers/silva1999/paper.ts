/**
 * Reproduces tables 1 to 10 of Silva and Scherson 1999, "Towards flexibility and scalability in parallel job
 * scheduling". They compare conventional gang scheduling with Concurrent Gang on five workloads of tasks that
 * block. The paper has one run of each; we have ten and show their spread.
 */
import texts from "../../../../docs/papers/silva1999.texts.json" with { type: "json" };
import { judge } from "../../claims.ts";
import { type Paper, tablesOf } from "../paper.ts";
import { headingOf, notesOf } from "../texts.ts";
import type { Place } from "./cells.ts";
import { NOTE_VALUES } from "./cells.ts";
import { claims } from "./claims.ts";
import { idleFigures, studyFigures } from "./figures.ts";
import { silva1999Tables } from "./tables.ts";

export const silva1999: Paper<Place, "tasks"> = {
  ...silva1999Tables,
  ...headingOf(texts),
  collect: (results) => ({
    tables: tablesOf(silva1999Tables, results),
    figures: [...idleFigures(results), ...studyFigures(results)],
    statements: claims(results).map(judge),
    notes: notesOf(texts, NOTE_VALUES),
  }),
};
