/**
 * Reproduces tables 1 to 10 of Silva and Scherson 1999, "Towards flexibility and scalability in parallel job
 * scheduling". They compare conventional gang scheduling with Concurrent Gang on five workloads of tasks that
 * block. The paper has one run of each; we have ten and show their spread.
 */
import { judge } from "../../../lab/claims.ts";
import { type Paper, tablesOf } from "../../../lab/papers/paper.ts";
import type { Place } from "./cells.ts";
import { claims } from "./claims.ts";
import { idleFigures, studyFigures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES } from "./notes.ts";
import { silva1999Tables } from "./tables.ts";

export const silva1999: Paper<Place, "tasks"> = {
  ...silva1999Tables,
  title: "Towards Flexibility and Scalability in Parallel Job Scheduling",
  authors: "Fabricio Alves Barbosa da Silva, Isaac D. Scherson",
  published: "1999",
  index: INDEX,
  collect: (results) => ({
    tables: tablesOf(silva1999Tables, results),
    figures: [...idleFigures(results), ...studyFigures(results)],
    statements: claims(results).map(judge),
    notes: NOTES,
  }),
};
