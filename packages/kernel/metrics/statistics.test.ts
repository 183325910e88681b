import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sumOf } from "./compensated-sum.ts";
import {
  confidenceInterval,
  normalQuantile,
  pairedDifference,
  studentQuantile,
  testMean,
} from "./statistics.ts";

/** Printed tables of Student's t (for example NIST/SEMATECH e-Handbook, 1.3.6.7.2), with three decimals. */
const DF = [1, 2, 3, 4, 5, 10, 20, 30, 60, 100, Number.POSITIVE_INFINITY];
const TABLE: Record<string, number[]> = {
  "0.95": [6.314, 2.92, 2.353, 2.132, 2.015, 1.812, 1.725, 1.697, 1.671, 1.66, 1.645],
  "0.975": [12.706, 4.303, 3.182, 2.776, 2.571, 2.228, 2.086, 2.042, 2.0, 1.984, 1.96],
  "0.995": [63.657, 9.925, 5.841, 4.604, 4.032, 3.169, 2.845, 2.75, 2.66, 2.626, 2.576],
};

describe("studentQuantile()", () => {
  test("gives the printed table", () => {
    for (const [p, row] of Object.entries(TABLE)) {
      expect(DF.map((df) => Number(studentQuantile(Number(p), df).toFixed(3)))).toEqual(row);
    }
  });

  test("one and two degrees have closed forms", () => {
    for (const p of [0.001, 0.2, 0.5, 0.75, 0.9999]) {
      expect(studentQuantile(p, 1)).toBeCloseTo(Math.tan(Math.PI * (p - 0.5)), 6);
      expect(studentQuantile(p, 2)).toBeCloseTo((2 * p - 1) / Math.sqrt(2 * p * (1 - p)), 8);
    }
  });

  test("is continuous where the method changes, falls with df and is odd in p", () => {
    expect(studentQuantile(0.975, 999.999999)).toBeCloseTo(studentQuantile(0.975, 1000), 9);
    expect(studentQuantile(0.975, 1.5)).toBeLessThan(studentQuantile(0.975, 1));
    expect(studentQuantile(0.975, 1.5)).toBeGreaterThan(studentQuantile(0.975, 2));
    expect(studentQuantile(0.1, 7)).toBe(-studentQuantile(0.9, 7));
  });

  test("refuses what has no quantile", () => {
    expect(() => studentQuantile(1, 3)).toThrow("between 0 and 1");
    expect(() => studentQuantile(0.9, 0)).toThrow("1 or more");
  });
});

test("normalQuantile() gives the printed values", () => {
  expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 12);
  expect(normalQuantile(0.9995)).toBeCloseTo(3.290526731491926, 10);
  expect(normalQuantile(0.25)).toBe(-normalQuantile(0.75));
});

test("confidenceInterval() agrees with the two-pass formula", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2 }), (values) => {
      const interval = confidenceInterval(values);
      const mean = values.reduce((a, b) => a + b) / values.length;
      const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
      expect(interval.count).toBe(values.length);
      expect(interval.mean).toBeCloseTo(mean, 8);
      expect(interval.sd ** 2).toBeCloseTo(variance, 6);
    }),
  );
});

describe("confidenceInterval()", () => {
  test("hand-worked: 1 … 5 is 3 ± 2.776·√2.5/√5", () => {
    const interval = confidenceInterval([1, 2, 3, 4, 5]);
    expect(interval.mean).toBe(3);
    expect(interval.sd).toBeCloseTo(Math.sqrt(2.5), 12);
    expect(interval.half).toBeCloseTo(2.7764451 * Math.SQRT1_2, 6);
  });

  test("one value has no width, none has no mean", () => {
    expect(confidenceInterval([7])).toMatchObject({ mean: 7, half: Number.NaN });
    expect(confidenceInterval([]).mean).toBeNaN();
  });
});

test("pairedDifference() is far narrower than the means when replications vary together", () => {
  const a = [10, 20, 30, 40];
  const b = [9, 19.5, 29, 39.5];
  const difference = pairedDifference(a, b);
  expect(difference.mean).toBe(0.75);
  expect(difference.half).toBeCloseTo((3.1824463 * Math.sqrt(0.25 / 3)) / 2, 6);
  expect(confidenceInterval(a).half).toBeGreaterThan(20);
  expect(() => pairedDifference(a, [1])).toThrow("expected equal numbers");
});

test("sumOf() keeps what a plain sum loses", () => {
  expect(sumOf([1, 1e100, 1, -1e100])).toBe(2);
  expect(sumOf([5, 1, 2, 9], 1, 3)).toBe(3);
});

describe("testMean()", () => {
  test("hand-worked: 1 … 5 against 4.5 of 20 runs", () => {
    // Mean 3, variance 2.5: t = −1.5 ÷ √(2.5 (1/5 + 1/20)) = −1.5 ÷ √0.625; quantile from the printed table,
    // df 4.
    const { t, quantile, otherCount } = testMean([1, 2, 3, 4, 5], 4.5, 20);
    expect(t).toBeCloseTo(-1.5 / Math.sqrt(0.625), 12);
    expect(quantile).toBeCloseTo(2.776, 3);
    expect(otherCount).toBe(20);
  });

  test("many runs on the other side leave the one-sample t: 1 … 5 against 4", () => {
    expect(testMean([1, 2, 3, 4, 5], 4, 1e12).t).toBeCloseTo(-Math.SQRT2, 6);
  });

  test("values that do not vary differ from every other mean, and not from their own", () => {
    expect(testMean([2, 2, 2], 2, 5).t).toBe(0);
    expect(testMean([2, 2, 2], 1, 5).t).toBe(Number.POSITIVE_INFINITY);
    expect(() => testMean([2], 1, 5)).toThrow("expected 2 or more");
  });

  test("samples of one distribution exceed the quantile in one case of twenty", () => {
    const random = generator(7);
    const sample = (count: number) => Array.from({ length: count }, () => normalQuantile(random()));
    let beyond = 0;
    const cases = 4000;
    for (let i = 0; i < cases; i++) {
      const others = sample(20);
      const { t, quantile } = testMean(sample(5), others.reduce((a, b) => a + b) / 20, 20);
      if (Math.abs(t) > quantile) beyond++;
    }
    // Binomial with p = 0.05: 200 ± 3.5 · 13.8.
    expect(Math.abs(beyond - 200)).toBeLessThan(48);
  });
});

/** Park and Miller's minimal standard generator. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
