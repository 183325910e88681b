import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exp, ln, power } from "./elementary.ts";

/** Returns the distance of two doubles in units in the last place of the expected one. */
function ulps(actual: number, expected: number): number {
  const [, exponent] = /e([+-]\d+)$/.exec(expected.toExponential()) ?? [];
  let ulp = Number.EPSILON * 2 ** Math.floor(Math.log2(Math.abs(expected)));
  if (Number(exponent) < -300) ulp = Math.max(ulp, Number.MIN_VALUE);
  return Math.abs(actual - expected) / ulp;
}

/** Positive normal numbers of every magnitude. */
const positive = fc
  .tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -1022, max: 1022 }))
  .map(([mantissa, exponent]) => mantissa * 2 ** exponent);

describe("ln()", () => {
  // The language defines the constants of Math exactly. ln 3, ln 4 and ln 5 are OEIS A002391, A016627 and
  // A016628.
  test.each([
    [2, Math.LN2],
    [10, Math.LN10],
    [4, 1.3862943611198906],
    [120, 3 * Math.LN2 + 1.0986122886681098 + 1.6094379124341003],
    [Math.E, 1],
  ])("of %d agrees with its known value", (x, expected) => {
    expect(ulps(ln(x), expected)).toBeLessThanOrEqual(2);
  });

  test("of 1 is exactly 0, of powers of two a multiple of ln 2 within 2 units", () => {
    expect(ln(1)).toBe(0);
    for (let e = -1022; e <= 1023; e++) {
      if (e !== 0) expect(ulps(ln(2 ** e), e * Math.LN2)).toBeLessThanOrEqual(2);
    }
  });

  test("is within 3 units in the last place of the engine's own, itself within 1", () => {
    fc.assert(
      fc.property(positive, (x) => x === 1 || ulps(ln(x), Math.log(x)) <= 3),
      { numRuns: 20_000 },
    );
  });

  test("is within 3 units close to 1, where the terms cancel", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 30 }), fc.boolean(), (steps, above) => {
        const x = 1 + (above ? 1 : -0.5) * steps * Number.EPSILON;
        return ulps(ln(x), Math.log(x)) <= 3;
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE])(
    "of %d, outside its range, is NaN",
    (x) => expect(ln(x)).toBeNaN(),
  );
});

describe("exp()", () => {
  test.each([
    [0, 1],
    [1, Math.E],
    [-1, 0.36787944117144233],
    [10, 22026.465794806718],
  ])("of %d agrees with its known value", (x, expected) => {
    expect(ulps(exp(x), expected)).toBeLessThanOrEqual(2);
  });

  test("is within 3 units in the last place of the engine's own over its whole range", () => {
    fc.assert(
      fc.property(fc.double({ min: -707, max: 709, noNaN: true }), (x) => ulps(exp(x), Math.exp(x)) <= 3),
      { numRuns: 20_000 },
    );
  });

  test("is 0 below its range, Infinity above, NaN of NaN, finite at the ends", () => {
    expect(exp(-708.5)).toBe(0);
    expect(exp(Number.NEGATIVE_INFINITY)).toBe(0);
    expect(exp(709.5)).toBe(Number.POSITIVE_INFINITY);
    expect(exp(Number.NaN)).toBeNaN();
    expect(exp(-708)).toBeGreaterThan(2.2250738585072014e-308);
    expect(exp(709)).toBeLessThan(Number.MAX_VALUE);
  });

  test("undoes ln() to a relative error of 10⁻¹² over the magnitudes of run times", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
        (x) => Math.abs(exp(ln(x)) / x - 1) < 1e-12,
      ),
      { numRuns: 5_000 },
    );
  });
});

describe("power()", () => {
  test("of small whole exponents is the repeated product", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 100, noNaN: true }), fc.integer({ min: 0, max: 8 }), (x, n) => {
        let product = 1;
        for (let i = 0; i < n; i++) product *= x;
        return Math.abs(power(x, n) / product - 1) < 1e-13;
      }),
    );
  });

  test("of ½ is the square root", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        (x) => Math.abs(power(x, 0.5) / Math.sqrt(x) - 1) < 1e-14,
      ),
    );
  });
});

describe("reproducibility", () => {
  test("the bits of some results are these in every engine", () => {
    // This does not test accuracy (see above). It is a tripwire: if these bits change, workloads and their
    // hashes do, too.
    const hex = (x: number) => {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, x);
      return view.getBigUint64(0).toString(16);
    };
    let state = "";
    for (const x of [0.1, 0.7, 3, 12345.678, 1e-300, 1e300]) state += `${hex(ln(x))} `;
    for (const x of [-700.1, -3.3, 0.1, 5.5, 700.1]) state += `${hex(exp(x))} `;
    expect(state).toMatchInlineSnapshot(
      `"c0026bb1bbb55515 bfd6d3c324e13f50 3ff193ea7aad030a 4022d79559791e31 c085963447f87fb5 4085963447f87fb5 cf52f93df4dfcf 3fa2e259bb85be84 3ff1aec7b35a00d4 406e96244f21bbf6 7f1058614179b2a5 "`,
    );
  });
});
