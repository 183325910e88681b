import type { TraceColumns } from "@tutti/kernel/core/jobs.ts";
import { handMade } from "@tutti/kernel/metrics/schedules-for-tests.ts";
import { verdictOf } from "@tutti/kernel/metrics/verdict.ts";
import { expect, test } from "vitest";
import { verdictSentence } from "./verdict-text.ts";

/**
 * Four jobs of three users. The policy starts them at 0, 100, 50 and 10,000 s; the log has waits of 0, 400,
 * 0 s and an unknown one. So job 2 (short narrow) ends 300 s earlier, job 3 (short wide) 50 s later.
 */
const lines = [
  { submitS: 0, runS: 10, size: 1, startS: 0 },
  { submitS: 0, runS: 100, size: 2, startS: 100 },
  { submitS: 0, runS: 100, size: 9, startS: 50 },
  { submitS: 0, runS: 7000, size: 9, startS: 10_000 },
];

function judged(waitS: readonly number[], user: readonly number[], counted = lines.length) {
  const { instance, schedule } = handMade(16, lines);
  const trace = { waitS: Float64Array.from(waitS), user: Int32Array.from(user) } as unknown as TraceColumns;
  const workload = { ...instance.workload, trace };
  return verdictOf({ ...instance, workload }, schedule, { firstJob: 0, countedJobs: counted });
}

test("says by how much, for which jobs, and for how many users", () => {
  const verdict = judged([0, 400, 0, -1], [1, 1, 2, 3])!;
  // Logged: 10, 500, 100; simulated: 10, 200, 150. Short narrow: (0 − 300) / 2; short wide: + 50.
  expect(verdict).toEqual({
    jobs: 3,
    loggedS: 610 / 3,
    simulatedS: 360 / 3,
    changeS: -250 / 3,
    gainer: { label: "short narrow (≤ 1 h, ≤ 8 processors)", changeS: -150 },
    loser: { label: "short wide (≤ 1 h, > 8 processors)", changeS: 50 },
    users: { all: 2, gain: 1, lose: 1 },
  });
  expect(verdictSentence("easy", verdict)).toBe(
    "With easy, jobs would have ended 83.3 s earlier on average (2 min after they arrived, not 3.39 min): short narrow (≤ 1 h, ≤ 8 processors) jobs gain most, 2.50 min, short wide (≤ 1 h, > 8 processors) jobs lose most, 50 s; of 2 users, 1 gains and 1 loses.",
  );
});

test("nobody gains or loses by less than a second, and unknown users do not count", () => {
  const verdict = judged([0.5, 100, 50, 10_000], [-1, -1, -1, -1])!;
  expect(verdict).toMatchObject({ gainer: undefined, loser: undefined, users: { all: 0, gain: 0, lose: 0 } });
  expect(verdictSentence("fcfs", verdict)).toMatch(
    /would have ended when they did on average .*: no class of jobs gains, no class of jobs loses\.$/,
  );
});

test("there is no verdict without waits in the log, and jobs outside the window do not count", () => {
  expect(judged([-1, -1, -1, -1], [1, 1, 1, 1])).toBeUndefined();
  expect(judged([0, 0, 0, 0], [1, 2, 3, 4], 2)?.users.all).toBe(2);
  const { instance, schedule } = handMade(16, lines);
  expect(verdictOf(instance, schedule, { firstJob: 0, countedJobs: 4 })).toBeUndefined();
});
