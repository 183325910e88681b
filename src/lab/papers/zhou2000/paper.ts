/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs, table 2 is 5 sets of 20,000
 * jobs, at four loads, under four schemes; figures 3 to 5 draw columns of table 1. Within a load all schemes see the same jobs.
 *
 * Time is counted in slots, so the slot is 1 s long and a switch costs nothing. The workload is the model `downey` with
 * run times of 1 … 120 slots on 128 processors.
 */
import { confidenceInterval } from "../../../metrics/statistics.ts";
import type { Paper, ReproducedTable, ReproducedValue, Reproduction } from "../paper.ts";
import { cells, OTHER_READING, runCell, type Variant, type Zhou2000Cell } from "./cells.ts";
import { figures, type Lookup, nameOf, statements } from "./claims.ts";
import { NOTES, reasonFor } from "./notes.ts";
import {
  TABLE_1,
  TABLE_2,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Row,
} from "./published.ts";

/** Tables beside the published ones, figures and statements. */
export function collect(list: readonly Zhou2000Cell[], numbers: readonly Zhou2000Row[]): Reproduction {
  const ours = groupRows(list, numbers);
  const tables = [
    table("Table 1", "200 jobs, mean of 20 sets of jobs", 1, ZHOU2000_SCHEMES, ours),
    table("Table 2", "20,000 jobs, mean of 5 sets of jobs", 2, ZHOU2000_SCHEMES, ours),
    table(
      "Table 1, BRMS read otherwise",
      "an extra slot for every job that can have one",
      1,
      [OTHER_READING],
      ours,
    ),
  ];
  const value: Lookup = (which, scheme, load, measure) =>
    mean(ours, which, scheme, load, ZHOU2000_MEASURES.indexOf(measure));
  return { tables, figures: figures(value), statements: statements(value), notes: NOTES };
}

export const zhou2000: Paper<Zhou2000Cell, Zhou2000Row> = {
  key: "zhou2000",
  title: "Resource Allocation Schemes for Gang Scheduling",
  authors: "B. B. Zhou, D. Walsh and R. P. Brent",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1911, Springer 2000",
  defaultSeed: 2000,
  cells,
  runCell,
  collect,
};

/** Rows of all replications by table, variant and load. */
type Groups = ReadonlyMap<string, readonly Zhou2000Row[]>;

const key = (table: 1 | 2, variant: Variant, load: number) => `${table} ${variant} ${load}`;

function groupRows(list: readonly Zhou2000Cell[], numbers: readonly Zhou2000Row[]): Groups {
  const groups = new Map<string, Zhou2000Row[]>();
  list.forEach((cell, at) => {
    const name = key(cell.table, cell.variant, cell.load);
    const rows = groups.get(name) ?? [];
    rows.push(numbers[at]);
    groups.set(name, rows);
  });
  return groups;
}

function column(groups: Groups, table: 1 | 2, variant: Variant, load: number, measure: number): number[] {
  return groups.get(key(table, variant, load))!.map((row) => row[measure]);
}

function mean(groups: Groups, table: 1 | 2, variant: Variant, load: number, measure: number): number {
  return confidenceInterval(column(groups, table, variant, load, measure)).mean;
}

function table(
  id: string,
  title: string,
  which: 1 | 2,
  variants: readonly Variant[],
  groups: Groups,
): ReproducedTable {
  const rows = ZHOU2000_LOADS.flatMap((load, at) =>
    variants.map((variant) => {
      const scheme = variant === OTHER_READING ? "brms" : variant;
      const published = (which === 1 ? TABLE_1 : TABLE_2)[scheme][at];
      const values = ZHOU2000_MEASURES.map((measure, m): ReproducedValue => {
        const interval = confidenceInterval(column(groups, which, variant, load, m));
        const deviates = Math.abs(interval.mean / published[m] - 1) > 0.1;
        return {
          published: published[m],
          ours: interval.mean,
          halfWidth: interval.half,
          ...(deviates && { reason: reasonFor(which, scheme, load, measure) }),
        };
      });
      return { labels: [nameOf(variant), load.toFixed(2)], values };
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
