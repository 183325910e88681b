import { describe, expect, test } from "vitest";
import { logarithmicScale, roundScale } from "./chart.ts";

describe("roundScale()", () => {
  test.each([
    [
      [0, 206],
      [0, 50, 100, 150, 200, 250],
    ],
    [
      [0.2, 0.9],
      [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
    ],
    [
      [0, 1410],
      [0, 300, 600, 900, 1200, 1500],
    ],
    [
      [-3, 4],
      [-3, -2, -1, 0, 1, 2, 3, 4],
    ],
    [[2], [1, 1.5, 2, 2.5, 3]],
    [
      [0, 0],
      [0, 0.2, 0.4, 0.6, 0.8, 1],
    ],
    [[], [0, 0.2, 0.4, 0.6, 0.8, 1]],
  ])("%j has the ticks %j", (values, ticks) => {
    const { ticks: round, share } = roundScale(values);
    expect(round).toEqual(ticks);
    expect(share(ticks[0])).toBe(0);
    expect(share(ticks[ticks.length - 1])).toBe(1);
  });
});

describe("logarithmicScale()", () => {
  test.each([
    [
      [300, 412_000],
      [100, 1000, 10_000, 100_000, 1_000_000],
    ],
    [
      [1, 100],
      [1, 10, 100],
    ],
    [
      [0.02, 0.02],
      [0.01, 0.1],
    ],
    [[1000], [1000, 10_000]],
  ])("%j has the ticks %j", (values, ticks) => {
    const { ticks: powers, share } = logarithmicScale(values);
    expect(powers).toEqual(ticks);
    expect(share(ticks[0])).toBe(0);
    expect(share(ticks[1])).toBeCloseTo(1 / (ticks.length - 1), 12);
  });
});
