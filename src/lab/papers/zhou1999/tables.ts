/** The tables of zhou1999, each with the simulations that it needs. */
import type { PaperTable, PaperTables, ReproducedTable } from "../paper.ts";
import {
  cells,
  LOADS,
  MEASURES,
  type Measure,
  type Place,
  SCHEME_NAMES,
  SIZES,
  type Sizes,
  SLOTS,
  type Zhou1999Results,
} from "./cells.ts";

const TABLES: readonly PaperTable<Place, "summary">[] = SIZES.flatMap((sizes) =>
  LOADS.map((load) => ({
    needs: (place: Place) => place.sizes === sizes && place.load === load,
    of: (results) => table(sizes, load, results),
  })),
);

export const zhou1999Tables: PaperTables<Place, "summary"> = {
  key: "zhou1999",
  defaultSeed: 1999,
  cells,
  tables: TABLES,
};

function table(sizes: Sizes, load: number, results: Zhou1999Results): ReproducedTable {
  const rows = SCHEME_NAMES.flatMap((scheme) =>
    SLOTS.map((slots) => ({
      labels: [scheme, slots],
      values: (Object.keys(MEASURES) as Measure[]).map((measure) =>
        results.value({ sizes, load, scheme, slots }, MEASURES[measure]),
      ),
    })),
  );
  return {
    id: `Load ${load}`,
    title: `sizes: ${sizes}; 2,000 jobs, mean of 10 sets of jobs`,
    labelColumns: ["scheme", "slots"],
    valueColumns: VALUE_COLUMNS,
    rows,
  };
}

const VALUE_COLUMNS: ReproducedTable["valueColumns"] = [
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "unifications", unit: "per job", meaning: "extra slots given out" },
  { name: "moves", unit: "per job", meaning: "changes of row by re-packing" },
];
