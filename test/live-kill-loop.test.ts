/**
 * A fault of each kind happens to real schedulers while real jobs of all kinds run: for root, for several
 * users, and for an ordinary user, at the same time. `npm run soak` has 1,000 faults, and the same judge sees
 * many more in simulated lives (torture.test.ts).
 */
import { expect, test } from "vitest";
import { FAULTS } from "./kill-loop/faults.ts";
import { KINDS } from "./kill-loop/kinds.ts";
import { killLoop } from "./kill-loop/program.ts";
import { MODES } from "./kill-loop/scheduler.ts";

const FAULTS_PER_RUN = 8;
/** With the next two seeds, all kinds of faults happen, and there are jobs of all kinds. */
const SEED = 4;

test("24 faults: no job is lost, runs twice, ends for a wrong reason, lacks a hook or a start; nothing is left", {
  timeout: 1_200_000,
  // A single lost job is too many, so there are no retries.
  retry: 0,
}, async () => {
  // Each runs to its end and clears up, also if another one fails.
  const settled = await Promise.allSettled(
    MODES.map((mode, i) => killLoop({ seed: SEED + i, faults: FAULTS_PER_RUN, mode })),
  );
  const runs = await Promise.all(
    settled.map((run) => (run.status === "fulfilled" ? run.value : Promise.reject(run.reason))),
  );
  // With each, the command that repeats the run.
  const all = runs.flatMap(({ command, counts }) =>
    counts.problems.map((problem) => `${command}: ${problem}`),
  );
  expect(all).toEqual([]);
  for (const { command, counts } of runs) {
    const { problems: _, faults: __, jobs: ___, ...rest } = counts;
    console.log(command, JSON.stringify(rest));
  }
  const kinds = runs.flatMap(({ counts }) => Object.keys(counts.jobs));
  expect(kinds).toEqual(expect.arrayContaining(KINDS.map(({ name }) => name)));
  const faults = runs.flatMap(({ counts }) => Object.entries(counts.faults));
  expect(new Set(faults.map(([name]) => name))).toEqual(new Set(FAULTS.map(({ name }) => name)));
  expect(faults.reduce((sum, [, count]) => sum + count, 0)).toBe(MODES.length * FAULTS_PER_RUN);
});
