/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs and table 2
 * is 5 sets of 20,000 jobs, at four loads and under four schemes; figures 3 to 5 draw columns of table 1.
 * Both tables are computed at the nominal load and 2 % below it. The workload is the model `downey` with run
 * times of 1 … 120 slots on 128 processors.
 */
import { deviates, isFar } from "../../../report/deviations.ts";
import { judge } from "../../claims.ts";
import type { Paper, ReproducedTable } from "../paper.ts";
import {
  cells,
  EXPERIMENTS,
  LOAD_SHARES,
  type LoadShare,
  MEASURES,
  nameOf,
  type Place,
  schemeOf,
  type Variant,
  type Zhou2000Results,
} from "./cells.ts";
import { claims } from "./claims.ts";
import { drawnFigures, figures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES, reasonFor } from "./notes.ts";
import { PUBLISHED_RUNS, TABLE_1, TABLE_2, ZHOU2000_LOADS, ZHOU2000_MEASURES } from "./published.ts";

export const zhou2000: Paper<Place, "summary"> = {
  key: "zhou2000",
  title: "Resource Allocation Schemes for Gang Scheduling",
  authors: "B. B. Zhou, D. Walsh and R. P. Brent",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1911, Springer 2000",
  defaultSeed: 2000,
  index: INDEX,
  cells,
  collect: (results) => {
    const drawn = drawnFigures();
    return {
      tables: [
        ...LOAD_SHARES.flatMap((share) => [table(1, share, results), table(2, share, results)]),
        ...([1, 2] as const).map((which) => otherReadings(which, results)),
      ],
      figures: figures(results),
      matrices: drawn.map(({ matrices }) => matrices),
      statements: [...drawn.flatMap(({ statements }) => statements), ...claims(results).map(judge)],
      notes: NOTES,
    };
  },
};

const BELOW = ", load 2 % below nominal";

function table(which: 1 | 2, share: LoadShare, results: Zhou2000Results): ReproducedTable {
  const { jobs, replications, schemes } = EXPERIMENTS[which];
  const rows = rowsOf(which, schemes, share, results);
  const values = rows.flatMap((row) => row.values);
  const [far, beyond] = [isFar, deviates].map((is) => values.filter(is).length);
  const sets = `${jobs.toLocaleString("en-US")} jobs, mean of ${replications} sets of jobs`;
  return {
    id: `Table ${which}${share === 1 ? "" : BELOW}`,
    title: `${sets}; of ${values.length} values ${far} are more than 10 % off, ${beyond} of them by more than chance`,
    labelColumns: ["scheme", "ρ"],
    valueColumns: VALUE_COLUMNS,
    rows,
  };
}

/** Readings that are not the one compared above. */
function otherReadings(which: 1 | 2, results: Zhou2000Results): ReproducedTable {
  return {
    id: `Table ${which}, other readings`,
    title:
      "BRMS with one extra slot per workload change in all, for the largest job; BC with exclusive blocks",
    labelColumns: ["scheme", "ρ"],
    valueColumns: VALUE_COLUMNS,
    rows: rowsOf(which, EXPERIMENTS[which].others, 1, results),
  };
}

function rowsOf(
  which: 1 | 2,
  variants: readonly Variant[],
  share: LoadShare,
  results: Zhou2000Results,
): ReproducedTable["rows"] {
  return ZHOU2000_LOADS.flatMap((load, at) =>
    variants.map((variant) => {
      const published = (which === 1 ? TABLE_1 : TABLE_2)[schemeOf(variant)][at];
      return {
        labels: [nameOf(variant), load.toFixed(2)],
        values: ZHOU2000_MEASURES.map((measure, m) =>
          results.value(
            { table: which, variant, load, share },
            MEASURES[measure],
            published[m],
            () => reasonFor({ table: which, variant, load, share }, measure),
            PUBLISHED_RUNS[which],
          ),
        ),
      };
    }),
  );
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
