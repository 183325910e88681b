import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashColumns, hashWorkload, murmur3 } from "./hash.ts";
import { anyWorkload, workloadOf } from "./workloads-for-tests.ts";

describe("murmur3()", () => {
  // Widely published vectors of MurmurHash3_x86_32 for whole words.
  test.each([
    [[], 0, 0],
    [[], 1, 0x514e28b7],
    [[], 0xffffffff, 0x81f16f39],
    [[0xffffffff], 0, 0x76293b50],
    [[0x87654321], 0, 0xf55b516b],
    [[0x87654321], 0x5082edee, 0x2362f9de],
    [[0], 0, 0x2362f9de],
    [[0x61616161], 0x9747b28c, 0x5a97808a],
  ])("of the words %j with seed %d is the published value", (words, seed, expected) => {
    expect(
      murmur3(
        Int32Array.from(words, (word) => word | 0),
        seed,
      ),
    ).toBe(expected);
  });
});

describe("hashColumns()", () => {
  test("is 16 hexadecimal digits, the first 8 the plain MurmurHash3 of length and words", () => {
    const words = [3, 10, -20, 30];
    const expected = murmur3(Int32Array.from(words), 0).toString(16).padStart(8, "0");
    const hash = hashColumns(Int32Array.of(10, -20, 30));
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    expect(hash.slice(0, 8)).toBe(expected);
  });

  test("hashes a double as its low word, then its high word", () => {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, 1234.5678);
    const words = Int32Array.of(1, view.getInt32(4), view.getInt32(0));
    expect(hashColumns(Float64Array.of(1234.5678)).slice(0, 8)).toBe(
      murmur3(words, 0).toString(16).padStart(8, "0"),
    );
  });

  test("depends on where one column ends and the next begins", () => {
    expect(hashColumns(Int32Array.of(1, 2), Int32Array.of(3))).not.toBe(
      hashColumns(Int32Array.of(1), Int32Array.of(2, 3)),
    );
    expect(hashColumns()).not.toBe(hashColumns(Int32Array.of()));
  });

  test("takes all NaN as one, and −0 as 0", () => {
    const strange = new Float64Array(1);
    new Uint32Array(strange.buffer).fill(0xffffffff);
    expect(strange[0]).toBeNaN();
    expect(hashColumns(strange)).toBe(hashColumns(Float64Array.of(Number.NaN)));
    expect(hashColumns(Float64Array.of(-0))).toBe(hashColumns(Float64Array.of(0)));
    expect(hashColumns(Float64Array.of(Number.NaN))).not.toBe(hashColumns(Float64Array.of(0)));
  });

  test("of a part of a longer buffer is that of the part alone", () => {
    const whole = Float64Array.of(1, 2, 3, 4);
    expect(hashColumns(whole.subarray(1, 3))).toBe(hashColumns(Float64Array.of(2, 3)));
  });
});

describe("hashWorkload()", () => {
  test("depends on the jobs and on nothing else", () => {
    const rows = [{ submitS: 0, runS: 10, size: 2, estimateS: 20 }];
    const hash = hashWorkload(workloadOf(rows));
    expect(hashWorkload({ ...workloadOf(rows, 64), name: "other", header: ["; x"] })).toBe(hash);
    for (const change of [{ submitS: 1 }, { runS: 11 }, { size: 3 }, { estimateS: 21 }]) {
      expect(hashWorkload(workloadOf([{ ...rows[0], ...change }]))).not.toBe(hash);
    }
  });

  test("changes whenever one value of a column changes", () => {
    fc.assert(
      fc.property(
        anyWorkload,
        fc.nat(),
        fc.constantFrom("submitS", "runS", "estimateS"),
        (workload, at, column) => {
          fc.pre(workload.count > 0);
          const before = hashWorkload(workload);
          workload.jobs[column][at % workload.count] += 1;
          return hashWorkload(workload) !== before;
        },
      ),
    );
  });
});
