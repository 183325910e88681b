/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate
 * runtime computations": reproduces table II next to the published values, figures 2 to 13 (whose numbers
 * are not printed), and the sentences that describe them.
 */

import texts from "../../../../docs/papers/dimitriadou2009.texts.json" with { type: "json" };
import { paperOf } from "../texts.ts";
import { claims } from "./claims.ts";
import { figures } from "./figures.ts";
import { noteValues } from "./notes.ts";
import { dimitriadou2009Tables } from "./tables.ts";

export const dimitriadou2009 = paperOf(dimitriadou2009Tables, texts, {
  figures,
  statements: (results) =>
    claims(results).map(({ statement, holds, evidence }) => ({ statement, holds, evidence })),
  noteValues,
});
