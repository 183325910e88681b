import { describe, expect, test } from "vitest";
import { Random } from "../../core/random.ts";
import { drawGamma, gammaCdf, lnGamma } from "./gamma.ts";

const relative = (value: number, expected: number) => Math.abs(value - expected) / Math.abs(expected);

describe("lnGamma()", () => {
  test("of whole and half numbers is the logarithm of the factorial and of its published values", () => {
    let factorial = 1;
    for (let n = 1; n <= 20; n++) {
      factorial *= n;
      expect(Math.abs(lnGamma(n + 1) - Math.log(factorial))).toBeLessThan(1e-13 * (1 + Math.log(factorial)));
    }
    expect(lnGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 14);
    // Abramowitz and Stegun 1964, table 6.1 and 6.1.10: Γ(1/4), Γ(1/3), Γ(1.5); ln Γ(100) = ln 99!.
    expect(relative(Math.exp(lnGamma(0.25)), 3.625609908221908)).toBeLessThan(1e-14);
    expect(relative(Math.exp(lnGamma(1 / 3)), 2.678938534707747)).toBeLessThan(1e-14);
    expect(relative(Math.exp(lnGamma(1.5)), 0.886226925452758)).toBeLessThan(1e-14);
    expect(relative(lnGamma(100), 359.1342053695754)).toBeLessThan(1e-15);
  });

  test("holds the reflection and the duplication formula", () => {
    for (const x of [0.001, 0.1, 0.37, 0.9]) {
      expect(lnGamma(x) + lnGamma(1 - x)).toBeCloseTo(Math.log(Math.PI / Math.sin(Math.PI * x)), 12);
    }
    for (const x of [0.2, 3.7, 14.9, 15.1, 80]) {
      const doubled = lnGamma(x) + lnGamma(x + 0.5) + (2 * x - 1) * Math.LN2 - 0.5 * Math.log(Math.PI);
      expect(relative(lnGamma(2 * x), doubled)).toBeLessThan(1e-13);
    }
  });
});

describe("gammaCdf()", () => {
  test.each([
    // χ² with k degrees of freedom is Gamma(k/2, 2): published percentage points.
    [3.841459, 1, 0.95],
    [6.634897, 1, 0.99],
    [0.00393214, 1, 0.05],
    [11.0705, 5, 0.95],
    [15.08627, 5, 0.99],
    [18.30704, 10, 0.95],
    [3.940299, 10, 0.05],
    [124.3421, 100, 0.95],
    [70.06489, 100, 0.01],
  ])("gives the χ² table: P(X ≤ %d) with %d degrees of freedom is %d", (x, degrees, expected) => {
    expect(Math.abs(gammaCdf(x, degrees / 2, 2) - expected)).toBeLessThan(1e-6);
  });

  test("is erf for shape ½ and the Erlang formula for whole shapes", () => {
    expect(gammaCdf(1, 0.5, 1)).toBeCloseTo(0.8427007929497149, 14);
    expect(gammaCdf(0.25, 0.5, 1)).toBeCloseTo(0.5204998778130465, 14);
    for (const shape of [1, 2, 7, 40]) {
      for (const x of [0.1, 1, 5, 30, 60]) {
        let term = 1;
        let tail = 0;
        for (let k = 0; k < shape; k++) {
          tail += term;
          term *= x / (k + 1);
        }
        expect(Math.abs(gammaCdf(3 * x, shape, 3) - (1 - Math.exp(-x) * tail))).toBeLessThan(1e-13);
      }
    }
  });

  test("rises from 0 to 1 without a step where the two expansions meet", () => {
    expect(gammaCdf(0, 4, 1)).toBe(0);
    expect(gammaCdf(-3, 4, 1)).toBe(0);
    expect(gammaCdf(1e6, 4, 1)).toBe(1);
    for (const shape of [0.3, 4.2, 312, 639.1]) {
      const at = shape + 1;
      const below = gammaCdf(at - 1e-9, shape, 1);
      const above = gammaCdf(at + 1e-9, shape, 1);
      expect(above).toBeGreaterThan(below);
      expect(above - below).toBeLessThan(1e-8);
    }
  });
});

describe("drawGamma()", () => {
  test.each([
    [0.05, 2],
    [0.3, 1],
    [1, 5],
    [4.2, 0.94],
    [312, 0.03],
  ])(
    "shape %d, scale %d: falls into 40 equally likely intervals equally often, mean and variance as they should be",
    (shape, scale) => {
      const random = new Random(21, `gamma ${shape}`);
      const n = 100_000;
      const counts = new Array<number>(40).fill(0);
      let sum = 0;
      let squares = 0;
      for (let i = 0; i < n; i++) {
        const x = drawGamma(shape, scale, random);
        counts[Math.min(39, Math.floor(40 * gammaCdf(x, shape, scale)))]++;
        sum += x;
        squares += (x - shape * scale) ** 2;
      }
      const chi = counts.reduce((total, count) => total + (count - n / 40) ** 2 / (n / 40), 0);
      expect(chi).toBeGreaterThan(17.3); // 39 degrees of freedom: 0.1 % and 99.9 % points
      expect(chi).toBeLessThan(72.1);
      const variance = shape * scale * scale;
      expect(Math.abs(sum / n - shape * scale)).toBeLessThan(4 * Math.sqrt(variance / n));
      // Var((x − μ)²) = (3 + 6/shape − 1) · variance².
      expect(Math.abs(squares / n - variance)).toBeLessThan(4 * variance * Math.sqrt((2 + 6 / shape) / n));
    },
  );
});
