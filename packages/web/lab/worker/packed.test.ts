import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeTwice, pack, unpack } from "./packed.ts";

describe("packed results", () => {
  test("what is packed is unpacked again, to the last bit", () => {
    const data = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.double(),
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.float64Array(),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie("value"), { maxKeys: 4, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(data, (value) => {
        expect(unpack(pack(value))).toEqual(value);
      }),
    );
  });

  test("numbers that JSON does not have survive", () => {
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -0, 5e-324];
    expect(unpack(pack(odd))).toEqual(odd);
  });

  test("two equal computations agree", () => {
    const { packed, mismatches } = computeTwice(() => ({ mean: 0.1 + 0.2 }));
    expect(mismatches).toBe(0);
    expect(unpack(packed)).toEqual({ mean: 0.30000000000000004 });
  });

  test("a computation that went wrong once is repeated, and that is counted", () => {
    const values = [0.1, 0.3, 0.3, 0.4];
    let next = 0;
    const { packed, mismatches } = computeTwice(() => [values[next++]]);
    expect(unpack(packed)).toEqual([0.3]);
    expect(mismatches).toBe(1);
  });

  test("a value that changes after it was packed does not change the packed one", () => {
    const kept = { mean: 0.5 };
    let calls = 0;
    const { mismatches } = computeTwice(() => {
      // As V8's fault does it: the second computation writes into the first result.
      if (calls++ > 0) kept.mean = 0.25;
      return kept;
    });
    expect(mismatches).toBe(1);
  });

  test("numbers that never agree are refused", () => {
    let next = 0;
    expect(() => computeTwice(() => next++)).toThrow("gave different numbers");
  });
});
