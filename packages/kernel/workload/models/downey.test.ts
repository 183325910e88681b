import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import { parseParameters } from "../../core/parameters.ts";
import { Random } from "../../core/random.ts";
import { hashWorkload } from "../hash.ts";
import { downey, downeyMoments } from "./downey.ts";
import { fillLogUniform, logUniformMean } from "./log-uniform.ts";
import { MODELS } from "./registry.ts";

const parameters = (...settings: string[]) => parseParameters("model", downey.parameters, settings);
const generate = (seed: number, ...settings: string[]) => downey.generate(parameters(...settings), seed);
const mean = (column: Float64Array | Int32Array) => {
  let sum = 0;
  for (const value of column) sum += value;
  return sum / column.length;
};

/** Computes P(k) of the rounded distribution directly from its definition. */
function probability(k: number, min: number, max: number, unit: number): number {
  const low = k === 1 ? min : Math.max(min, (k - 0.5) * unit);
  const high = Math.min(max, (k + 0.5) * unit);
  return high <= low ? 0 : Math.log(high / low) / Math.log(max / min);
}

describe("logUniformMean()", () => {
  test("unrounded is (max − min)/ln(max/min): 24.9 for 1 … 120 and 26.2 for 1 … 128, the means of zhou2000", () => {
    expect(logUniformMean({ min: 1, max: 120, unit: 0 })).toBeCloseTo(119 / Math.log(120), 12);
    expect(logUniformMean({ min: 1, max: 120, unit: 0 }).toFixed(1)).toBe("24.9");
    expect(logUniformMean({ min: 1, max: 128, unit: 0 }).toFixed(1)).toBe("26.2");
  });

  test("rounded to whole slots stays within 0.06 of them: 24.85 and 26.17", () => {
    expect(logUniformMean({ min: 1, max: 120, unit: 1 })).toBeCloseTo(24.848, 3);
    expect(logUniformMean({ min: 1, max: 128, unit: 1 })).toBeCloseTo(26.166, 3);
    expect(Math.abs(logUniformMean({ min: 1, max: 120, unit: 1 }) - 24.9)).toBeLessThan(0.06);
  });

  test("rounded is Σ k·P(k), summed as the definition says", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 50, noNaN: true }),
        fc.double({ min: 1.01, max: 100, noNaN: true }),
        fc.constantFrom(0.5, 1, 5, 7.5),
        (min, ratio, unit) => {
          const max = min * ratio;
          let expected = 0;
          let total = 0;
          for (let k = 1; k <= max / unit + 2; k++) {
            const p = max < (k + 0.5) * unit && k === 1 ? 1 : probability(k, min, max, unit);
            expected += p * k * unit;
            total += p;
          }
          expect(total).toBeCloseTo(1, 9);
          expect(logUniformMean({ min, max, unit }) / expected).toBeCloseTo(1, 9);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("of one point is the point", () => {
    expect(logUniformMean({ min: 7, max: 7, unit: 0 })).toBe(7);
    expect(logUniformMean({ min: 7, max: 7, unit: 5 })).toBe(5);
    expect(logUniformMean({ min: 1, max: 1, unit: 1 })).toBe(1);
  });
});

describe("fillLogUniform()", () => {
  test("draws every whole number as often as the formula says (chi square)", () => {
    const n = 200_000;
    const column = new Int32Array(n);
    fillLogUniform(column, { min: 1, max: 128, unit: 1 }, new Random(3, "sizes"));
    const counts = new Array<number>(130).fill(0);
    for (const k of column) counts[k]++;
    expect(counts[0] + counts[129]).toBe(0);
    let chi = 0;
    for (let k = 1; k <= 128; k++) {
      const expected = n * probability(k, 1, 128, 1);
      chi += (counts[k] - expected) ** 2 / expected;
    }
    // 127 degrees of freedom: 0.1 % and 99.9 % points are 83.4 and 181.9.
    expect(chi).toBeGreaterThan(83.4);
    expect(chi).toBeLessThan(181.9);
  });

  test("unrounded numbers are uniform in log space and stay within their bounds", () => {
    const n = 100_000;
    const column = new Float64Array(n);
    fillLogUniform(column, { min: 2, max: 2000, unit: 0 }, new Random(4));
    const counts = new Array<number>(50).fill(0);
    for (const x of column) {
      expect(x >= 2 && x <= 2000).toBe(true);
      counts[Math.min(49, Math.floor((Math.log(x / 2) / Math.log(1000)) * 50))]++;
    }
    const chi = counts.reduce((sum, c) => sum + (c - n / 50) ** 2 / (n / 50), 0);
    expect(chi).toBeLessThan(85.4); // 49 degrees of freedom, 0.1 %
  });
});

describe("downey.generate()", () => {
  test("makes sizes, run times and arrivals with the means that the arrival rate is computed from", () => {
    const n = 200_000;
    const settings = [`jobs=${n}`, "load=0.5"];
    const { jobs, count, processors } = generate(1, ...settings);
    const moments = downeyMoments(parameters(...settings));
    expect(count).toBe(n);
    expect(processors).toBe(128);
    // Standard deviations of one size and one run time are 32.0 and 29.2 × 5 s; 4 standard errors.
    expect(Math.abs(mean(jobs.size) - moments.meanSize)).toBeLessThan((4 * 32) / Math.sqrt(n));
    expect(Math.abs(mean(jobs.runS) - moments.meanRunS)).toBeLessThan((4 * 146) / Math.sqrt(n));
    const interarrivalS = jobs.submitS[n - 1] / n;
    expect(Math.abs(interarrivalS / moments.meanInterarrivalS - 1)).toBeLessThan(4 / Math.sqrt(n));
    const work = jobs.runS.reduce((sum, run, i) => sum + run * jobs.size[i], 0);
    expect(work / (128 * jobs.submitS[n - 1])).toBeCloseTo(0.5, 1);
  });

  test("by default makes zhou2000's jobs: 1 … 120 slots of 5 s, sizes 1 … 128, exact estimates, ascending arrivals", () => {
    const { jobs } = generate(2);
    expect(jobs.runS.every((run) => run % 5 === 0 && run >= 5 && run <= 600)).toBe(true);
    expect(jobs.size.every((size) => size >= 1 && size <= 128)).toBe(true);
    expect(jobs.estimateS).toBe(jobs.runS);
    expect(jobs.submitS.every((s, i) => s > (i === 0 ? 0 : jobs.submitS[i - 1]))).toBe(true);
    expect([...jobs.id.subarray(0, 3)]).toEqual([1, 2, 3]);
    expect(Math.max(...jobs.runS)).toBe(600);
    expect(Math.max(...jobs.size)).toBe(128);
  });

  test("gives the same jobs for the same seed and others for another", () => {
    expect(hashWorkload(generate(5))).toBe(hashWorkload(generate(5)));
    expect(hashWorkload(generate(5))).not.toBe(hashWorkload(generate(6)));
  });

  test("another load leaves sizes and run times as they were, other sizes leave the run times", () => {
    const a = generate(7, "jobs=500");
    const b = generate(7, "jobs=500", "load=0.3");
    const c = generate(7, "jobs=500", "maxSize=16");
    expect(b.jobs.size).toEqual(a.jobs.size);
    expect(b.jobs.runS).toEqual(a.jobs.runS);
    expect(b.jobs.submitS).not.toEqual(a.jobs.submitS);
    expect(c.jobs.runS).toEqual(a.jobs.runS);
    expect(c.jobs.size).not.toEqual(a.jobs.size);
  });

  test("the first jobs of a longer workload are those of a shorter one", () => {
    const short = generate(8, "jobs=100").jobs;
    const long = generate(8, "jobs=1000").jobs;
    for (const name of ["submitS", "runS", "size"] as const) {
      expect([...long[name].subarray(0, 100)]).toEqual([...short[name]]);
    }
  });

  test("estimates lie between the run time and its multiple, rounded up to the unit, uniformly", () => {
    const { jobs } = generate(9, "jobs=20000", "estimateFactor=3", "unitS=0");
    const shares = jobs.estimateS.map((estimate, i) => (estimate / jobs.runS[i] - 1) / 2);
    expect(shares.every((share) => share >= -1e-12 && share <= 1 + 1e-12)).toBe(true);
    expect(Math.abs(mean(shares) - 0.5)).toBeLessThan((4 * Math.sqrt(1 / 12)) / Math.sqrt(20_000));
    const rounded = generate(9, "jobs=20000", "estimateFactor=3").jobs;
    expect(
      rounded.estimateS.every((e, i) => e % 5 === 0 && e > rounded.runS[i] && e < 3 * rounded.runS[i] + 5),
    ).toBe(true);
  });

  test("names itself with the parameters that differ and the seed", () => {
    expect(generate(3, "jobs=10", "load=0.9").name).toBe("downey:jobs=10:load=0.9, seed 3");
  });

  test.each([
    [["minSize=10", "maxSize=5"], /sizes from 10 to 5: expected minSize to be at most maxSize/],
    [["minSize=200"], /sizes from 200 to 128/],
    [["minRunS=700"], /run times from 700 s to 600 s: expected minRunS to be at most maxRunS/],
    [["unitS=601"], /multiples of 601 s: expected unitS from .* to 600, or 0/],
    [["unitS=0.00001"], /expected unitS from 0.00006 to 600/],
  ])("refuses %j in one line", (settings, message) => {
    expect(() => generate(1, ...settings)).toThrow(InputError);
    expect(() => generate(1, ...settings)).toThrow(message);
  });
});

describe("MODELS", () => {
  test("every model has parameters with defaults inside their ranges, and makes jobs from its defaults", () => {
    expect(MODELS.length).toBeGreaterThan(0);
    expect(new Set(MODELS.map(({ name }) => name)).size).toBe(MODELS.length);
    for (const model of MODELS) {
      const settings = model.parameters.map((spec) => `${spec.name}=${spec.default}`);
      const workload = model.generate(parseParameters(model.name, model.parameters, settings), 1);
      expect(workload.count).toBe(workload.jobs.submitS.length);
      expect(workload.name.startsWith(model.name)).toBe(true);
      expect(model.rules.length).toBeGreaterThan(0);
    }
  });
});
