/**
 * Decides what Silva and Scherson 1999 say about tables 1 to 10 by the means of our runs, and counts the runs
 * in which it is true.
 */
import type { Claim } from "../../../lab/claims.ts";
import type { SilvaResults } from "./cells.ts";
import { PUBLISHED, SCHEDULERS, timesS, WORKLOADS, type WorkloadName } from "./published.ts";

/**
 * Index of the first row compared. The paper's first row is left out: tables 7 and 8 have 3 completions
 * against 4 there.
 */
const FIRST_ROW = 1;

export function claims(results: SilvaResults): Claim[] {
  return [
    ...WORKLOADS.map((workload) =>
      inRows("idle time is lower under Concurrent Gang", workload, results, "below", "idlePercent", " %"),
    ),
    ...WORKLOADS.map((workload) =>
      inRows("Concurrent Gang completes at least as many jobs", workload, results, "at least", "jobs", ""),
    ),
    idleSlots(results),
    equivalence(results),
  ];
}

function inRows(
  what: string,
  workload: WorkloadName,
  results: SilvaResults,
  is: "below" | "at least",
  measure: "idlePercent" | "jobs",
  unit: string,
): Claim {
  const rows = timesS(workload)
    .map((_, row) => row)
    .slice(FIRST_ROW);
  const [gang, concurrent] = SCHEDULERS.map((scheduler) =>
    results.at({ of: workload, scheduler }).map((series) => series[measure]),
  );
  const means = rows.map((row) => [gang, concurrent].map((runs) => mean(runs.map((run) => run[row]))));
  const inRuns = gang.filter((_, run) =>
    rows.every((row) =>
      is === "below" ? concurrent[run][row] < gang[run][row] : concurrent[run][row] >= gang[run][row],
    ),
  ).length;
  const pairs = means.map(([a, b]) => `${a.toFixed(1)} → ${b.toFixed(1)}${unit}`);
  return {
    statement: `${workload} workload: ${what}, at every row from the second on`,
    comparisons: means.map(([b, a]) => ({ a, is, b })),
    evidence: `means ${pairs.join(", ")}; in all these rows in ${inRuns} of ${gang.length} runs`,
  };
}

/** Concurrent Gang fills idle slots of gang scheduling with tasks that compute. */
function idleSlots(results: SilvaResults): Claim {
  const [gang, concurrent] = SCHEDULERS.map((scheduler) => {
    const runs = results.at({ of: "computation", scheduler });
    return runs[0].idleBy.map((_, cause) => mean(runs.map(({ idleBy }) => idleBy[cause])));
  });
  return {
    statement: "section 4.3: for computing jobs the gain comes from the idle slots of gang scheduling",
    comparisons: [
      { a: concurrent[3], is: "below", b: gang[3] },
      ...gang.slice(0, 3).map((a) => ({ a, is: "at most" as const, b: 0 })),
    ],
    evidence: `all idle time of the computation workload is in slots without an own task: ${gang[3].toFixed(1)} % under gang, ${concurrent[3].toFixed(1)} % under Concurrent Gang`,
  };
}

/** The paper's conclusion claims equivalence, but its tables 5 and 6 contradict it. */
function equivalence(results: SilvaResults): Claim {
  const of = "communication";
  const last = timesS(of).length - 1;
  const [gang, concurrent] = SCHEDULERS.map((scheduler) =>
    mean(results.values({ of, scheduler }, ({ jobs }) => jobs[last])),
  );
  const published = PUBLISHED.filter(({ workload }) => workload === of).map(({ rows }) => rows[last]);
  return {
    statement:
      "section 5: for workloads that need coordination Concurrent Gang is equivalent to gang scheduling (within 10 % of completions)",
    comparisons: [{ a: Math.abs(concurrent / gang - 1), is: "at most", b: 0.1 }],
    evidence: `communication workload, last row: ${gang.toFixed(1)} → ${concurrent.toFixed(1)} jobs; the paper's own tables 5 and 6 have ${published[0][1]} → ${published[1][1]}`,
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
