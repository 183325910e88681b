/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate
 * runtime computations": reproduces table II next to the published values, figures 2 to 13 (whose numbers
 * are not printed), and the sentences that describe them.
 */

import texts from "../../../../docs/papers/dimitriadou2009.texts.json" with { type: "json" };
import { type Paper, tablesOf } from "../paper.ts";
import { headingOf, notesOf } from "../texts.ts";
import type { Place } from "./cells.ts";
import { claims } from "./claims.ts";
import { extensionFigures, paperFigures } from "./figures.ts";
import { noteValues } from "./notes.ts";
import { dimitriadou2009Tables } from "./tables.ts";

export const dimitriadou2009: Paper<Place, "sites"> = {
  ...dimitriadou2009Tables,
  ...headingOf(texts),
  collect: (results) => {
    const statements = claims(results);
    return {
      tables: tablesOf(dimitriadou2009Tables, results),
      figures: [...paperFigures(results), ...extensionFigures(results)],
      statements: statements.map(({ statement, holds, evidence }) => ({ statement, holds, evidence })),
      notes: notesOf(texts, noteValues(results)),
    };
  },
};
