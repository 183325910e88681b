/**
 * Kawanami, Yoshihisa and Kanazawa 2008: automatic queue selection and connected reservations on the HPC2500, tables 1 to 4
 * and figures 2 and 3. The site's log is not public, so the jobs come from a model (workload/models/hpc2500.ts), and our numbers
 * can be compared in direction only: the figures print no numbers, and are known to us by what section 4 says of them.
 */
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { explainQueue } from "../../../policies/space/queue-selection.ts";
import { tellQueueSelection } from "../../../report/text/queue-selection-text.ts";
import { HPC2500_JOBS, hpc2500 } from "../../../workload/models/hpc2500.ts";
import { judge } from "../../claims.ts";
import type { Paper, ReproducedFigure, ReproducedTable, ReproducedValue } from "../paper.ts";
import { cells, type KawanamiResults, type Place, SCHEDULER_KEYS, SCHEDULERS } from "./cells.ts";
import { claims, JUDGEMENT } from "./claims.ts";
import { QUEUE_NAMES, type QueuesResult } from "./run.ts";

/** Tables 2, 3 and 4 as printed, against which the configuration is shown; null: the paper prints none. */
const PRINTED_CLASSES: readonly (readonly [string, number, number, number, number | null, number | null])[] =
  [
    ["ss8", 8, 8, 8, null, null],
    ["s8", 8, 8, 8, null, null],
    ["s128", 128, 8, 128, 30, 1],
    ["d32", 32, 32, 32, 20, 3],
    ["d128", 128, 128, 32, 20, 2],
    ["d512", 512, 512, 32, 20, 1],
  ];

export const kawanami2008: Paper<Place, "queues"> = {
  key: "kawanami2008",
  title:
    "Performance Evaluation of Automatic Queue Selection Scheduling on Batch Mode Processing Environment (in Japanese)",
  authors: "H. Kawanami, T. Yoshihisa and M. Kanazawa",
  published: "Kyoto University and Osaka University, 2008",
  defaultSeed: 1,
  cells,
  collect(results) {
    return {
      tables: [
        cpuTimeTable(results),
        classTable(),
        reservationTable(),
        waitTable("Figure 2 as numbers", "Median wait by queue", "medianWaitS", results),
        waitTable("Figure 3 as numbers", "Longest wait by queue", "maxWaitS", results),
        waitTable(
          "Figure 2, by shape",
          "Median wait of the jobs that automatic selection puts into the queue, wherever they waited",
          "medianByShapeS",
          results,
        ),
        countTable("Jobs", "Jobs by queue", "jobs", results),
        countTable("Reservations", "Connected reservations by queue", "reservations", results),
        heldTable(results),
      ],
      figures: [
        waitFigure("Figure 2", "Median wait by queue", "medianWaitS", results),
        waitFigure("Figure 3", "Longest wait by queue", "maxWaitS", results),
      ],
      statements: claims(results).map(judge),
      notes: notes(),
    };
  },
};

function cpuTimeTable(results: KawanamiResults): ReproducedTable {
  return {
    id: "Table 1",
    title: "Median CPU time by degree of parallelism, in the jobs of the model",
    labelColumns: ["parallelism"],
    valueColumns: [{ name: "CPU time", unit: "ms", meaning: "median of run time × processors" }],
    rows: HPC2500_JOBS.map(({ processors, medianCpuMs }, i) => ({
      labels: [String(processors)],
      values: [
        {
          ...results.value({ scheduler: "conventional" }, (run) => run.medianCpuMs[i], medianCpuMs),
          reason:
            "the model has this median but for rounding to whole seconds, the longest elapsed time of seven days and the few jobs of this size in a seed",
        },
      ],
    })),
  };
}

function classTable(): ReproducedTable {
  return {
    id: "Table 2",
    title: "Queue classes of the HPC2500",
    labelColumns: ["queue"],
    valueColumns: [
      { name: "CPUs", meaning: "highest number of processors of a job" },
      { name: "processes", meaning: "highest number of processes of a job" },
      { name: "threads", meaning: "highest number of threads per process" },
    ],
    rows: PRINTED_CLASSES.map(([name, processors, processes, threads]) => {
      const ours = HPC2500_CLASSES.find((one) => one.name === name)!;
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
    title: "Thresholds of priority, and limits on simultaneous reservations under proposal 2",
    labelColumns: ["queue"],
    valueColumns: [
      { name: "threshold", meaning: "a job with a higher priority asks for a reservation" },
      { name: "limit", meaning: "reservations that jobs of the queue hold at a time" },
    ],
    rows: reserving.map(([name, , , , threshold, limit]) => {
      const rule = HPC2500_CLASSES.find((one) => one.name === name)?.reservations;
      return {
        labels: [name],
        values: [exact(threshold, rule?.threshold ?? Number.NaN), exact(limit, rule?.limit ?? Number.NaN)],
      };
    }),
  };
}

/** A column per scheduler. */
function tableOf(
  [id, title, remark]: readonly [string, string, string],
  unit: string | undefined,
  label: string,
  rows: ReproducedTable["rows"],
  results: KawanamiResults,
): ReproducedTable {
  return {
    id,
    title: `${title}, mean over ${results.at({ scheduler: "conventional" }).length} seeds; ${remark}`,
    labelColumns: [label],
    valueColumns: SCHEDULER_KEYS.map((key) => ({
      name: SCHEDULERS[key].title,
      ...(unit !== undefined && { unit }),
      meaning: SCHEDULERS[key].meaning,
    })),
    rows,
  };
}

function waitTable(
  id: string,
  title: string,
  measure: "medianWaitS" | "maxWaitS" | "medianByShapeS",
  results: KawanamiResults,
): ReproducedTable {
  const text = [id, title, "the paper prints no numbers"] as const;
  return tableOf(text, "s", "queue", rowsByQueue(measure, results), results);
}

function countTable(
  id: string,
  title: string,
  measure: "jobs" | "reservations",
  results: KawanamiResults,
): ReproducedTable {
  return tableOf([id, title, "not in the paper"], undefined, "queue", rowsByQueue(measure, results), results);
}

function heldTable(results: KawanamiResults): ReproducedTable {
  const text = ["Held processors", "Processors held back for requesters", "not in the paper"] as const;
  const values = SCHEDULER_KEYS.map((scheduler) => results.value({ scheduler }, (run) => run.heldShare[0]));
  return tableOf(text, undefined, "share", [{ labels: ["of the machine's time"], values }], results);
}

function rowsByQueue(measure: keyof QueuesResult, results: KawanamiResults): ReproducedTable["rows"] {
  return QUEUE_NAMES.map((name, queue) => ({
    labels: [name],
    values: SCHEDULER_KEYS.map((scheduler) => results.value({ scheduler }, (run) => run[measure][queue])),
  }));
}

function waitFigure(
  id: string,
  title: string,
  measure: "medianWaitS" | "maxWaitS",
  results: KawanamiResults,
): ReproducedFigure {
  return {
    id,
    title,
    xAxis: "queue",
    yAxis: "wait in s",
    categories: QUEUE_NAMES,
    yScale: "log",
    series: SCHEDULER_KEYS.map((scheduler) => ({
      name: SCHEDULERS[scheduler].title,
      ours: QUEUE_NAMES.map(
        (_, queue) => [queue + 1, results.mean({ scheduler }, (run) => run[measure][queue])] as const,
      ),
    })),
  };
}

function exact(published: number | null, ours: number): ReproducedValue {
  return { published, ours, halfWidth: null };
}

/** How the paper was read, and what the model adds. */
function notes(): string[] {
  const example = (processes: number, threads: number, estimateS: number) =>
    tellQueueSelection(
      HPC2500_CLASSES,
      explainQueue(HPC2500_CLASSES, { processors: processes * threads, processes, threads, estimateS }),
    );
  return [
    `The log of the HPC2500 is not public; the jobs come from the model "${hpc2500.name}": ${hpc2500.rules.join("; ")}.`,
    "The paper prints neither the size of the machine nor its load, the number of jobs, the shares of sizes, or how users chose: the model's values for them are ours, and figures 2 and 3 can be compared in direction only.",
    `Statements: ${JUDGEMENT}.`,
    "Table 4 gives proposal 1 a limit of 0 in every queue: it is automatic selection without reservations. Proposal 2 adds the connected reservations.",
    "All queues share all processors (section 3.3), so no queue has a partition of its own. Section 3 says that the conventional scheduler limits the nodes on which jobs may pass others, not to how many: one node of 128 processors here; the column beside it shows the same without a limit.",
    "The paper prints no order among queues: they are served in the order of table 2 when processors become free.",
    `Shapes that no sentence of section 3.1 covers go to the class with the tightest limit that admits them. Four processes of 16 threads: ${example(4, 16, 600)}.`,
    "Overtaking is counted within a queue. A job with a reservation starts when its last donor has ended and not before, as section 3.2 says. A refused job asks again at every instant while its priority is above the threshold.",
    "Of gathered donors the one chosen last releases the surplus; the paper says only that a suitable one does. When the jobs of a queue do not suffice as donors, those that carry a reservation already are not counted.",
    "The load is above 1, as in the situation that section 3 describes, so the longest waits grow with the length of the run.",
  ];
}
