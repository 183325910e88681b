import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { parseParameters } from "../../core/parameters.ts";
import { Random } from "../../core/random.ts";
import { downey } from "../models/downey.ts";
import { anyWorkload, workloadOf } from "../workloads-for-tests.ts";
import { drawEstimateBins, estimateValueCount, headTimes, withTsafrirEstimates } from "./tsafrir.ts";
import { drawHeadRanks, HEAD_RANKS } from "./tsafrir-ranks.ts";

const H = 3600;

/** Generates a model's workload with run times up to `maxRunS`. */
const jobsOf = (jobs: number, maxRunS: number) =>
  downey.generate(
    parseParameters("model", downey.parameters, [
      `jobs=${jobs}`,
      `maxRunS=${maxRunS}`,
      "unitS=0",
      "minRunS=1",
    ]),
    1,
  );

describe("estimateValueCount()", () => {
  test.each([
    [0, 0],
    [20, 10],
    [200, 20],
    [1000, 35],
    [10_000, 90],
    [70_000, 340],
    [250_000, 565],
    [1_000_000, 565],
  ])("passes the published points: %d jobs have %d values", (jobs, values) => {
    expect(estimateValueCount(jobs)).toBe(values);
  });

  test("is linear between the points and never falls", () => {
    expect(estimateValueCount(10)).toBe(5);
    expect(estimateValueCount(600)).toBe(28); // 20 + 400 · 15/800 = 27.5
    expect(estimateValueCount(40_000)).toBe(215);
    for (let jobs = 1; jobs < 3000; jobs++) {
      expect(estimateValueCount(jobs)).toBeGreaterThanOrEqual(estimateValueCount(jobs - 1));
    }
  });
});

describe("headTimes()", () => {
  test("for 18 h: 18 h, the other common values, then 5 h multiples (15 h), 2 h (16, 14) and 1 h (17, 13), as worked by hand", () => {
    // 14 common values below 18 h and 18 h itself make 15; 5 are missing. 10 h and 5 h are there already.
    const hours = headTimes(18 * H).map((at) => at / H);
    expect(hours[0]).toBe(18);
    expect(hours.slice(1).map((hour) => Math.round(hour * 60))).toEqual([
      5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 720, 780, 840, 900, 960, 1020,
    ]);
  });

  test("the source's own example: with 160 h, multiples come as 100, 50, 150, 140, from the top", () => {
    const hours = headTimes(160 * H).map((at) => at / H);
    expect(hours).toHaveLength(20);
    expect(hours).toEqual(expect.arrayContaining([160, 100, 150, 50]));
    expect(hours).toContain(140);
    expect(hours).not.toContain(130);
  });

  test("are 20 different times up to the largest from 100 minutes on, less below", () => {
    fc.assert(
      fc.property(fc.integer({ min: H, max: 2_000_000_000 }), (maxS) => {
        const times = headTimes(maxS);
        expect(new Set(times).size).toBe(times.length);
        expect(times[0]).toBe(maxS);
        expect(Math.max(...times)).toBe(maxS);
        expect(Math.min(...times)).toBeGreaterThan(0);
        expect([...times.slice(1)].sort((a, b) => a - b)).toEqual(times.slice(1));
        if (maxS >= 100 * 60) expect(times).toHaveLength(20);
      }),
    );
    expect(headTimes(H)).toHaveLength(12); // all multiples of 5 minutes
  });
});

describe("drawHeadRanks()", () => {
  test("the table has the ranks 1 … 20 once for each log", () => {
    for (let log = 0; log < 4; log++) {
      const ranks = HEAD_RANKS.map((row) => row[log]);
      expect([...ranks].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    }
  });

  test("all ranks once, 1 first; then the lowest that no later row has, else one of a log for this row or an earlier one", () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 300; seed++) {
      const drawn = drawHeadRanks(new Random(seed));
      expect([...drawn].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
      expect(drawn[0]).toBe(1);
      for (let row = 1; row < 20; row++) {
        const open = drawn.slice(row);
        const later = HEAD_RANKS.slice(row + 1).flat();
        const due = open.filter((rank) => !later.includes(rank));
        if (due.length > 0) expect(drawn[row]).toBe(Math.min(...due));
        else expect(HEAD_RANKS.slice(0, row + 1).flat()).toContain(drawn[row]);
      }
      seen.add(drawn.join());
    }
    expect(seen.size).toBeGreaterThan(250);
  });
});

describe("drawEstimateBins()", () => {
  test("20 head values cover 89 % of the jobs, the largest estimate most of all; K values in all", () => {
    const n = 50_000;
    const maxS = 36 * H;
    const head = new Set(headTimes(maxS));
    for (let seed = 0; seed < 20; seed++) {
      const bins = drawEstimateBins(n, maxS, new Random(seed));
      expect(bins.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(n);
      // Some tail times still coincide with others after they are moved, and are left out.
      expect(bins.length).toBeGreaterThan(0.97 * estimateValueCount(n));
      expect(bins.length).toBeLessThanOrEqual(estimateValueCount(n));
      const inHead = bins.filter(({ estimateS }) => head.has(estimateS));
      expect(inHead).toHaveLength(20);
      const share = inHead.reduce((sum, { jobs }) => sum + jobs, 0) / n;
      expect(Math.abs(share - 0.89)).toBeLessThan(0.005);
      const most = Math.max(...bins.map(({ jobs }) => jobs));
      expect(bins[0]).toEqual({ estimateS: maxS, jobs: most });
      // Rank 1 has the rest of 89 % that ranks 2 … 20, Σ 14.0491·e^(−0.177531x) + 0.462513, leave.
      let others = 0;
      for (let x = 2; x <= 20; x++) others += 14.0491 * Math.exp(-0.177531 * x) + 0.462513;
      expect(Math.abs(most / n - (89 - others) / 100)).toBeLessThan(0.005);
    }
  });

  test("about 20 values serve about 90 % of the jobs, as the paper's abstract says", () => {
    for (const n of [5000, 28_000, 100_000]) {
      const bins = drawEstimateBins(n, 60 * H, new Random(n));
      const counts = bins.map(({ jobs }) => jobs).sort((a, b) => b - a);
      const top = counts.slice(0, 20).reduce((sum, jobs) => sum + jobs, 0);
      expect(top / n).toBeGreaterThan(0.86);
      expect(top / n).toBeLessThan(0.92);
    }
  });

  test("values descend, are different whole seconds up to the largest, and hold all jobs whatever their number", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: H, max: 500 * H }),
        fc.integer(),
        (n, maxS, seed) => {
          const bins = drawEstimateBins(n, maxS, new Random(seed));
          expect(bins.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(n);
          for (const [i, { estimateS, jobs }] of bins.entries()) {
            expect(jobs).toBeGreaterThan(0);
            expect(Number.isInteger(estimateS) && estimateS > 0 && estimateS <= maxS).toBe(true);
            if (i > 0) expect(estimateS).toBeLessThan(bins[i - 1].estimateS);
          }
        },
      ),
    );
  });
});

describe("withTsafrirEstimates()", () => {
  test("no job runs past its estimate, the estimates are those of the distribution, and all else stays", () => {
    const workload = jobsOf(20_000, 10 * H);
    const guessed = withTsafrirEstimates(workload, 18 * H, 5);
    const { runS, estimateS, size, submitS } = guessed.jobs;
    expect(runS.every((run, row) => run <= estimateS[row])).toBe(true);
    expect(runS).toEqual(workload.jobs.runS);
    expect(size).toEqual(workload.jobs.size);
    expect(submitS).toEqual(workload.jobs.submitS);
    const counts = new Map<number, number>();
    for (const estimate of estimateS) counts.set(estimate, (counts.get(estimate) ?? 0) + 1);
    const expected = drawEstimateBins(20_000, 18 * H, new Random(5, "estimate values"));
    expect([...counts].sort((a, b) => b[0] - a[0])).toEqual(
      expected.map(({ estimateS, jobs }) => [estimateS, jobs]),
    );
    expect(guessed.diagnostics).toEqual([]);
  });

  test("short jobs get estimates of all lengths: drawn, not matched in order", () => {
    const { jobs } = withTsafrirEstimates(jobsOf(20_000, 10 * H), 18 * H, 6);
    const short = jobs.estimateS.filter((_, row) => jobs.runS[row] < 60);
    expect(Math.min(...short)).toBeLessThan(10 * 60);
    expect(Math.max(...short)).toBe(18 * H);
  });

  test("any workload: every job covered, or an InputError that asks for a larger estimate", () => {
    const longJobs = fc
      .array(fc.oneof(fc.nat(600), fc.constant(3 * H)), { minLength: 20, maxLength: 60 })
      .map((runs) => workloadOf(runs.map((runS) => ({ submitS: 0, runS, size: 1, estimateS: -1 }))));
    const outcomes = { covered: 0, refused: 0 };
    const check = (workload: Workload, maxS: number, seed: number) => {
      try {
        const { jobs, count } = withTsafrirEstimates(workload, maxS, seed);
        for (let row = 0; row < count; row++) {
          const runS = workload.jobs.runS[row];
          expect(jobs.runS[row]).toBeLessThanOrEqual(jobs.estimateS[row]);
          expect(jobs.runS[row]).toBe(maxS === 0 ? runS : Math.min(maxS, runS));
        }
        outcomes.covered++;
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        expect((error as Error).message).toMatch(/expected a higher largest estimate/);
        outcomes.refused++;
      }
    };
    const maxS = fc.constantFrom(0, H, 5000, 24 * H, 400 * H);
    fc.assert(fc.property(fc.oneof(anyWorkload, longJobs), maxS, fc.integer(), check), { numRuns: 300 });
    expect(outcomes.covered).toBeGreaterThan(30);
    expect(outcomes.refused).toBeGreaterThan(10);
  });

  test("too small a largest estimate fails when more jobs need it than have it; run times above it are cut and counted", () => {
    const row = (runS: number) => ({ submitS: 0, runS, size: 1, estimateS: -1 });
    const long = workloadOf(Array.from({ length: 1000 }, (_, i) => row(i < 700 ? 2 * H : 60)));
    expect(() => withTsafrirEstimates(long, 90 * 60, 1)).toThrow(
      /Cannot draw estimates for "test": at least .* of its 1000 jobs run for 5400 s or longer, but only .*, expected a higher largest estimate/,
    );
    const some = workloadOf(Array.from({ length: 1000 }, (_, i) => row(i < 50 ? 2 * H : 60)));
    const { jobs, diagnostics } = withTsafrirEstimates(some, 90 * 60, 1);
    expect(jobs.runS[0]).toBe(90 * 60);
    expect(diagnostics).toMatchObject([{ code: "run-cut", action: "repaired", count: 50 }]);
    expect(some.jobs.runS[0]).toBe(2 * H); // the workload itself is not changed
  });

  test("the largest estimate is whole seconds from one hour on; 0 is the longest run in whole hours", () => {
    const workload = jobsOf(100, 9.5 * H);
    expect(Math.max(...withTsafrirEstimates(workload, 0, 1).jobs.estimateS)).toBe(10 * H);
    for (const wrong of [1, 3599, 3600.5, -5, Number.NaN, 3e9]) {
      expect(() => withTsafrirEstimates(workload, wrong, 1)).toThrow(
        /Cannot draw estimates up to .*expected whole seconds from 3600/,
      );
    }
  });
});
