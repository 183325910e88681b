/** Tests which ended jobs forecasts learn from, and that a job which tells nothing moves no forecast. */

import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { forecast, NUMBERS_OF_JOB } from "./model.ts";
import { PastJobs } from "./past-jobs.ts";
import { worldOf } from "./world-for-tests.ts";

type Ended = ConstructorParameters<typeof PastJobs>[0][number];

const MINUTE = 60_000;
const DONE: Ended = { uid: 1, name: "a", state: "done", ranMs: 3 * MINUTE, estimateMs: 10 * MINUTE };
const TYPO: Ended = {
  uid: 1,
  name: "typo",
  state: "failed",
  reason: "exit code 3",
  ranMs: 40,
  estimateMs: MINUTE,
};

/** Three ended jobs are enough to learn from. */
function threeOf(job: Ended): Ended[] {
  return Array.from({ length: 3 }, () => job);
}

function ratiosAfter(...ended: readonly Ended[]): number[] {
  return [...new PastJobs(ended, []).history.ratios];
}

/** Median starts, in s, of jobs with limits of 10, 30, 10, 10 and 10 minutes on one row; the first runs. */
function mediansAfter(...ended: readonly Ended[]): number[] {
  const names = ["a", "b", "s1", "s2", "s3"];
  const past = new PastJobs(ended, []);
  const count = names.length;
  const policy = "fcfs";
  const { parameters } = choosePolicy(policy);
  const [times] = forecast({
    queues: [{ queueClass: { name: "default", processors: 2, processes: 2, threads: 2 } }],
    slotS: 0.1,
    running: 1,
    world: worldOf(1, new Int32Array(count).fill(2)),
    estimateMs: Float64Array.of(10, 30, 10, 10, 10).map((minutes) => minutes * MINUTE),
    ranMs: new Float64Array(count),
    isLimited: new Uint8Array(count).fill(1, 0, 1),
    ...past.kindsOf(names.map((name) => ({ uid: 1, name, array: undefined }))),
    history: past.history,
    scenarios: [
      {
        policy,
        parameters,
        processors: 2,
        size: new Int32Array(count).fill(2),
        waiting: Int32Array.of(1, 2, 3, 4),
      },
    ],
  });
  return names.slice(1).map((_, i) => times[NUMBERS_OF_JOB * (i + 1) + 1]);
}

describe("forecasts learn", () => {
  test.each<[string, Ended, number[]]>([
    ["from a job that is done", DONE, [0.3, 0.3, 0.3]],
    ["from a job that is done at once", { ...DONE, ranMs: 6000 }, [0.01, 0.01, 0.01]],
    [
      "from a job that reached its limit, however short",
      { ...DONE, state: "failed", reason: "time limit", ranMs: 5020, estimateMs: 5000 },
      [1, 1, 1],
    ],
    [
      "from a job that failed after a minute",
      { ...TYPO, ranMs: MINUTE, estimateMs: 2 * MINUTE },
      [0.5, 0.5, 0.5],
    ],
    ["not from one that failed before", { ...TYPO, ranMs: MINUTE - 1 }, []],
    ["not from one that was lost", { ...TYPO, reason: "lost: its node was lost", ranMs: 5 * MINUTE }, []],
    ["not from one that was requeued", { ...TYPO, reason: "requeued", ranMs: 5 * MINUTE }, []],
    ["not at a shutdown", { ...TYPO, reason: "the scheduler was shut down", ranMs: 5 * MINUTE }, []],
    ["not from one that was cancelled", { ...DONE, state: "cancelled" }, []],
  ])("%s", (_, job, ratios) => {
    expect(ratiosAfter(...threeOf(job))).toEqual(ratios);
  });

  test("only from three jobs on, of all and of each kind", () => {
    expect(ratiosAfter(...threeOf(DONE).slice(1), ...threeOf(TYPO))).toEqual([]);
    const past = new PastJobs([...threeOf(DONE), { ...DONE, name: "b" }], []);
    const { kin } = past.kindsOf(["a", "b"].map((name) => ({ uid: 1, name, array: undefined })));
    expect(kin.map(({ ratios }) => ratios.length)).toEqual([3, 0]);
  });

  test("from jobs of the same name, as long as too few of the same array have ended", () => {
    const past = new PastJobs([...threeOf(DONE), { ...DONE, array: 7 }], []);
    const { kin } = past.kindsOf([{ uid: 1, name: "a", array: 7 }]);
    expect(kin[0].ratios).toHaveLength(4);
  });
});

test("jobs that failed at once or were cancelled leave each forecast as it was", () => {
  // With nothing learned, half of the futures or more take the limits: 10, 40, 50 and 60 minutes.
  const clean = [600, 2400, 3000, 3600];
  const near = (found: number[]) => found.map((s) => Math.round(s));
  expect(near(mediansAfter())).toEqual(clean);
  for (const name of ["typo", "a", "s1"]) {
    expect(near(mediansAfter({ ...TYPO, name }))).toEqual(clean);
    expect(near(mediansAfter(...threeOf({ ...TYPO, name })))).toEqual(clean);
    expect(near(mediansAfter({ ...TYPO, name, state: "cancelled", reason: "cancelled by anna" }))).toEqual(
      clean,
    );
  }
});
