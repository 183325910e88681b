/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs and table 2
 * is 5 sets of 20,000 jobs, at four loads and under four schemes; figures 3 to 5 draw columns of table 1. The
 * workload is the model `downey` with run times of 1 … 120 slots on 128 processors.
 */
import { judge } from "../../claims.ts";
import type { Paper, ReproducedTable } from "../paper.ts";
import {
  cells,
  MEASURES,
  nameOf,
  OTHER_READING,
  type Place,
  type Variant,
  type Zhou2000Results,
} from "./cells.ts";
import { claims } from "./claims.ts";
import { figures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES, reasonFor } from "./notes.ts";
import {
  PUBLISHED_RUNS,
  TABLE_1,
  TABLE_2,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
} from "./published.ts";

export const zhou2000: Paper<Place, "summary"> = {
  key: "zhou2000",
  title: "Resource Allocation Schemes for Gang Scheduling",
  authors: "B. B. Zhou, D. Walsh and R. P. Brent",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1911, Springer 2000",
  defaultSeed: 2000,
  index: INDEX,
  cells,
  collect: (results) => ({
    tables: [
      table("Table 1", "200 jobs, mean of 20 sets of jobs", 1, ZHOU2000_SCHEMES, results),
      table("Table 2", "20,000 jobs, mean of 5 sets of jobs", 2, ZHOU2000_SCHEMES, results),
      table(
        "Table 1, BRMS in another reading",
        "an extra slot for every job that can have one",
        1,
        [OTHER_READING],
        results,
      ),
    ],
    figures: figures(results),
    statements: claims(results).map(judge),
    notes: NOTES,
  }),
};

function table(
  id: string,
  title: string,
  which: 1 | 2,
  variants: readonly Variant[],
  results: Zhou2000Results,
): ReproducedTable {
  const rows = ZHOU2000_LOADS.flatMap((load, at) =>
    variants.map((variant) => {
      const scheme = variant === OTHER_READING ? "brms" : variant;
      const published = (which === 1 ? TABLE_1 : TABLE_2)[scheme][at];
      return {
        labels: [nameOf(variant), load.toFixed(2)],
        values: ZHOU2000_MEASURES.map((measure, m) =>
          results.value(
            { table: which, variant, load },
            MEASURES[measure],
            published[m],
            () => reasonFor(which, scheme, load, measure),
            PUBLISHED_RUNS[which],
          ),
        ),
      };
    }),
  );
  return { id, title, labelColumns: ["scheme", "ρ"], valueColumns: VALUE_COLUMNS, rows };
}

const VALUE_COLUMNS: ReproducedTable["valueColumns"] = [
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "n_l", meaning: "largest number of rows in a run" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "t_sa", unit: "slots", meaning: "mean turnaround time of small jobs, 1 to 12 slots" },
  { name: "t_ma", unit: "slots", meaning: "mean turnaround time of medium jobs, 13 to 60 slots" },
  { name: "t_la", unit: "slots", meaning: "mean turnaround time of large jobs, more than 60 slots" },
];
