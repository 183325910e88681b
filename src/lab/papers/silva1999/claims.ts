/** What Silva and Scherson 1999 say about tables 1 to 10, judged by our runs: on means, and counted over the runs. */
import type { ReproducedStatement } from "../paper.ts";
import type { Numbers, Series } from "./cells.ts";
import { PUBLISHED, timesS, WORKLOADS, type WorkloadName } from "./published.ts";

/** Runs of each workload, one per seed. */
export type WorkloadRuns = Readonly<Record<WorkloadName, readonly Numbers[number][]>>;

/** Rows that are compared: from the second on; the paper's first row has 3 completions against 4 in tables 7 and 8. */
const FIRST_ROW = 1;

export function judgeStatements(runs: WorkloadRuns): ReproducedStatement[] {
  return [
    ...WORKLOADS.map((workload) => lowerIdle(workload, runs)),
    ...WORKLOADS.map((workload) => moreCompleted(workload, runs)),
    idleSlots(runs),
    equivalence(runs),
  ];
}

function lowerIdle(workload: WorkloadName, runs: WorkloadRuns): ReproducedStatement {
  const better = (one: Numbers[number], row: number) =>
    one.concurrent.idlePercent[row] < one.gang.idlePercent[row];
  return judgeRows(
    `${workload} workload: idle time is lower under Concurrent Gang, at every row from the second on`,
    workload,
    runs,
    better,
    (series) => series.idlePercent,
    " %",
  );
}

function moreCompleted(workload: WorkloadName, runs: WorkloadRuns): ReproducedStatement {
  const better = (one: Numbers[number], row: number) => one.concurrent.jobs[row] >= one.gang.jobs[row];
  return judgeRows(
    `${workload} workload: Concurrent Gang completes at least as many jobs, at every row from the second on`,
    workload,
    runs,
    better,
    (series) => series.jobs,
    "",
  );
}

function judgeRows(
  statement: string,
  workload: WorkloadName,
  runs: WorkloadRuns,
  better: (one: Numbers[number], row: number) => boolean,
  of: (series: Series) => readonly number[],
  unit: string,
): ReproducedStatement {
  const rows = timesS(workload)
    .map((_, row) => row)
    .slice(FIRST_ROW);
  const means = meanPair(runs[workload]);
  const inRuns = runs[workload].filter((one) => rows.every((row) => better(one, row))).length;
  const pairs = rows.map(
    (row) => `${of(means.gang)[row].toFixed(1)} → ${of(means.concurrent)[row].toFixed(1)}${unit}`,
  );
  return {
    statement,
    holds: rows.every((row) => better(means, row)),
    evidence: `means ${pairs.join(", ")}; at all these rows in ${inRuns} of ${runs[workload].length} runs`,
  };
}

/** "Concurrent Gang uses the idle slots of gang scheduling to schedule computing intensive tasks". */
function idleSlots(runs: WorkloadRuns): ReproducedStatement {
  const { gang, concurrent } = meanPair(runs.computation);
  return {
    statement: "section 4.3: for computing jobs the gain comes from the idle slots of gang scheduling",
    holds: concurrent.idleBy[3] < gang.idleBy[3] && gang.idleBy.slice(0, 3).every((share) => share === 0),
    evidence: `all idle time of the computation workload is in slots without a task of their own: ${gang.idleBy[3].toFixed(1)} % under gang, ${concurrent.idleBy[3].toFixed(1)} % under Concurrent Gang`,
  };
}

/** The conclusion says so; tables 5 and 6 say otherwise. */
function equivalence(runs: WorkloadRuns): ReproducedStatement {
  const { gang, concurrent } = meanPair(runs.communication);
  const last = gang.jobs.length - 1;
  const published = PUBLISHED.filter(({ workload }) => workload === "communication").map(
    ({ rows }) => rows[last],
  );
  const ratio = concurrent.jobs[last] / gang.jobs[last];
  return {
    statement:
      "section 5: for workloads that need coordination Concurrent Gang is equivalent to gang scheduling (within 10 % of completions)",
    holds: Math.abs(ratio - 1) <= 0.1,
    evidence: `communication workload, last row: ${gang.jobs[last].toFixed(1)} → ${concurrent.jobs[last].toFixed(1)} jobs; the paper's own tables 5 and 6 have ${published[0][1]} → ${published[1][1]}`,
  };
}

function meanPair(all: readonly Numbers[number][]): Numbers[number] {
  return { gang: meanOf(all.map((one) => one.gang)), concurrent: meanOf(all.map((one) => one.concurrent)) };
}

function meanOf(all: readonly Series[]): Series {
  const mean = (of: (one: Series) => number) => all.reduce((sum, one) => sum + of(one), 0) / all.length;
  return {
    jobs: all[0].jobs.map((_, row) => mean((one) => one.jobs[row])),
    idlePercent: all[0].idlePercent.map((_, row) => mean((one) => one.idlePercent[row])),
    idleBy: [
      mean((one) => one.idleBy[0]),
      mean((one) => one.idleBy[1]),
      mean((one) => one.idleBy[2]),
      mean((one) => one.idleBy[3]),
    ],
    meanRows: mean((one) => one.meanRows),
  };
}
