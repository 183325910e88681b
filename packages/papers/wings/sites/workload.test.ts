import { describe, expect, test } from "vitest";
import { GRID } from "./contract.ts";
import type { SitesWorkload } from "./workload.ts";
import { generateSites, POWER_OF_TWO_GANGS, UNIFORM_GANGS, withPredictionError } from "./workload.ts";

const PAPER: SitesWorkload = {
  sites: [
    { processors: 16, speed: 1 },
    { processors: 16, speed: 1 },
  ],
  localEveryS: [0.1, 0.1],
  gangEveryS: 2,
  gangSizes: UNIFORM_GANGS,
  serviceS: 1,
  splitOverhead: 0.1,
  criticalShare: 0.1,
  count: 100_000,
  seed: 1,
  replication: 0,
};
const rowsOf = (home: Int32Array, of: number) => [...home.keys()].filter((job) => home[job] === of);
const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** Five standard errors of a mean of n values with this standard deviation. */
const margin = (sd: number, n: number) => (5 * sd) / Math.sqrt(n);

describe("generateSites()", () => {
  const { instance, error } = generateSites(PAPER);
  const { submitS, serviceS, home, size, critical, drawn } = instance;
  const gangs = rowsOf(home, GRID);
  const locals = [rowsOf(home, 0), rowsOf(home, 1)];

  test("arrives in order, at the rates asked for, with exponential gaps", () => {
    for (let job = 1; job < instance.count; job++) expect(submitS[job] >= submitS[job - 1]).toBe(true);
    for (const [rows, everyS] of [
      [locals[0], 0.1],
      [locals[1], 0.1],
      [gangs, 2],
    ] as const) {
      const gaps = rows.slice(1).map((job, i) => submitS[job] - submitS[rows[i]]);
      expect(Math.abs(meanOf(gaps) / everyS - 1)).toBeLessThan(margin(1, gaps.length));
      // E(x²) = 2·mean²; the standard deviation of x² is √20·mean².
      const squares = meanOf(gaps.map((gap) => (gap / everyS) ** 2));
      expect(Math.abs(squares - 2)).toBeLessThan(margin(Math.sqrt(20), gaps.length));
    }
  });

  test("service times have mean 1, sizes mean 7.5 in both distributions, a tenth of the gangs is critical", () => {
    expect(Math.abs(meanOf([...serviceS]) - 1)).toBeLessThan(margin(1, instance.count));
    const sizes = gangs.map((job) => size[job]);
    expect(new Set(sizes)).toEqual(new Set(UNIFORM_GANGS));
    expect(Math.abs(meanOf(sizes) - 7.5)).toBeLessThan(margin(Math.sqrt(143 / 12), sizes.length));
    expect(meanOf([...POWER_OF_TWO_GANGS])).toBe(7.5);
    expect(locals.flat().every((job) => size[job] === 1 && critical[job] === 0)).toBe(true);
    expect(Math.abs(meanOf(gangs.map((job) => critical[job])) - 0.1)).toBeLessThan(margin(0.3, gangs.length));
    expect(drawn.every((draw) => draw > 0 && draw < 1)).toBe(true);
  });

  test("another load or size distribution leaves all other attributes of every source as they were", () => {
    const other = generateSites({
      ...PAPER,
      localEveryS: [0.2, 0.1],
      gangSizes: POWER_OF_TWO_GANGS,
    }).instance;
    for (const source of [0, 1, GRID]) {
      const [a, b] = [rowsOf(home, source), rowsOf(other.home, source)];
      for (let i = 0; i < Math.min(a.length, b.length); i++) {
        expect(other.serviceS[b[i]]).toBe(serviceS[a[i]]);
        expect(other.drawn[b[i]]).toBe(drawn[a[i]]);
        expect(other.critical[b[i]]).toBe(critical[a[i]]);
      }
    }
    expect(generateSites({ ...PAPER, replication: 1 }).instance.serviceS[0]).not.toBe(serviceS[0]);
  });

  test("withPredictionError() is uniform within ± E %, and exact for E = 0", () => {
    const jobs = { instance, error };
    expect(withPredictionError(jobs, 0).predictedS).toEqual(serviceS);
    const { predictedS } = withPredictionError(jobs, 30);
    const errors = [...predictedS].map((predicted, job) => predicted / serviceS[job] - 1);
    expect(Math.max(...errors.slice(0, 50_000))).toBeGreaterThan(0.299);
    expect(Math.min(...errors.slice(0, 50_000))).toBeLessThan(-0.299);
    expect(errors.every((e) => Math.abs(e) <= 0.3 + 1e-12)).toBe(true);
    expect(Math.abs(meanOf(errors))).toBeLessThan(margin(0.3 / Math.sqrt(3), errors.length));
    expect(() => withPredictionError(jobs, 101)).toThrow("error of 101 %");
  });

  test("refuses numbers out of range", () => {
    const refused = (change: Partial<SitesWorkload>) => () => generateSites({ ...PAPER, ...change });
    expect(refused({ localEveryS: [1] })).toThrow("1 sites");
    expect(refused({ localEveryS: [0, 1] })).toThrow("mean time between arrivals 0");
    expect(refused({ gangSizes: [] })).toThrow("gang sizes none");
    expect(refused({ gangSizes: [1.5] })).toThrow("gang size 1.5");
    expect(refused({ criticalShare: 2 })).toThrow("critical gangs 2");
    const never = Number.POSITIVE_INFINITY;
    expect(refused({ localEveryS: [never, never], gangEveryS: never })).toThrow("expected a finite one");
  });
});
