/** The tables of kawanami2008, each with the simulations that it needs. */

import { HPC2500_CLASSES } from "@tutti/kernel/core/queue-classes.ts";
import { HPC2500_JOBS } from "@tutti/kernel/workload/models/hpc2500.ts";
import numbers from "../../../docs/papers/kawanami2008.numbers.json" with { type: "json" };
import { gridTable } from "../grid.ts";
import type { PaperTable, PaperTables, ReproducedTable, ReproducedValue } from "../paper.ts";
import { cells, type KawanamiResults, type Place, SCHEDULER_KEYS, SCHEDULERS } from "./cells.ts";
import { QUEUE_NAMES, type QueuesResult } from "./run.ts";

export const kawanami2008Tables: PaperTables<Place, "queues"> = {
  key: "kawanami2008",
  defaultSeed: 1,
  cells,
  tables: [
    { needs: ({ scheduler }) => scheduler === "conventional", of: cpuTimeTable },
    { needs: () => false, of: classTable },
    { needs: () => false, of: reservationTable },
    ...byScheduler(),
  ],
};

function cpuTimeTable(results: KawanamiResults): ReproducedTable {
  return {
    id: "Table 1",
    kind: "fitted",
    title: "Median CPU time by degree of parallelism, in the jobs of the model",
    labelColumns: ["parallelism"],
    valueColumns: [{ name: "CPU time", unit: "ms", meaning: "median of run time × processors" }],
    rows: HPC2500_JOBS.map(({ processors, medianCpuMs }, i) => ({
      labels: [String(processors)],
      values: [
        {
          ...results.value({ scheduler: "conventional" }, (run) => run.medianCpuMs[i], medianCpuMs),
          reason:
            "the model is made to have this median; it differs because of rounding to whole seconds, the limit of seven days on elapsed time, and the small number of jobs of this size in a seed",
        },
      ],
    })),
  };
}

function classTable(): ReproducedTable {
  return {
    id: "Table 2",
    kind: "constants",
    title: "Queue classes of the HPC2500",
    labelColumns: ["queue"],
    valueColumns: [
      { name: "CPUs", meaning: "highest number of processors of a job" },
      { name: "processes", meaning: "highest number of processes of a job" },
      { name: "threads", meaning: "highest number of threads per process" },
    ],
    rows: numbers.classes.map(({ queue, processors, processes, threads }) => {
      const ours = HPC2500_CLASSES.find(({ name }) => name === queue)!;
      return {
        labels: [queue],
        values: [
          exact(processors, ours.processors),
          exact(processes, ours.processes),
          exact(threads, ours.threads),
        ],
      };
    }),
  };
}

function reservationTable(): ReproducedTable {
  return {
    id: "Tables 3 and 4",
    kind: "constants",
    title: "Priority thresholds, and limits on simultaneous reservations under proposal 2",
    labelColumns: ["queue"],
    valueColumns: [
      { name: "threshold", meaning: "a job with a higher priority asks for a reservation" },
      { name: "limit", meaning: "number of reservations that jobs of the queue may hold at a time" },
    ],
    rows: numbers.classes.flatMap(({ queue, threshold, limit }) => {
      if (threshold === undefined) return [];
      const rule = HPC2500_CLASSES.find(({ name }) => name === queue)?.reservations;
      const values = [
        exact(threshold, rule?.threshold ?? Number.NaN),
        exact(limit, rule?.limit ?? Number.NaN),
      ];
      return [{ labels: [queue], values }];
    }),
  };
}

/** Tables with a column per scheduler. */
function byScheduler(): PaperTable<Place, "queues">[] {
  const table = (
    id: string,
    title: string,
    measure: keyof QueuesResult,
    unit?: "s",
    rows: readonly string[] = QUEUE_NAMES,
  ) =>
    gridTable<Place, "queues">({
      id,
      title: (_, results) =>
        `${title}, mean over ${results.at({ scheduler: "conventional" }).length} seeds; ${unit === "s" ? "the paper prints no numbers" : "not in the paper"}`,
      labelColumns: [rows === QUEUE_NAMES ? "queue" : "share"],
      valueColumns: SCHEDULER_KEYS.map((key) => ({
        name: SCHEDULERS[key].title,
        unit,
        meaning: SCHEDULERS[key].meaning,
      })),
      rows: rows.map((name, at) => ({
        labels: [name],
        values: SCHEDULER_KEYS.map((scheduler) => ({
          place: { scheduler },
          measure: (run) => run[measure][at],
        })),
      })),
    });
  const byShape =
    "Median wait of the jobs that automatic selection puts into the queue, wherever they waited";
  const held = "Processors held back for requesters";
  return [
    table("Figure 2 as numbers", "Median wait by queue", "medianWaitS", "s"),
    table("Figure 3 as numbers", "Longest wait by queue", "maxWaitS", "s"),
    table("Figure 2, by shape", byShape, "medianByShapeS", "s"),
    table("Jobs", "Jobs by queue", "jobs"),
    table("Reservations", "Connected reservations by queue", "reservations"),
    table("Held processors", held, "heldShare", undefined, ["of the machine's time"]),
  ];
}

function exact(published: number, ours: number): ReproducedValue {
  return { published, ours, halfWidth: null };
}
