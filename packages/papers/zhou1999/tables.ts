/** The tables of zhou1999, each with the simulations that it needs. */
import { gridTable } from "../grid.ts";
import type { PaperTable, PaperTables } from "../paper.ts";
import { cells, LOADS, MEASURES, type Place, SCHEME_NAMES, SIZES, type Sizes, SLOTS } from "./cells.ts";

const COLUMNS = [
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "unifications", unit: "per job", meaning: "extra slots given out" },
  { name: "moves", unit: "per job", meaning: "changes of row by re-packing" },
] as const;

function table(sizes: Sizes, load: number): PaperTable<Place, "summary"> {
  return gridTable({
    id: `Load ${load}`,
    title: `sizes: ${sizes}; 2,000 jobs, mean of 10 sets of jobs`,
    labelColumns: ["scheme", "slots"],
    valueColumns: COLUMNS,
    rows: SCHEME_NAMES.flatMap((scheme) =>
      SLOTS.map((slots) => ({
        labels: [scheme, slots],
        values: COLUMNS.map(({ name }) => ({
          place: { sizes, load, scheme, slots },
          measure: MEASURES[name],
        })),
      })),
    ),
  });
}

export const zhou1999Tables: PaperTables<Place, "summary"> = {
  key: "zhou1999",
  defaultSeed: 1999,
  cells,
  tables: SIZES.flatMap((sizes) => LOADS.map((load) => table(sizes, load))),
};
