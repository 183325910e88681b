/**
 * Reproduces tables 1 to 10 of Silva and Scherson 1999, "Towards flexibility and scalability in parallel job
 * scheduling". They compare conventional gang scheduling with Concurrent Gang on five workloads of tasks that
 * block. The paper has one run of each; we have ten and show their spread.
 */
import { judge } from "../../../lab/claims.ts";
import type { Paper, ReproducedTable } from "../../../lab/papers/paper.ts";
import { cells, type Place, type SilvaResults } from "./cells.ts";
import { claims, mean } from "./claims.ts";
import { idleFigures, SCHEDULER_TITLES, studyFigures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES } from "./notes.ts";
import { PUBLISHED, type PublishedTable, SCHEDULERS, WORKLOADS } from "./published.ts";
import { OUR_CHOICE, STUDIED } from "./studied.ts";

export const silva1999: Paper<Place, "tasks"> = {
  key: "silva1999",
  title: "Towards Flexibility and Scalability in Parallel Job Scheduling",
  authors: "Fabricio Alves Barbosa da Silva, Isaac D. Scherson",
  published: "1999",
  defaultSeed: 1999,
  index: INDEX,
  cells,
  collect: (results) => ({
    tables: [...PUBLISHED.map((table) => tableOf(table, results)), causesTable(results)],
    figures: [...idleFigures(results), ...studyFigures(results)],
    statements: claims(results).map(judge),
    notes: NOTES,
  }),
};

function tableOf({ id, workload, scheduler, rows }: PublishedTable, results: SilvaResults): ReproducedTable {
  const place = { of: workload, scheduler };
  return {
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
    rows: rows.map(([timeS, jobs, idlePercent], row) => ({
      labels: [String(timeS)],
      values: [
        results.value(place, (run) => run.jobs[row], jobs, reasonFor(id, "jobs", row, jobs)),
        results.value(
          place,
          (run) => run.idlePercent[row],
          idlePercent,
          reasonFor(id, "idlePercent", row, idlePercent),
        ),
      ],
    })),
  };
}

/** The experiment behind a deviation: the setting of the study that comes nearest to the column. */
function reasonFor(id: string, measure: "jobs" | "idlePercent", row: number, published: number) {
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
function causesTable(results: SilvaResults): ReproducedTable {
  const names = ["I/O", "messages", "barriers", "empty"] as const;
  const meaning =
    "the slot's own task is in I/O, waits for a message, or waits at a barrier; empty: there is no own task, or it has ended";
  return {
    id: "Table A",
    title: "what the idle time consists of in the last row (not in the paper)",
    labelColumns: ["workload", "scheduler"],
    valueColumns: [
      ...names.map((name) => ({ name, unit: "%", meaning })),
      { name: "rows", meaning: "mean number of rows of the matrix" },
    ],
    rows: WORKLOADS.flatMap((workload) =>
      SCHEDULERS.map((scheduler) => {
        const place = { of: workload, scheduler };
        return {
          labels: [workload, SCHEDULER_TITLES[scheduler]],
          values: [
            ...names.map((_, cause) => results.value(place, ({ idleBy }) => idleBy[cause])),
            results.value(place, ({ meanRows }) => meanRows),
          ],
        };
      }),
    ),
  };
}
