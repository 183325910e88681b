import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "../core/random.ts";
import { quantilesInPlace } from "../core/selection.ts";
import { orderOf } from "./quantiles.ts";

describe("orderOf()", () => {
  test("sorts like a stable sort by comparison and leaves NaN out", () => {
    const key = fc.oneof(fc.double(), fc.integer({ min: -5, max: 5 }), fc.constant(-0));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
        const naive = keys.map((_, row) => row).filter((row) => !Number.isNaN(keys[row]));
        naive.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
        expect([...orderOf(Float64Array.from(keys))]).toEqual(naive);
      }),
    );
  });
});

describe("quantilesInPlace()", () => {
  test("agrees with sorting and interpolating, in the asked part of the array only", () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.double({ noNaN: true, min: -1e6, max: 1e6 }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 300 }),
        fc.nat(20),
        fc.nat(20),
        (list, cut, drop) => {
          const from = Math.min(cut, list.length - 1);
          const to = Math.max(from + 1, list.length - drop);
          const shares = [0, 0.25, 0.5, 0.9, 0.95, 0.99, 1];
          const sorted = list.slice(from, to).sort((a, b) => a - b);
          const expected = shares.map((share) => {
            const rank = share * (sorted.length - 1);
            const low = sorted[Math.floor(rank)];
            const high = sorted[Math.ceil(rank)];
            return low + (high - low) * (rank - Math.floor(rank));
          });
          const values = Float64Array.from(list);
          const got = quantilesInPlace(values, from, to, shares);
          got.forEach((quantile, i) => {
            expect(quantile).toBeCloseTo(expected[i], 9);
          });
          expect([...values.slice(0, from)]).toEqual(list.slice(0, from).map((x) => x + 0 * x));
          expect([...values.slice(to)]).toEqual(list.slice(to));
          expect([...values.slice(from, to)].sort((a, b) => a - b)).toEqual(sorted);
        },
      ),
    );
  });

  test("agrees with sorting on long columns, few distinct values among them", () => {
    for (const distinct of [2, 50, 1e9]) {
      const random = new Random(distinct);
      const values = Float64Array.from({ length: 20001 }, () => random.below(distinct));
      const sorted = values.slice().sort();
      const shares = [0.01, 0.5, 0.9, 0.95, 0.99];
      const expected = shares.map((share) => sorted[share * 20000]);
      expect(quantilesInPlace(values, 0, 20001, shares)).toEqual(expected);
    }
  });

  test("type 7 of Hyndman and Fan: R gives 1.9 as the 0.3 quantile of 1, 2, 3, 4", () => {
    expect(quantilesInPlace(Float64Array.of(4, 1, 3, 2), 0, 4, [0.3])[0]).toBeCloseTo(1.9, 12);
  });

  test("without values gives NaN", () => {
    expect(quantilesInPlace(new Float64Array(0), 0, 0, [0.5])).toEqual([Number.NaN]);
  });
});
