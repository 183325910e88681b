/**
 * Silva and Scherson 1999, "Towards flexibility and scalability in parallel job scheduling": conventional
 * gang scheduling against Concurrent Gang on five workloads of tasks that block, tables 1 to 10. The paper
 * has one run of each; we have ten and show their spread.
 */
import { judge } from "../../../lab/claims.ts";
import type { Paper, ReproducedTable } from "../../../lab/papers/paper.ts";
import { cells, type Place, type SilvaResults } from "./cells.ts";
import { claims } from "./claims.ts";
import { idleFigures, SCHEDULER_TITLES, studyFigures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { NOTES } from "./notes.ts";
import { PUBLISHED, type PublishedTable, SCHEDULERS, WORKLOADS } from "./published.ts";

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
          "share of processor time since 0 in idle slots or waiting for I/O, messages and barriers, mean over the runs",
      },
    ],
    rows: rows.map(([timeS, jobs, idlePercent], row) => ({
      labels: [String(timeS)],
      values: [
        results.value(place, (run) => run.jobs[row], jobs, reasonFor(jobs)),
        results.value(
          place,
          (run) => run.idlePercent[row],
          idlePercent,
          workload === "mixed" && scheduler === "gang" ? () => MIXED_REASON : reasonFor(idlePercent),
        ),
      ],
    })),
  };
}

function reasonFor(published: number) {
  return (runs: readonly number[]) =>
    published >= Math.min(...runs) && published <= Math.max(...runs)
      ? "the paper's one run lies within the range of our runs; jobs, statements and slot length are not printed"
      : "the paper's one run lies outside the range of our runs; jobs, statements and slot length are not printed, and we use one setting for all tables";
}

const MIXED_REASON =
  "not reproduced: jobs of the kinds in tables 1, 3, 5 and 7 leave processors idle for 66, 9, 31 and 39 % of the time, so a mixture should come close to their mean of 36 %; the paper's mixed jobs must have had other parameters than its pure jobs";

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
