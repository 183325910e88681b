/** kill -9 of the front end, the conductor and both while real jobs are submitted and run; `npm run soak` does it for longer. */
import { describe, expect, test } from "vitest";
import { runWithFaults } from "./fault-run.ts";

describe("kill -9 at random moments", () => {
  test("no acknowledged job is lost, none runs twice, exit codes are right, nothing is left stopped or running", {
    timeout: 300_000,
  }, async () => {
    const plan = { seed: 4, jobs: 120, frontEnd: 10, conductor: 5, both: 5, mostMs: 1500 };
    const { problems, ...counts } = await runWithFaults(plan);
    console.log(JSON.stringify(counts));
    expect(problems).toEqual([]);
    expect(counts).toMatchObject({ submitted: 120, finished: counts.acknowledged, lost: 0, ranTwice: 0 });
    // Three of four are submitted until they are acknowledged.
    expect(counts.acknowledged).toBeGreaterThanOrEqual(90);
    expect(counts.kills).toEqual({ frontEnd: 10, conductor: 5, both: 5 });
  });
});
