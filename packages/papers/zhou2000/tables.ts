/** The tables of zhou2000, each with the simulations that it needs. */

import { deviates, isFar } from "@tutti/lab/report/deviations.ts";
import numbers from "../../../docs/papers/zhou2000.numbers.json" with { type: "json" };
import { gridTable } from "../grid.ts";
import type { PaperTable, PaperTables, ReproducedValue } from "../paper.ts";
import { filled } from "../texts.ts";
import {
  cells,
  EXCLUSIVE,
  EXPERIMENTS,
  LOAD_SHARES,
  type LoadShare,
  MEASURES,
  nameOf,
  ONE_PER_CHANGE,
  type Place,
  PRINTED,
  schemeOf,
  type Variant,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  type Zhou2000Measure,
} from "./cells.ts";

/** Why values deviate. */
const { deviations } = numbers;

const VALUE_COLUMNS = [
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "n_l", meaning: "largest number of rows in a run" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "t_sa", unit: "slots", meaning: "mean turnaround time of small jobs, 1 to 12 slots" },
  { name: "t_ma", unit: "slots", meaning: "mean turnaround time of medium jobs, 13 to 60 slots" },
  { name: "t_la", unit: "slots", meaning: "mean turnaround time of large jobs, more than 60 slots" },
];

/** What all tables have. */
function grid(
  which: 1 | 2,
  variants: readonly Variant[],
  share: LoadShare,
  head: { readonly id: string; readonly title: string | ((values: readonly ReproducedValue[]) => string) },
): PaperTable<Place, "summary"> {
  const { rows, sets } = PRINTED[which];
  return gridTable({
    ...head,
    labelColumns: ["scheme", "ρ"],
    valueColumns: VALUE_COLUMNS,
    rows: ZHOU2000_LOADS.flatMap((load, at) =>
      variants.map((variant) => ({
        labels: [nameOf(variant), load.toFixed(2)],
        values: ZHOU2000_MEASURES.map((measure, m) => {
          const place: Place = { table: which, variant, load, share };
          const published = rows[schemeOf(variant)][at][m];
          const reason = () => reasonFor(place, measure);
          return { place, measure: MEASURES[measure], published, reason, publishedRuns: sets };
        }),
      })),
    ),
  });
}

function table(which: 1 | 2, share: LoadShare): PaperTable<Place, "summary"> {
  const { jobs, replications, schemes } = EXPERIMENTS[which];
  const sets = `${jobs.toLocaleString("en-US")} jobs, mean of ${replications} sets of jobs`;
  return grid(which, schemes, share, {
    id: `Table ${which}${share === 1 ? "" : ", load 2 % below nominal"}`,
    title: (values) => {
      const [far, beyond] = [isFar, deviates].map((is) => values.filter(is).length);
      return `${sets}; of ${values.length} values ${far} are more than 10 % off, ${beyond} of them by more than chance`;
    },
  });
}

/** Readings that are not the one compared above. */
function otherReadings(which: 1 | 2): PaperTable<Place, "summary"> {
  return grid(which, EXPERIMENTS[which].others, 1, {
    id: `Table ${which}, other readings`,
    title:
      "BRMS with one extra slot per workload change in all, for the largest job; BC with exclusive blocks",
  });
}

export const zhou2000Tables: PaperTables<Place, "summary"> = {
  key: "zhou2000",
  defaultSeed: 2000,
  cells,
  tables: [
    ...LOAD_SHARES.flatMap((share) => ([1, 2] as const).map((which) => table(which, share))),
    ...([1, 2] as const).map(otherReadings),
  ],
};

/** Why our value may be more than 10 % off the printed value, and more than by chance. */
function reasonFor(place: Place, measure: Zhou2000Measure): string {
  return filled(deviations[deviationOf(place, measure)], deviations);
}

function deviationOf(
  { table, variant, load, share }: Place,
  measure: Zhou2000Measure,
): keyof typeof deviations {
  if (variant === EXCLUSIVE) return "exclusiveBlocks";
  if (measure === "n_a" && load === 0.2 && !(table === 2 && variant === ONE_PER_CHANGE)) return "emptySystem";
  if (table === 2 && variant === "br" && load === 0.9 && measure === "t_ta") return "transposed";
  if (variant === "brms" && measure === "t_sa") return "brmsSmallJobs";
  if (variant === "brms" || variant === ONE_PER_CHANGE) return "twoPrograms";
  if (measure === "n_l" && load === 0.2) return "wholeNumbers";
  if (measure === "t_sa") return variant === "brmms" ? "brmmsSmallJobs" : "byRound";
  return share === 1 ? "load" : "fewSets";
}
