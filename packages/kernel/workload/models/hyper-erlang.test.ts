import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "../../core/random.ts";
import { readTrace, traceFile } from "../traces-for-tests.ts";
import { drawHyperErlang } from "./hyper-erlang.ts";
import { fitHyperErlang, hyperErlangMoment } from "./hyper-erlang-for-tests.ts";
import { JANN_RANGES } from "./jann-ranges.ts";

/** Printed with the fits: the sample's means in s and coefficients of variation in thousandths. */
const PRINTED: readonly (readonly [
  arrivalMean: number,
  arrivalCv: number,
  serviceMean: number,
  serviceCv: number,
])[] = [
  [870.8, 2797, 13502.6, 1427],
  [3658.9, 3180, 14270.3, 1598],
  [2740.1, 2847, 7443.4, 2138],
  [3516.0, 2435, 5197.0, 2116],
  [2848.7, 2302, 8561.0, 1765],
  [5978.2, 2335, 9211.4, 1759],
  [8363.0, 1774, 12602.7, 1450],
  [32189.5, 1280, 13113.1, 1658],
  [64403.7, 2528, 1282.8, 2003],
  [138632.2, 2238, 9096.4, 2065],
];

describe("hyperErlangMoment", () => {
  test("is k!/λ^k for the exponential and the gamma moments for the Erlang distribution", () => {
    const exponential = { p: 1, rate1: 0.5, rate2: 1, stages: 1 };
    expect([1, 2, 3].map((k) => hyperErlangMoment(exponential, k))).toEqual([2, 8, 48]);
    const erlang = { p: 0, rate1: 1, rate2: 2, stages: 3 };
    expect([1, 2, 3].map((k) => hyperErlangMoment(erlang, k))).toEqual([1.5, 3, 7.5]);
  });
});

describe("fitHyperErlang", () => {
  test("finds the parameters that gave the moments", () => {
    const branch = fc.double({ min: 0.05, max: 0.95, noNaN: true });
    const ratio = fc.double({ min: 3, max: 300, noNaN: true });
    fc.assert(
      fc.property(branch, ratio, fc.integer({ min: 1, max: 9 }), (p, times, stages) => {
        const given = { p, rate1: 1e-3, rate2: 1e-3 * times, stages };
        const moments = [1, 2, 3].map((k) => hyperErlangMoment(given, k));
        const found = fitHyperErlang(moments[0], moments[1], moments[2]);
        // Fewer stages may be enough; then the moments agree but the parameters do not.
        expect(found.stages).toBeLessThanOrEqual(stages);
        for (let k = 1; k <= 3; k++) expect(hyperErlangMoment(found, k) / moments[k - 1]).toBeCloseTo(1, 9);
        if (found.stages < stages) return;
        expect(found.p).toBeCloseTo(p, 5);
        expect(found.rate2 / given.rate2).toBeCloseTo(1, 5);
      }),
    );
  });

  test("takes the least number of stages that the moments allow", () => {
    // CV² = ½: one stage has CV² ≥ 1 and two have CV² ≥ ½, both only as limits, so three are needed.
    expect(fitHyperErlang(1, 1.5, 3.2).stages).toBe(3);
  });

  test("refuses moments of a constant", () => {
    expect(() => fitHyperErlang(2, 4, 8)).toThrow(RangeError);
  });
});

describe("JANN_RANGES", () => {
  test("have the printed means and coefficients of variation, to the printed digits", () => {
    for (const [i, { interarrivalS, serviceS }] of JANN_RANGES.entries()) {
      for (const [column, distribution] of [interarrivalS, serviceS].entries()) {
        const mean = hyperErlangMoment(distribution, 1);
        const cv = Math.sqrt(hyperErlangMoment(distribution, 2) / (mean * mean) - 1);
        const tolerance = Math.max(0.06, 2e-5 * mean);
        expect(Math.abs(mean - PRINTED[i][2 * column])).toBeLessThan(tolerance);
        expect(Math.abs(1000 * cv - PRINTED[i][2 * column + 1])).toBeLessThan(0.6);
      }
    }
  });

  test("cover the sizes 1 … 322 without gap or overlap, each with its sizes in order", () => {
    let next = 1;
    for (const { minSize, maxSize, sizes } of JANN_RANGES) {
      expect(minSize).toBe(next);
      next = maxSize + 1;
      const values = sizes.map(([size]) => size);
      expect(values).toEqual([...values].sort((a, b) => a - b));
      expect(values[0]).toBeGreaterThanOrEqual(minSize);
      expect(values[values.length - 1]).toBeLessThanOrEqual(maxSize);
    }
    expect(next).toBe(323);
    const jobs = JANN_RANGES.flatMap((range) => range.sizes).reduce((sum, [, count]) => sum + count, 0);
    expect(jobs).toBe(17_542);
  });

  test.skipIf(traceFile("CTC-SP2") === undefined)("are what the fit gives on the log itself", () => {
    const { count, jobs } = readTrace("CTC-SP2");
    // UnixStartTime of the log is 835823160; 25 June 1996 and 12 September 1996, 00:00 in New York.
    const fromS = 835_675_200 - 835_823_160;
    const endS = 842_500_800 - 835_823_160;
    for (const range of JANN_RANGES) {
      const submits: number[] = [];
      const runs: number[] = [];
      for (let job = 0; job < count; job++) {
        const size = jobs.size[job];
        if (
          size < range.minSize ||
          size > range.maxSize ||
          jobs.submitS[job] < fromS ||
          jobs.submitS[job] >= endS
        )
          continue;
        submits.push(jobs.submitS[job]);
        runs.push(jobs.runS[job]);
      }
      const gaps = submits.slice(1).map((submitS, i) => submitS - submits[i]);
      const samples = [gaps, runs];
      for (const [i, printed] of [range.interarrivalS, range.serviceS].entries()) {
        const moment = (k: number) => samples[i].reduce((sum, x) => sum + x ** k, 0) / samples[i].length;
        const fit = fitHyperErlang(moment(1), moment(2), moment(3));
        expect(fit.stages).toBe(printed.stages);
        expect(Math.abs(fit.p - printed.p)).toBeLessThan(6e-8); // 7 decimals are printed
        expect(Math.abs(fit.rate1 / printed.rate1 - 1)).toBeLessThan(6e-7); // 7 digits
        expect(Math.abs(fit.rate2 / printed.rate2 - 1)).toBeLessThan(6e-7);
      }
    }
  });
});

describe("drawHyperErlang", () => {
  test("has the moments of the distribution, within five standard errors", () => {
    for (const distribution of [JANN_RANGES[0].serviceS, JANN_RANGES[3].interarrivalS]) {
      const random = new Random(1999, "hyper-Erlang");
      const draws = 40_000;
      const sums = [0, 0];
      for (let i = 0; i < draws; i++) {
        const x = drawHyperErlang(distribution, random);
        sums[0] += x;
        sums[1] += x * x;
      }
      for (const k of [1, 2]) {
        const moment = hyperErlangMoment(distribution, k);
        const error = Math.sqrt((hyperErlangMoment(distribution, 2 * k) - moment * moment) / draws);
        expect(Math.abs(sums[k - 1] / draws - moment)).toBeLessThan(5 * error);
      }
    }
  });
});
