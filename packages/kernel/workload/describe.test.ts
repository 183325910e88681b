import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeWorkload } from "./describe.ts";
import { readSwf } from "./traces-for-tests.ts";
import { workloadOf } from "./workloads-for-tests.ts";

describe("describeWorkload()", () => {
  test("gives the facts of a case worked by hand", () => {
    const workload = workloadOf([
      { submitS: 50, runS: 0, size: 64, estimateS: 5 },
      { submitS: 100, runS: 10, size: 1, estimateS: 20 },
      { submitS: 110, runS: 20, size: 4, estimateS: 15 },
      { submitS: 150, runS: 40, size: 3, estimateS: -1 },
      { submitS: 200, runS: 30, size: 2, estimateS: 30 },
    ]);
    // Work 10·1 + 20·4 + 40·3 + 30·2 = 270 in 100 s.
    expect(describeWorkload(workload, 10)).toEqual({
      jobs: 5,
      zeroRunJobs: 1,
      processors: 10,
      firstSubmitS: 100,
      lastSubmitS: 200,
      spanS: 100,
      offeredLoad: 0.27,
      size: { min: 1, median: 2.5, mean: 2.5, max: 4 },
      runS: { min: 10, median: 25, mean: 25, max: 40 },
      waitS: undefined,
      serialShare: 0.25,
      powerOfTwoShare: 0.5,
      estimates: 3,
      overruns: 1,
      users: undefined,
    });
  });

  test("counts users and recorded waits of a log, and leaves out unknown ones", () => {
    const rows = ["1 0 5 10 1", "2 1 -1 10 1", "3 2 7 10 1", "4 3 100 0 1"];
    const users = [4, 4, -1, 9];
    const text = rows.map((row, i) => `${row} -1 -1 1 20 -1 1 ${users[i]} -1 -1 -1 -1 -1 -1`).join("\n");
    const facts = describeWorkload(readSwf(text, "x"));
    expect(facts.users).toBe(1);
    expect(facts.waitS).toEqual({ min: 5, median: 6, mean: 6, max: 7 });
    expect(facts.size?.median).toBe(1);
  });

  test("of no jobs, or of jobs with run time 0 only, leaves facts undefined that cannot be known", () => {
    for (const rows of [[], [{ submitS: 3, runS: 0, size: 1, estimateS: -1 }]]) {
      const facts = describeWorkload(workloadOf(rows, 8));
      expect(facts).toMatchObject({
        jobs: rows.length,
        zeroRunJobs: rows.length,
        processors: 8,
        estimates: 0,
        overruns: 0,
      });
      expect([
        facts.spanS,
        facts.offeredLoad,
        facts.size,
        facts.runS,
        facts.serialShare,
        facts.users,
      ]).toEqual(new Array(6).fill(undefined));
    }
  });

  test("gives no load without a machine size, or when all jobs come at once", () => {
    const at = (submitS: number) => ({ submitS, runS: 5, size: 1, estimateS: -1 });
    expect(describeWorkload(workloadOf([at(0), at(9)])).offeredLoad).toBeUndefined();
    expect(describeWorkload(workloadOf([at(9), at(9)], 4)).offeredLoad).toBeUndefined();
    expect(describeWorkload(workloadOf([at(0), at(10)], 1)).offeredLoad).toBe(1);
  });

  test("leaves the columns in their order", () => {
    const workload = workloadOf([
      { submitS: 0, runS: 9, size: 9, estimateS: -1 },
      { submitS: 1, runS: 1, size: 1, estimateS: -1 },
    ]);
    describeWorkload(workload, 9);
    expect([...workload.jobs.runS]).toEqual([9, 1]);
    expect([...workload.jobs.size]).toEqual([9, 1]);
  });

  test("spreads are those of the sorted values, for any order of them", () => {
    const values = fc.oneof(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 400 }),
      fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 400 }),
      fc
        .integer({ min: 1, max: 3000 })
        .map((n) => Array.from({ length: n }, (_, i) => 1 + Math.min(i, n - i))),
    );
    fc.assert(
      fc.property(values, (runs) => {
        const workload = workloadOf(runs.map((runS) => ({ submitS: 0, runS, size: 1, estimateS: -1 })));
        const sorted = [...runs].sort((a, b) => a - b);
        const middle = (sorted[(runs.length - 1) >> 1] + sorted[runs.length >> 1]) / 2;
        const { min, median, max } = describeWorkload(workload).runS!;
        expect([min, median, max]).toEqual([sorted[0], middle, sorted[sorted.length - 1]]);
        expect([...workload.jobs.runS]).toEqual(runs);
      }),
    );
  });
});
