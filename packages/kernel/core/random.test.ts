import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random, seedOfPart } from "./random.ts";

const draw = (count: number, next: () => number) => Array.from({ length: count }, next);
const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;

/** The oracle: the published C code of xoshiro128** 1.1, line by line in BigInt arithmetic modulo 2^32. */
function reference(state: readonly number[]): () => number {
  const s = state.map((word) => BigInt.asUintN(32, BigInt(word)));
  const u32 = (x: bigint) => BigInt.asUintN(32, x);
  const rotl = (x: bigint, k: bigint) => u32((x << k) | (x >> (32n - k)));
  return () => {
    const result = u32(rotl(u32(s[1] * 5n), 7n) * 9n);
    const t = u32(s[1] << 9n);
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11n);
    return Number(result);
  };
}

describe("nextUint32()", () => {
  test("gives the published sequence of xoshiro128** from the state 1, 2, 3, 4", () => {
    // Vector of the rand_xoshiro crate, made there with the authors' C program.
    const random = Random.fromState([1, 2, 3, 4]);
    expect(draw(10, () => random.nextUint32())).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
  });

  test("agrees with the published code from any state", () => {
    const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(
      fc.property(fc.tuple(word, word, word, word), (state) => {
        const random = Random.fromState(state);
        const expected = reference(state);
        for (let i = 0; i < 50; i++) expect(random.nextUint32()).toBe(expected());
      }),
    );
  });
});

describe("new Random()", () => {
  test("the same seed and stream give the same numbers, another seed or stream others", () => {
    const first = (seed: number, stream: string) => {
      const random = new Random(seed, stream);
      return `${random.nextUint32()} ${random.nextUint32()}`;
    };
    expect(first(7, "arrivals")).toBe(first(7, "arrivals"));
    const seeds = [
      0,
      1,
      -1,
      2,
      3,
      2 ** 32,
      2 ** 32 + 1,
      -(2 ** 32),
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
    ];
    for (let seed = 4; seed < 1000; seed++) seeds.push(seed);
    const all = seeds.flatMap((seed) =>
      ["", "a", "b", "ab", "ba", "arrivals", "sizes", "runs"].map((s) => first(seed, s)),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses the seed %d", (seed) => {
    expect(() => new Random(seed)).toThrow(
      /Cannot seed the generator with .*expected an integer of at most 53 bits/,
    );
  });

  test("streams of one seed are not correlated", () => {
    const n = 20_000;
    const a = new Random(1, "sizes");
    const b = new Random(1, "runs");
    let sum = 0;
    for (let i = 0; i < n; i++) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    // Standard deviation of the mean of the products: (1/12)/√n.
    expect(Math.abs(sum / n)).toBeLessThan(4 / 12 / Math.sqrt(n));
  });
});

describe("uniform()", () => {
  test("is neither 0 nor 1 at the ends of the generator's range", () => {
    // States whose first two outputs are both 0, and both 2^32 − 1: s1 is the unscrambled output.
    const inverse = (a: number) => {
      let x = a;
      for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(a, x));
      return x | 0;
    };
    const unrotated = (x: number) => (x >>> 7) | (x << 25);
    const allOnes = Math.imul(unrotated(Math.imul(-1, inverse(9))), inverse(5));
    expect(Random.fromState([7, allOnes, 7, 5]).nextUint32()).toBe(0xffffffff);
    expect(Random.fromState([7, allOnes, 7, 5]).uniform()).toBeLessThan(1);
    expect(Random.fromState([7, 0, 7, 5]).nextUint32()).toBe(0);
    expect(Random.fromState([7, 0, 7, 5]).uniform()).toBeGreaterThan(0);
  });

  test("fills 100 equal parts of (0, 1) evenly (chi square)", () => {
    const random = new Random(11);
    const n = 100_000;
    const counts = new Array<number>(100).fill(0);
    for (let i = 0; i < n; i++) counts[Math.floor(random.uniform() * 100)]++;
    const chi = counts.reduce((sum, c) => sum + (c - n / 100) ** 2 / (n / 100), 0);
    // 99 degrees of freedom: 0.1 % and 99.9 % points are 61.1 and 148.2.
    expect(chi).toBeGreaterThan(61.1);
    expect(chi).toBeLessThan(148.2);
  });
});

describe("below()", () => {
  test("draws every number below the bound equally often (chi square)", () => {
    const random = new Random(12);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) counts[random.below(7)]++;
    const chi = counts.reduce((sum, c) => sum + (c - 10_000) ** 2 / 10_000, 0);
    expect(chi).toBeLessThan(22.5); // 6 degrees of freedom, 0.1 %
  });

  test("has no bias where the bound does not divide 2^32: the low half is not favoured", () => {
    const random = new Random(13);
    const bound = 3 * 2 ** 30; // without rejection, 0 … 2^30 − 1 would come twice as often as the rest
    const n = 30_000;
    let low = 0;
    for (let i = 0; i < n; i++) if (random.below(bound) < 2 ** 30) low++;
    expect(Math.abs(low / n - 1 / 3)).toBeLessThan(4 * Math.sqrt(2 / 9 / n));
  });

  test("stays below any legal bound and refuses others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.integer(), (bound, seed) => {
        const value = new Random(seed).below(bound);
        return Number.isInteger(value) && value >= 0 && value < bound;
      }),
    );
    for (const bound of [0, -1, 1.5, Number.NaN, 2 ** 32 + 1]) {
      expect(() => new Random(1).below(bound)).toThrow(
        /Cannot draw below .*expected an integer from 1 to 2\^32/,
      );
    }
  });
});

describe("exponential()", () => {
  test("has its mean, its variance and its median", () => {
    const random = new Random(14);
    const n = 100_000;
    const values = draw(n, () => random.exponential(5));
    expect(Math.min(...values.slice(0, 1000))).toBeGreaterThan(0);
    expect(Math.abs(mean(values) - 5)).toBeLessThan((4 * 5) / Math.sqrt(n));
    // Var((x − 5)²) = (9 − 1)·5⁴.
    expect(Math.abs(mean(values.map((x) => (x - 5) ** 2)) - 25)).toBeLessThan(
      (4 * Math.sqrt(8) * 25) / Math.sqrt(n),
    );
    const belowMedian = values.filter((x) => x < 5 * Math.LN2).length / n;
    expect(Math.abs(belowMedian - 0.5)).toBeLessThan((4 * 0.5) / Math.sqrt(n));
  });
});

describe("normal()", () => {
  test("has mean 0, variance 1, no skew and the kurtosis 3", () => {
    const random = new Random(15);
    const n = 100_000;
    const values = draw(n, () => random.normal());
    const tolerance = 4 / Math.sqrt(n);
    expect(Math.abs(mean(values))).toBeLessThan(tolerance);
    expect(Math.abs(mean(values.map((x) => x ** 2)) - 1)).toBeLessThan(tolerance * Math.sqrt(2));
    expect(Math.abs(mean(values.map((x) => x ** 3)))).toBeLessThan(tolerance * Math.sqrt(15));
    expect(Math.abs(mean(values.map((x) => x ** 4)) - 3)).toBeLessThan(tolerance * Math.sqrt(96));
  });

  test("lies within 1.96 in 95 % of the draws", () => {
    const random = new Random(16);
    const inside = draw(50_000, () => random.normal()).filter((x) => Math.abs(x) < 1.959964).length / 50_000;
    expect(Math.abs(inside - 0.95)).toBeLessThan(4 * Math.sqrt((0.95 * 0.05) / 50_000));
  });
});

describe("seedOfPart()", () => {
  test("parts of one seed and of neighbouring seeds have different seeds of 53 bits, the same ones again", () => {
    const names = Array.from({ length: 500 }, (_, i) => `set ${i}`);
    const seeds = [1, 2, 3].flatMap((seed) => names.map((name) => seedOfPart(seed, name)));
    expect(new Set(seeds).size).toBe(1500);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    // Half of them have the highest of the 53 bits; within 5 standard deviations of 19.4.
    expect(Math.abs(seeds.filter((seed) => seed >= 2 ** 52).length - 750)).toBeLessThan(97);
    expect(seedOfPart(1, "set 0")).toBe(seeds[0]);
  });
});
