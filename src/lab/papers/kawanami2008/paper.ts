/**
 * Reproduces Kawanami, Yoshihisa and Kanazawa 2008: automatic queue selection and connected reservations on
 * the HPC2500, tables 1 to 4 and figures 2 and 3. The site's log is not public, so the jobs come from a model
 * (workload/models/hpc2500.ts). Our numbers can be compared in direction only: the paper prints no numbers
 * for its figures, and section 4 only describes them in words.
 */
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { HPC2500_JOBS } from "../../../workload/models/hpc2500.ts";
import { judge } from "../../claims.ts";
import type { Paper, ReproducedTable, ReproducedValue } from "../paper.ts";
import { cells, type KawanamiResults, type Place, SCHEDULER_KEYS, SCHEDULERS } from "./cells.ts";
import { claims } from "./claims.ts";
import { figures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { notes } from "./notes.ts";
import { PRINTED_CLASSES } from "./published.ts";
import { QUEUE_NAMES, type QueuesResult } from "./run.ts";

export const kawanami2008: Paper<Place, "queues"> = {
  key: "kawanami2008",
  title:
    "Performance Evaluation of Automatic Queue Selection Scheduling on Batch Mode Processing Environment (in Japanese)",
  authors: "H. Kawanami, T. Yoshihisa and M. Kanazawa",
  published: "Kyoto University and Osaka University, 2008",
  defaultSeed: 1,
  index: INDEX,
  cells,
  collect: (results) => ({
    tables: [cpuTimeTable(results), classTable(), reservationTable(), ...byScheduler(results)],
    figures: figures(results),
    statements: claims(results).map(judge),
    notes: notes(),
  }),
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
    rows: PRINTED_CLASSES.map(([name, processors, processes, threads]) => {
      const ours = HPC2500_CLASSES.find((queue) => queue.name === name)!;
      return {
        labels: [name],
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
  const reserving = PRINTED_CLASSES.filter(([, , , , threshold]) => threshold !== null);
  return {
    id: "Tables 3 and 4",
    kind: "constants",
    title: "Priority thresholds, and limits on simultaneous reservations under proposal 2",
    labelColumns: ["queue"],
    valueColumns: [
      { name: "threshold", meaning: "a job with a higher priority asks for a reservation" },
      { name: "limit", meaning: "number of reservations that jobs of the queue may hold at a time" },
    ],
    rows: reserving.map(([name, , , , threshold, limit]) => {
      const rule = HPC2500_CLASSES.find((queue) => queue.name === name)?.reservations;
      return {
        labels: [name],
        values: [exact(threshold, rule?.threshold ?? Number.NaN), exact(limit, rule?.limit ?? Number.NaN)],
      };
    }),
  };
}

/** Tables with a column per scheduler. */
function byScheduler(results: KawanamiResults): ReproducedTable[] {
  const seeds = results.at({ scheduler: "conventional" }).length;
  const table = (
    id: string,
    title: string,
    measure: keyof QueuesResult,
    unit?: "s",
    rows: readonly string[] = QUEUE_NAMES,
  ): ReproducedTable => ({
    id,
    title: `${title}, mean over ${seeds} seeds; ${unit === "s" ? "the paper prints no numbers" : "not in the paper"}`,
    labelColumns: [rows === QUEUE_NAMES ? "queue" : "share"],
    valueColumns: SCHEDULER_KEYS.map((key) => ({
      name: SCHEDULERS[key].title,
      ...(unit && { unit }),
      meaning: SCHEDULERS[key].meaning,
    })),
    rows: rows.map((name, at) => ({
      labels: [name],
      values: SCHEDULER_KEYS.map((scheduler) => results.value({ scheduler }, (run) => run[measure][at])),
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

function exact(published: number | null, ours: number): ReproducedValue {
  return { published, ours, halfWidth: null };
}
