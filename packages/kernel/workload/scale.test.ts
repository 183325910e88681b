import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../core/errors.ts";
import { describeWorkload } from "./describe.ts";
import { offeredLoad, scaleArrivals, scaleToLoad } from "./scale.ts";
import { readTrace, traceFile } from "./traces-for-tests.ts";
import { anyWorkload, workloadOf } from "./workloads-for-tests.ts";

const small = workloadOf(
  [
    { submitS: 100, runS: 50, size: 2, estimateS: -1 },
    { submitS: 150, runS: 0, size: 64, estimateS: -1 },
    { submitS: 200, runS: 100, size: 3, estimateS: 120 },
    { submitS: 300, runS: 20, size: 10, estimateS: -1 },
    { submitS: 999, runS: 0, size: 1, estimateS: -1 },
  ],
  10,
);

describe("offeredLoad()", () => {
  test("is work over processors and the span of submits, jobs with run time 0 left out: 600 / (10 · 200)", () => {
    expect(offeredLoad(small.jobs, 10)).toBe(0.3);
    expect(offeredLoad(small.jobs, 5)).toBe(0.6);
  });

  test("is that of describeWorkload(), and unknown without a span", () => {
    fc.assert(
      fc.property(anyWorkload, fc.integer({ min: 1, max: 500 }), (workload, processors) => {
        expect(offeredLoad(workload.jobs, processors)).toEqual(
          describeWorkload(workload, processors).offeredLoad,
        );
      }),
    );
    const row = { submitS: 5, runS: 1, size: 1, estimateS: -1 };
    expect(offeredLoad(workloadOf([row, row]).jobs, 4)).toBeUndefined();
    expect(offeredLoad(workloadOf([]).jobs, 4)).toBeUndefined();
  });
});

describe("scaleArrivals()", () => {
  test("multiplies the gaps from the first submit on and leaves the jobs alone", () => {
    const scaled = scaleArrivals(small, 0.5);
    expect([...scaled.jobs.submitS]).toEqual([100, 125, 150, 200, 549.5]);
    expect(scaled.jobs.runS).toBe(small.jobs.runS);
    expect(scaled.jobs.size).toBe(small.jobs.size);
    expect([...small.jobs.submitS]).toEqual([100, 150, 200, 300, 999]);
    expect(scaled.name).toBe("test, submit times scaled by 0.5, counted from the first");
    expect(offeredLoad(scaled.jobs, 10)).toBe(0.6);
  });

  test("keeps the order, and by 1 the submit times", () => {
    fc.assert(
      fc.property(anyWorkload, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (workload, factor) => {
        const { submitS } = scaleArrivals(workload, factor).jobs;
        for (let row = 1; row < submitS.length; row++) {
          expect(submitS[row]).toBeGreaterThanOrEqual(submitS[row - 1]);
        }
        const same = scaleArrivals(workload, 1).jobs.submitS;
        for (let row = 0; row < same.length; row++) {
          expect(Math.abs(same[row] - workload.jobs.submitS[row])).toBeLessThanOrEqual(1e-9);
        }
      }),
    );
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])("refuses the factor %d", (factor) => {
    expect(() => scaleArrivals(small, factor)).toThrow(InputError);
    expect(() => scaleArrivals(small, factor)).toThrow(/Cannot scale the arrivals of "test".*expected/);
  });
});

describe("scaleToLoad()", () => {
  test("reaches the wanted load for any workload that has one", () => {
    fc.assert(
      fc.property(anyWorkload, fc.double({ min: 0.01, max: 10, noNaN: true }), (workload, load) => {
        const present = offeredLoad(workload.jobs, 64);
        fc.pre(present !== undefined && present > 1e-6 && present < 1e6);
        expect(offeredLoad(scaleToLoad(workload, load, 64).jobs, 64)! / load).toBeCloseTo(1, 6);
      }),
    );
  });

  test("refuses loads that are none and workloads that have none", () => {
    expect(() => scaleToLoad(small, 0, 10)).toThrow(/to an offered load of 0: expected a number above 0/);
    expect(() => scaleToLoad(small, Number.NaN, 10)).toThrow(InputError);
    expect(() => scaleToLoad(small, 1_000_001, 10)).toThrow(/above 0, at most 1000000;/);
    const row = { submitS: 5, runS: 1, size: 1, estimateS: -1 };
    expect(() => scaleToLoad(workloadOf([row]), 0.7, 10)).toThrow(
      /its 1 jobs have no offered load, expected at least two/,
    );
  });

  test.skipIf(traceFile("KTH-SP2") === undefined)(
    "a real log at load 0.9: recorded waits become unknown, the header says what was done",
    () => {
      const log = readTrace("KTH-SP2");
      const scaled = scaleToLoad(log, 0.9, 100);
      expect(describeWorkload(scaled).offeredLoad).toBeCloseTo(0.9, 12);
      expect(scaled.trace!.waitS.every((wait) => wait === -1)).toBe(true);
      expect(scaled.trace!.user).toBe(log.trace!.user);
      expect(scaled.header.slice(0, -1)).toEqual(log.header);
      expect(scaled.header.at(-1)).toMatch(/^; Note: submit times scaled by 0\.77/);
    },
  );
});
