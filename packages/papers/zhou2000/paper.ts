/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs and table 2
 * is 5 sets of 20,000 jobs, at four loads and under four schemes; figures 3 to 5 draw columns of table 1.
 * Both tables are computed at the nominal load and 2 % below it. The workload is the model `downey` with run
 * times of 1 … 120 slots on 128 processors.
 */

import { judge } from "@tutti/lab/claims.ts";
import texts from "../../../docs/papers/zhou2000.texts.json" with { type: "json" };
import { paperOf } from "../texts.ts";
import { claims } from "./claims.ts";
import { drawnFigures, figures } from "./figures.ts";
import { zhou2000Tables } from "./tables.ts";

export const zhou2000 = paperOf(zhou2000Tables, texts, {
  figures,
  drawn: drawnFigures,
  statements: (results) => claims(results).map(judge),
});
