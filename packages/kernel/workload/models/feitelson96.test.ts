import { describe, expect, test } from "vitest";
import { parseParameters } from "../../core/parameters.ts";
import { describeWorkload } from "../describe.ts";
import { hashWorkload } from "../hash.ts";
import { feitelson96, feitelson96MeanWork } from "./feitelson96.ts";

const generate = (seed: number, ...settings: string[]) =>
  feitelson96.generate(parseParameters("model", feitelson96.parameters, settings), seed);

interface Run {
  readonly size: number;
  readonly runS: number;
  readonly submits: number[];
}

/**
 * Groups runs by job: runs of the same job have equal sizes and run times. Run times are continuous, so those
 * of different jobs are not equal by chance.
 */
function byJob({ jobs, count }: ReturnType<typeof generate>): Run[] {
  const found = new Map<number, Run>();
  for (let row = 0; row < count; row++) {
    const runS = jobs.runS[row];
    const run = found.get(runS);
    if (run === undefined) found.set(runS, { size: jobs.size[row], runS, submits: [jobs.submitS[row]] });
    else run.submits.push(jobs.submitS[row]);
  }
  return [...found.values()];
}

const workload = generate(1, "jobs=150000");
const runs = byJob(workload);

describe("feitelson96.generate()", () => {
  test("confirmed: sizes are harmonic of order 1.5 (chi square over the different jobs)", () => {
    const total = Array.from({ length: 128 }, (_, i) => (i + 1) ** -1.5).reduce((sum, p) => sum + p, 0);
    const counts = new Array<number>(129).fill(0);
    for (const { size } of runs) counts[size]++;
    let chi = 0;
    for (let n = 1; n <= 128; n++) {
      const expected = (runs.length * n ** -1.5) / total;
      chi += (counts[n] - expected) ** 2 / expected;
    }
    expect(chi).toBeGreaterThan(83.4); // 127 degrees of freedom: 0.1 % and 99.9 % points
    expect(chi).toBeLessThan(181.9);
  });

  test("confirmed in kind: run times vary more than exponential ones, and larger jobs run longer", () => {
    const times = runs.map(({ runS }) => runS);
    const mean = times.reduce((sum, x) => sum + x, 0) / times.length;
    const variance = times.reduce((sum, x) => sum + (x - mean) ** 2, 0) / times.length;
    expect(Math.sqrt(variance) / mean).toBeGreaterThan(1.2);
    const meanOf = (from: number, to: number) => {
      const some = runs.filter(({ size }) => size >= from && size <= to);
      return some.reduce((sum, { runS }) => sum + runS, 0) / some.length;
    };
    expect(meanOf(100, 128)).toBeGreaterThan(1.3 * meanOf(1, 8));
  });

  test("as its rules say: the mean run time of size n is shortS · (s + 7(1 − s)) with s = 0.95 − 0.2 n/P", () => {
    for (const [from, to] of [
      [1, 1],
      [2, 4],
      [60, 128],
    ]) {
      const some = runs.filter(({ size }) => size >= from && size <= to);
      let expected = 0;
      let variance = 0;
      for (const { size } of some) {
        const short = 0.95 - (0.2 * size) / 128;
        const mean = 600 * (short + 7 * (1 - short));
        expected += mean / some.length;
        variance += (2 * 600 ** 2 * (short + 49 * (1 - short)) - mean ** 2) / some.length ** 2;
      }
      const drawn = some.reduce((sum, { runS }) => sum + runS, 0) / some.length;
      expect(Math.abs(drawn - expected)).toBeLessThan(4 * Math.sqrt(variance));
    }
  });

  test("as its rules say: n runs with probability ∝ n^−2.5, each submitted when the one before would end", () => {
    const total = Array.from({ length: 1000 }, (_, i) => (i + 1) ** -2.5).reduce((sum, p) => sum + p, 0);
    let chi = 0;
    for (let n = 1; n <= 8; n++) {
      const expected = (runs.length * n ** -2.5) / total;
      const count = runs.filter(({ submits }) => submits.length === n).length;
      chi += (count - expected) ** 2 / expected;
    }
    expect(chi).toBeLessThan(26.1); // 8 cells: 0.1 %
    for (const { runS, submits } of runs) {
      for (let i = 1; i < submits.length; i++) {
        expect(Math.abs(submits[i] - submits[i - 1] - runS)).toBeLessThan(1e-6 * (1 + submits[i]));
      }
    }
  });

  test("the load is reached by the exact means", () => {
    const naive = (processors: number, shortS: number) => {
      let [weight, work] = [0, 0];
      for (let n = 1; n <= processors; n++) {
        const short = 0.95 - (0.2 * n) / processors;
        weight += n ** -1.5;
        work += n ** -1.5 * n * shortS * (7 - 6 * short);
      }
      return work / weight;
    };
    expect(feitelson96MeanWork(128, 600) / naive(128, 600)).toBeCloseTo(1, 12);
    expect(feitelson96MeanWork(1, 10)).toBeCloseTo(10 * (7 - 6 * 0.75), 12);
    expect(Math.abs(describeWorkload(workload).offeredLoad! - 0.7)).toBeLessThan(0.05);
  });

  test("says which of its rules are confirmed, unconfirmed, assumed by us or left out", () => {
    for (const word of ["confirmed:", "left out", "unconfirmed:", "our assumption:"]) {
      expect(feitelson96.rules.some((rule) => rule.includes(word))).toBe(true);
    }
  });

  test("submits ascend, the same seed gives the same jobs", () => {
    const { submitS } = workload.jobs;
    expect(submitS.every((at, row) => row === 0 || at >= submitS[row - 1])).toBe(true);
    expect(hashWorkload(generate(3))).toBe(hashWorkload(generate(3)));
    expect(hashWorkload(generate(3))).not.toBe(hashWorkload(generate(4)));
  });
});
