/** The tables of silva1999, each with the simulations that it needs. */
import { gridTable } from "../grid.ts";
import type { PaperTable, PaperTables } from "../paper.ts";
import { cells, type Place } from "./cells.ts";
import { mean } from "./claims.ts";
import { SCHEDULER_TITLES } from "./figures.ts";
import {
  MEASURES,
  OUR_CHOICE,
  type PrintedMeasure,
  PUBLISHED,
  type PublishedTable,
  SCHEDULERS,
  STUDIED,
  WORKLOADS,
} from "./published.ts";
import type { Series } from "./run.ts";

function tableOf(printed: PublishedTable): PaperTable<Place, "tasks"> {
  const { id, workload, scheduler } = printed;
  return gridTable({
    id,
    title: `${workload} workload, ${SCHEDULER_TITLES[scheduler]}`,
    labelColumns: ["simulation time (s)"],
    valueColumns: [
      { name: "jobs", meaning: "jobs completed by that time, mean over the runs" },
      {
        name: "idle",
        unit: "%",
        meaning:
          "share of processor time since 0 that was spent in idle slots or waiting for I/O, messages or barriers, mean over the runs",
      },
    ],
    rows: printed.timesS.map((timeS, row) => ({
      labels: [String(timeS)],
      values: MEASURES.map((measure) => {
        const published = printed[measure][row];
        return {
          place: { of: workload, scheduler },
          measure: (run) => run[measure][row],
          published,
          reason: reasonFor(id, measure, row, published),
        };
      }),
    })),
  });
}

/** The experiment behind a deviation: the setting of the study that comes nearest to the column. */
function reasonFor(id: string, measure: PrintedMeasure, row: number, published: number) {
  const { setting, tried, values } = STUDIED[`${id} ${measure}`];
  const found = measure === "jobs" ? `${values[row]} jobs` : `${values[row]} %`;
  const farness = (value: number) => Math.abs(Math.log(Math.max(value, 0.5) / published));
  return (runs: readonly number[]) => {
    const isWithin = published >= Math.min(...runs) && published <= Math.max(...runs);
    const range = `the paper's one run lies ${isWithin ? "within" : "outside"} the range of our runs`;
    if (setting === OUR_CHOICE)
      return `${range}; none of the other ${tried - 1} settings that the study tried comes nearer to this column by a fifth`;
    const study = `of ${tried} settings that the study tried, “${setting}” comes nearest to this column`;
    if (farness(values[row]) >= farness(mean(runs)))
      return `${range}; ${study} but not to this row, where it gives ${found}`;
    const isExplained = Math.abs(values[row] / published - 1) <= 0.1;
    return `${range}; ${study} and gives ${found} here${isExplained ? "" : ", which is still more than 10 % off"}`;
  };
}

/** What the idle time at the end of the runs consists of. Not in the paper. */
function causesTable(): PaperTable<Place, "tasks"> {
  const meaning =
    "the slot's own task is in I/O, waits for a message, or waits at a barrier; empty: there is no own task, or it has ended";
  const causes = ["I/O", "messages", "barriers", "empty"].map((name, cause) => ({
    name,
    unit: "%",
    meaning,
    measure: ({ idleBy }: Series) => idleBy[cause],
  }));
  const columns = [
    ...causes,
    {
      name: "rows",
      meaning: "mean number of rows of the matrix",
      measure: ({ meanRows }: Series) => meanRows,
    },
  ];
  return gridTable({
    id: "Table A",
    title: "what the idle time consists of in the last row (not in the paper)",
    labelColumns: ["workload", "scheduler"],
    valueColumns: columns,
    rows: WORKLOADS.flatMap((workload) =>
      SCHEDULERS.map((scheduler) => ({
        labels: [workload, SCHEDULER_TITLES[scheduler]],
        values: columns.map(({ measure }) => ({ place: { of: workload, scheduler }, measure })),
      })),
    ),
  });
}

export const silva1999Tables: PaperTables<Place, "tasks"> = {
  key: "silva1999",
  defaultSeed: 1999,
  cells,
  tables: [...PUBLISHED.map(tableOf), causesTable()],
};
