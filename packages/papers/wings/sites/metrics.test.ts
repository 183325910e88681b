import { describe, expect, test } from "vitest";
import type { SitesInstance, SitesSchedule } from "./contract.ts";
import { GRID } from "./contract.ts";
import { summariseSites } from "./metrics.ts";

// Two sites of one and two processors; three local jobs and three gangs, the last of which never ends.
const instance: SitesInstance = {
  sites: [
    { processors: 1, speed: 1 },
    { processors: 2, speed: 1 },
  ],
  splitOverhead: 0.1,
  count: 7,
  submitS: Float64Array.of(0, 0, 1, 2, 3, 4, 90),
  serviceS: Float64Array.of(2, 4, 0.05, 1, 2, 9, 1),
  predictedS: Float64Array.of(2, 4, 0.05, 1, 2, 9, 1),
  size: Int32Array.of(1, 1, 1, 2, 3, 2, 1),
  home: Int32Array.of(0, 1, 1, GRID, GRID, GRID, 0),
  critical: Uint8Array.of(0, 0, 0, 0, 1, 0, 0),
  drawn: new Float64Array(7).fill(0.5),
};
const schedule: SitesSchedule = {
  startS: Float64Array.of(0, 4, 1.95, 3, 11, Number.NaN, Number.NaN),
  endS: Float64Array.of(2, 8, 2, 4, 13, Number.NaN, Number.NaN),
  split: Uint8Array.of(0, 0, 0, 0, 1, 0, 0),
  stopS: 20,
  arrived: 6,
  completed: 5,
  busyS: [4, 10],
  startsByRule: [1, 1, 2, 0, 1, 1],
};

describe("summariseSites()", () => {
  const numbers = summariseSites(instance, schedule);

  test("local jobs: mean and median response and slowdown, bounded at a tenth of a second", () => {
    const { locals } = numbers; // responses 2, 8, 1; slowdowns 1, 2, 20
    expect([locals.arrived, locals.ended]).toEqual([3, 3]);
    expect(locals.responseS).toBeCloseTo(11 / 3, 12);
    expect(locals.medianResponseS).toBe(2);
    expect(locals.slowdown).toBeCloseTo(23 / 3, 12);
    expect(locals.medianSlowdown).toBe(2);
    expect(locals.boundedSlowdown).toBeCloseTo((1 + 2 + 10) / 3, 12);
  });

  test("gangs: weighted with their sizes; those that have not ended count as arrived only", () => {
    // Sizes 2 and 3, responses 2 and 10, slowdowns 2 and 5.
    const { gangs, critical, gangsFinished } = numbers;
    expect(gangs.weightedResponseS).toBeCloseTo((2 * 2 + 3 * 10) / 5, 12);
    expect(gangs.weightedSlowdown).toBeCloseTo((2 * 2 + 3 * 5) / 5, 12);
    expect(gangs.weightedBoundedSlowdown).toBeCloseTo((2 * 2 + 3 * 5) / 5, 12);
    expect(gangsFinished).toBeCloseTo(2 / 3, 12);
    expect([critical.arrived, critical.weightedResponseS]).toEqual([1, 10]);
  });

  test("utilisation of all sites and of each, and shares by start rule", () => {
    expect(numbers.utilisation).toBeCloseTo(14 / 60, 12);
    expect(numbers.siteUtilisation).toEqual([0.2, 0.25]);
    expect([numbers.gangsSplit, numbers.localsBackfilled]).toEqual([0.5, 0.5]);
  });

  test("no number where nothing has ended", () => {
    const empty = summariseSites(instance, { ...schedule, arrived: 0 });
    expect([empty.locals.responseS, empty.gangs.weightedResponseS, empty.gangsFinished]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });
});
