/**
 * Decides what Silva and Scherson 1999 say about tables 1 to 10. Both schedulers get the same jobs, so they
 * are compared run by run: a statement holds if the 95 % intervals of the paired differences lie on its side.
 * The runs in which it is true alone are counted, too.
 */

import { confidenceInterval, type Interval, pairedDifference } from "@tutti/kernel/metrics/statistics.ts";
import { type Claim, within } from "@tutti/lab/claims.ts";
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
  const ofRow = (runs: readonly (readonly number[])[], row: number) => runs.map((run) => run[row]);
  const differences = rows.map((row) => pairedDifference(ofRow(concurrent, row), ofRow(gang, row)));
  const inRuns = gang.filter((_, run) =>
    rows.every((row) =>
      is === "below" ? concurrent[run][row] < gang[run][row] : concurrent[run][row] >= gang[run][row],
    ),
  ).length;
  const pairs = rows.map((row, i) => {
    const [from, to] = [gang, concurrent].map((runs) => mean(ofRow(runs, row)).toFixed(1));
    return `${from} → ${to}${unit} (${spreadText(differences[i])})`;
  });
  return {
    statement: `${workload} workload: ${what}, at every row from the second on`,
    comparisons: differences.map((difference) => ({ a: within(difference), is, b: 0 })),
    evidence: `means and paired differences ${pairs.join(", ")}; in all these rows in ${inRuns} of ${gang.length} runs`,
  };
}

/** Concurrent Gang fills idle slots of gang scheduling with tasks that compute. */
function idleSlots(results: SilvaResults): Claim {
  const [gang, concurrent] = SCHEDULERS.map((scheduler) =>
    results.at({ of: "computation", scheduler }).map(({ idleBy }) => idleBy),
  );
  const ofCause = (runs: typeof gang, cause: number) => runs.map((idleBy) => idleBy[cause]);
  const difference = pairedDifference(ofCause(concurrent, 3), ofCause(gang, 3));
  const [from, to] = [gang, concurrent].map((runs) => mean(ofCause(runs, 3)).toFixed(1));
  return {
    statement: "section 4.3: for computing jobs the gain comes from the idle slots of gang scheduling",
    comparisons: [
      { a: within(difference), is: "below", b: 0 },
      ...[0, 1, 2].map((cause) => ({
        a: within(confidenceInterval(ofCause(gang, cause))),
        is: "at most" as const,
        b: 0,
      })),
    ],
    evidence: `all idle time of the computation workload is in slots without an own task: ${from} % under gang, ${to} % under Concurrent Gang (${spreadText(difference)})`,
  };
}

/** The paper's conclusion claims equivalence, but its tables 5 and 6 contradict it. */
function equivalence(results: SilvaResults): Claim {
  const of = "communication";
  const last = timesS(of).length - 1;
  const [gang, concurrent] = SCHEDULERS.map((scheduler) =>
    results.values({ of, scheduler }, ({ jobs }) => jobs[last]),
  );
  /** Concurrent Gang minus a multiple of gang scheduling. */
  const beyond = (factor: number) =>
    within(
      pairedDifference(
        concurrent,
        gang.map((jobs) => factor * jobs),
      ),
    );
  const published = PUBLISHED.filter(({ workload }) => workload === of).map(({ jobs }) => jobs[last]);
  return {
    statement:
      "section 5: for workloads that need coordination Concurrent Gang is equivalent to gang scheduling (within 10 % of completions)",
    comparisons: [
      { a: beyond(1.1), is: "at most", b: 0 },
      { a: beyond(0.9), is: "at least", b: 0 },
    ],
    evidence: `communication workload, last row: ${mean(gang).toFixed(1)} → ${mean(concurrent).toFixed(1)} jobs (${spreadText(pairedDifference(concurrent, gang))}); the paper's own tables 5 and 6 have ${published[0]} → ${published[1]}`,
  };
}

/** A paired difference, such as `−2.0 ± 1.3`. */
function spreadText({ mean, half }: Interval): string {
  return `${mean.toFixed(1).replace("-", "−")} ± ${half.toFixed(1)}`;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
