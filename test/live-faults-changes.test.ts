/**
 * Kills the front end, the conductor and both with kill -9 during a run with retries, begin times, edits,
 * pauses, drains and reruns. `npm run soak` makes 100 kills.
 */
import { expect, test } from "vitest";
import { runWithChanges } from "./change-run.ts";

const PLAN =
  process.env.TUTTI_SOAK === undefined
    ? { jobs: 10, frontEnd: 2, conductor: 2, both: 1 }
    : { jobs: 120, frontEnd: 17, conductor: 17, both: 16 };

test.each([
  ["gang", 5],
  ["easy", 6],
])(
  "%s: no job is lost, runs twice or stays paused; no edit is half done; retries and begins are right",
  {
    timeout: 1_200_000,
    retry: 0,
  },
  async (policy, seed) => {
    const { problems, ...counts } = await runWithChanges({ ...PLAN, seed, policy, maxMs: 1500 });
    console.log(policy, JSON.stringify(counts));
    expect(problems).toEqual([]);
    for (const count of Object.values(counts.changed)) expect(count).toBeGreaterThan(0);
  },
);
