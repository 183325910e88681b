/**
 * Kills the front end, the conductor and both with kill -9 while real jobs are submitted and run. `npm run
 * soak` repeats it with 300 kills and other seeds.
 */
import { expect, test } from "vitest";
import { FULL_PLAN, runWithFaults } from "./fault-run.ts";

const PLAN = { ...FULL_PLAN, jobs: 170, frontEnd: 34, conductor: 33, both: 33 };

test("100 kills: no acknowledged job is lost, none runs twice, exit codes are right, nothing is left stopped or running", {
  timeout: 1_200_000,
  // A single lost job is too many, so there are no retries.
  retry: 0,
}, async () => {
  const { problems, ...counts } = await runWithFaults({ seed: 4, ...PLAN });
  console.log(JSON.stringify(counts));
  expect(problems).toEqual([]);
  expect(counts).toMatchObject({
    submitted: 170,
    finished: counts.acknowledged,
    lost: 0,
    ranTwice: 0,
    kills: { frontEnd: 34, conductor: 33, both: 33 },
  });
  // Three of four are submitted until they are acknowledged.
  expect(counts.acknowledged).toBeGreaterThanOrEqual(127);
  // Something was stopped when both were killed, so that the guardian had something to do.
  expect(counts.foundStopped).toBeGreaterThan(0);
});
