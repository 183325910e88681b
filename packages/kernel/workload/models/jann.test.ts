import { describe, expect, test } from "vitest";
import { parseParameters } from "../../core/parameters.ts";
import { describeWorkload } from "../describe.ts";
import { hashWorkload } from "../hash.ts";
import { readTrace, traceFile } from "../traces-for-tests.ts";
import type { HyperErlang } from "./hyper-erlang.ts";
import { hyperErlangMoment } from "./hyper-erlang-for-tests.ts";
import { jann } from "./jann.ts";
import { JANN_RANGES, JANN_WHOLE_LOG_RANGES } from "./jann-ranges.ts";

const generate = (seed: number, ...settings: string[]) =>
  jann.generate(parseParameters("model", jann.parameters, settings), seed);
const FITS = { window: JANN_RANGES, log: JANN_WHOLE_LOG_RANGES };
const jobsOf = (sizes: readonly (readonly [number, number])[]) =>
  sizes.reduce((sum, [, jobs]) => sum + jobs, 0);
const cv = (fit: HyperErlang) => Math.sqrt(hyperErlangMoment(fit, 2) / hyperErlangMoment(fit, 1) ** 2 - 1);

describe("JANN_WHOLE_LOG_RANGES", () => {
  test("has the ranges and their jobs without gaps, 77,222 in all", () => {
    let next = 1;
    for (const { minSize, maxSize, sizes } of JANN_WHOLE_LOG_RANGES) {
      expect(minSize).toBe(next);
      next = maxSize + 1;
      expect(sizes.every(([size, jobs]) => size >= minSize && size <= maxSize && jobs > 0)).toBe(true);
    }
    expect(next).toBe(339);
    expect(JANN_WHOLE_LOG_RANGES.reduce((sum, { sizes }) => sum + jobsOf(sizes), 0)).toBe(77_222);
  });

  // Means and coefficients of variation as computed with the fit: interarrival times, then service times.
  test.each([
    [1, 893.8, 3.099, 15726.2, 1.276],
    [2, 5217.4, 3.119, 10328.6, 2.011],
    [3, 3116.8, 2.647, 7377.9, 2.167],
    [5, 3288.3, 2.627, 4652.8, 2.528],
    [9, 2916.5, 2.163, 8571.3, 1.852],
    [17, 4535.2, 2.32, 9340.4, 1.686],
    [33, 8575.4, 1.815, 9344.4, 1.657],
    [65, 28017.1, 1.518, 14611.7, 1.48],
    [129, 94382.2, 2.004, 3670.8, 2.235],
    [257, 243152.1, 1.408, 14467.8, 1.481],
    [323, 1391694.7, 1.475, 822.9, 1.252],
  ])(
    "the fit from size %d has the mean and variation that it was made for",
    (minSize, gap, gapCv, service, serviceCv) => {
      const range = JANN_WHOLE_LOG_RANGES.find((candidate) => candidate.minSize === minSize)!;
      expect(hyperErlangMoment(range.interarrivalS, 1) / gap).toBeCloseTo(1, 4);
      expect(hyperErlangMoment(range.serviceS, 1) / service).toBeCloseTo(1, 4);
      expect(Math.abs(cv(range.interarrivalS) - gapCv)).toBeLessThan(0.0006);
      expect(Math.abs(cv(range.serviceS) - serviceCv)).toBeLessThan(0.0006);
    },
  );

  test.skipIf(traceFile("CTC-SP2") === undefined)(
    "reproduces the first three moments of the log's run times and gaps within 10^−4, and its sizes exactly",
    () => {
      const { jobs, trace, count } = readTrace("CTC-SP2");
      expect(count).toBe(77_222);
      for (const { minSize, maxSize, sizes, interarrivalS, serviceS } of JANN_WHOLE_LOG_RANGES) {
        const rows = Array.from({ length: count }, (_, row) => row).filter(
          (row) => trace!.allocated[row] >= minSize && trace!.allocated[row] <= maxSize,
        );
        const counts = new Map<number, number>();
        for (const row of rows) counts.set(jobs.size[row], (counts.get(jobs.size[row]) ?? 0) + 1);
        expect([...counts].sort((a, b) => a[0] - b[0])).toEqual(sizes);
        const gaps = rows.slice(1).map((row, i) => jobs.submitS[row] - jobs.submitS[rows[i]]);
        const moment = (values: number[], k: number) =>
          values.reduce((sum, x) => sum + x ** k, 0) / values.length;
        for (const k of [1, 2, 3]) {
          const runs = rows.map((row) => jobs.runS[row]);
          expect(Math.abs(hyperErlangMoment(serviceS, k) / moment(runs, k) - 1)).toBeLessThan(1e-4);
          expect(Math.abs(hyperErlangMoment(interarrivalS, k) / moment(gaps, k) - 1)).toBeLessThan(1e-4);
        }
      }
    },
  );
});

describe("jann.generate()", () => {
  test.each(["window", "log"] as const)(
    "fit=%s: share, mean service time and mean gap of each range, and sizes within it, as the fit says",
    (fit) => {
      const n = 200_000;
      const { jobs, processors } = generate(1, `jobs=${n}`, `fit=${fit}`);
      const ranges = FITS[fit];
      expect(processors).toBe(fit === "window" ? 322 : 338);
      const endS = jobs.submitS[n - 1];
      for (const { minSize, maxSize, sizes, interarrivalS, serviceS } of ranges) {
        const rows = Array.from({ length: n }, (_, row) => row).filter(
          (row) => jobs.size[row] >= minSize && jobs.size[row] <= maxSize,
        );
        const meanGapS = hyperErlangMoment(interarrivalS, 1);
        // A renewal process has about endS/mean arrivals with variance CV² times as much.
        const expected = endS / meanGapS;
        const error = 4 * cv(interarrivalS) * Math.sqrt(expected) + 4;
        expect(Math.abs(rows.length - expected)).toBeLessThan(error);
        if (rows.length < 30) continue;
        const meanRunS = rows.reduce((sum, row) => sum + jobs.runS[row], 0) / rows.length;
        const expectedRunS = hyperErlangMoment(serviceS, 1);
        expect(Math.abs(meanRunS / expectedRunS - 1)).toBeLessThan(
          (4 * cv(serviceS)) / Math.sqrt(rows.length),
        );
        for (const [size, weight] of sizes) {
          const share = weight / jobsOf(sizes);
          const drawn = rows.filter((row) => jobs.size[row] === size).length;
          expect(Math.abs(drawn - share * rows.length)).toBeLessThan(
            4.5 * Math.sqrt(share * (1 - share) * rows.length) + 3,
          );
        }
      }
    },
  );

  test("shares of the ranges are the log's within 1.5 percentage points, the load that of the data", () => {
    const facts = describeWorkload(generate(2, "jobs=200000"));
    expect(Math.abs(facts.serialShare! - 0.4157)).toBeLessThan(0.015);
    expect(Math.abs(facts.runS!.mean / 10_908.1 - 1)).toBeLessThan(0.03);
    // The paper's time had a mean gap of 380.7 s.
    expect(Math.abs(facts.spanS! / 200_000 / 380.7 - 1)).toBeLessThan(0.06);
    const log = describeWorkload(generate(2, "jobs=200000", "fit=log"));
    expect(Math.abs(log.serialShare! - 0.4197)).toBeLessThan(0.015);
    expect(Math.abs(log.offeredLoad! / 0.842 - 1)).toBeLessThan(0.05); // CTC-SP2's own
  });

  test("submits ascend; load and estimates do as they say; the same seed gives the same jobs", () => {
    const { jobs } = generate(3, "load=0.6", "estimates=tsafrir");
    expect(jobs.submitS.every((at, row) => row === 0 || at >= jobs.submitS[row - 1])).toBe(true);
    expect(jobs.estimateS.every((at, row) => at >= jobs.runS[row])).toBe(true);
    expect(describeWorkload(generate(3, "load=0.6")).offeredLoad).toBeCloseTo(0.6, 12);
    expect(hashWorkload(generate(3))).toBe(hashWorkload(generate(3)));
    expect(hashWorkload(generate(3))).not.toBe(hashWorkload(generate(4)));
  });
});
