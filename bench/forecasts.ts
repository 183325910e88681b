/**
 * Measures which share of jobs starts in the 80 % range of its forecast, on real logs with failures in their
 * history. Which jobs failed is what the log says; where a log does not say it, as many failures are planted
 * as KTH-SP2 has, of which as many fail within a minute.
 *
 *   npm run bench:forecasts                           all four logs; TUTTI_TRACES names the folder
 *   npm run bench:forecasts -- --log KTH-SP2 --jobs 5000 --policy easy --seed 1
 */
import "@tutti/lab/experiments/compiler-flag.ts";
import { parseArgs } from "node:util";
import type { TraceColumns, Workload } from "@tutti/kernel/core/jobs.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { type Calibration, calibrate, type Log, withFailures } from "./forecast-calibration.ts";
import { printTable } from "./measure.ts";

/** How a log is read, and what it does not say. */
interface Source {
  readonly name: string;
  readonly nameOf: (trace: TraceColumns, row: number) => string;
  /** The status 0 says that a job failed. */
  readonly saysFailures: boolean;
  /** Times of submits are multiplied by this. */
  readonly pace?: number;
}

const SOURCES: readonly Source[] = [
  { name: "KTH-SP2", nameOf: () => "job", saysFailures: true },
  // Almost no application number comes twice.
  { name: "SDSC-SP2", nameOf: ({ queue }, row) => `queue ${queue[row]}`, saysFailures: false },
  { name: "HPC2N", nameOf: () => "job", saysFailures: false },
  // Its submits are starts, so hardly a job would wait.
  {
    pace: 0.8,
    name: "LLNL-Atlas",
    nameOf: ({ application }, row) => `program ${application[row]}`,
    saysFailures: true,
  },
];
/** Of KTH-SP2: 7,946 of 28,476 jobs failed, and 2,030 of these within a minute. */
const FAILED = 7946 / 28476;
const EARLY = 2030 / 7946;
const DEFAULT_LIMIT_S = 24 * 3600;

const { values } = parseArgs({
  options: {
    log: { type: "string", multiple: true },
    jobs: { type: "string", default: "20000" },
    policy: { type: "string", default: "easy" },
    seed: { type: "string", default: "1" },
  },
});
const most = Number(values.jobs);

function firstJobs(workload: Workload, count: number): Workload {
  const cut = <Columns extends object>(columns: Columns): Columns =>
    Object.fromEntries(
      Object.entries(columns).map(([key, column]) => [key, column.slice(0, count)]),
    ) as Columns;
  return {
    ...workload,
    count: Math.min(count, workload.count),
    jobs: cut(workload.jobs),
    trace: workload.trace && cut(workload.trace),
  };
}

async function logOf({ name, nameOf, saysFailures, pace = 1 }: Source): Promise<Log> {
  const workload = firstJobs(await openSource(name, 1), most);
  const rules = { overrun: "kill", missingEstimate: { seconds: DEFAULT_LIMIT_S }, oversize: "drop" } as const;
  const submitS = workload.jobs.submitS.map((timeS) => timeS * pace);
  const jobs = { ...workload.jobs, submitS };
  const instance = prepare({ ...workload, jobs }, workload.processors!, rules);
  const trace = workload.trace!;
  const rowOf = (row: number) => instance.workloadRow?.[row] ?? row;
  const log: Log = {
    instance,
    uid: (row) => trace.user[rowOf(row)],
    name: (row) => nameOf(trace, rowOf(row)),
    state: (row) => {
      const status = trace.status[rowOf(row)];
      if (status === 5) return "cancelled";
      return status === 0 ? "failed" : "done";
    },
  };
  return saysFailures ? log : withFailures(log, Number(values.seed), FAILED, EARLY);
}

const percent = (part: number, whole: number) =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;

function cells({ judged, within, earlier, widthsS, unlearned }: Calibration): string[] {
  const median = widthsS.toSorted((a, b) => a - b)[widthsS.length >> 1] ?? Number.NaN;
  return [
    String(judged),
    percent(within, judged),
    percent(earlier, judged),
    percent(judged - within - earlier, judged),
    (median / 60).toFixed(1),
    String(unlearned),
  ];
}

const rows: string[][] = [];
for (const source of SOURCES.filter(({ name }) => values.log?.includes(name) ?? true)) {
  const log = await logOf(source);
  const fromMs = performance.now();
  const halves = calibrate(log, values.policy);
  console.error(`${source.name}: ${((performance.now() - fromMs) / 1000).toFixed(0)} s`);
  const failures = source.saysFailures ? "its own" : "planted";
  halves.forEach((half, i) => {
    rows.push([source.name, failures, i === 0 ? "first half" : "second half", ...cells(half)]);
  });
}
printTable(
  ["log", "failures", "jobs", "judged", "in range", "earlier", "later", "median width, min", "only a range"],
  rows,
);
