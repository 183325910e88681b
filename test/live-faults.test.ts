/**
 * Kills the front end, the conductor and both with kill -9 while real jobs are submitted and run. `npm run
 * soak` repeats it with other seeds.
 */
import { expect, test } from "vitest";
import { FULL_PLAN, runWithFaults } from "./fault-run.ts";

test("300 kills: no acknowledged job is lost, none runs twice, exit codes are right, nothing is left stopped or running", {
  timeout: 1_200_000,
  // A single lost job is too many, so there are no retries.
  retry: 0,
}, async () => {
  const { problems, ...counts } = await runWithFaults({ seed: 4, ...FULL_PLAN });
  console.log(JSON.stringify(counts));
  expect(problems).toEqual([]);
  expect(counts).toMatchObject({
    submitted: 500,
    finished: counts.acknowledged,
    lost: 0,
    ranTwice: 0,
    kills: { frontEnd: 100, conductor: 100, both: 100 },
  });
  // Three of four are submitted until they are acknowledged.
  expect(counts.acknowledged).toBeGreaterThanOrEqual(375);
  // Something was stopped when both were killed, so that the guardian had something to do.
  expect(counts.foundStopped).toBeGreaterThan(0);
});
