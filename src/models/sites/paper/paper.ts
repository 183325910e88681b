/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate
 * runtime computations": reproduces table II next to the published values, figures 2 to 13 (whose numbers
 * are not printed), and the sentences that describe them.
 */

import { type Paper, tablesOf } from "../../../lab/papers/paper.ts";
import type { Place } from "./cells.ts";
import { claims } from "./claims.ts";
import { extensionFigures, paperFigures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { notesOf } from "./notes.ts";
import { dimitriadou2009Tables } from "./tables.ts";

export const dimitriadou2009: Paper<Place, "sites"> = {
  ...dimitriadou2009Tables,
  title: "Job scheduling in a distributed system using backfilling with inaccurate runtime computations",
  authors: "S. K. Dimitriadou, H. D. Karatza",
  published: "Aristotle University of Thessaloniki, 2009",
  index: INDEX,
  collect: (results) => {
    const statements = claims(results);
    return {
      tables: tablesOf(dimitriadou2009Tables, results),
      figures: [...paperFigures(results), ...extensionFigures(results)],
      statements: statements.map(({ statement, holds, evidence }) => ({ statement, holds, evidence })),
      notes: notesOf(results),
    };
  },
};
