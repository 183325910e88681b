/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs and table 2
 * is 5 sets of 20,000 jobs, at four loads and under four schemes; figures 3 to 5 draw columns of table 1.
 * Both tables are computed at the nominal load and 2 % below it. The workload is the model `downey` with run
 * times of 1 … 120 slots on 128 processors.
 */
import texts from "../../../../docs/papers/zhou2000.texts.json" with { type: "json" };
import { judge } from "../../claims.ts";
import { type Paper, tablesOf } from "../paper.ts";
import { headingOf, notesOf } from "../texts.ts";
import type { Place } from "./cells.ts";
import { claims } from "./claims.ts";
import { drawnFigures, figures } from "./figures.ts";
import { zhou2000Tables } from "./tables.ts";

export const zhou2000: Paper<Place, "summary"> = {
  ...zhou2000Tables,
  ...headingOf(texts),
  collect: (results) => {
    const drawn = drawnFigures();
    return {
      tables: tablesOf(zhou2000Tables, results),
      figures: figures(results),
      matrices: drawn.map(({ matrices }) => matrices),
      statements: [...drawn.flatMap(({ statements }) => statements), ...claims(results).map(judge)],
      notes: notesOf(texts),
    };
  },
};
