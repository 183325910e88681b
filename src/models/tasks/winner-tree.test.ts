import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WinnerTree } from "./winner-tree.ts";

describe("WinnerTree", () => {
  test("first, firstTime, time() agree with a search of a plain array after any settings", () => {
    const setting = fc.tuple(fc.nat(40), fc.oneof(fc.nat(9), fc.constant(Number.POSITIVE_INFINITY)));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 41 }),
        fc.array(setting, { maxLength: 80 }),
        (count, settings) => {
          const tree = new WinnerTree(count);
          const plain = new Array<number>(count).fill(Number.POSITIVE_INFINITY);
          for (const [at, time] of settings) {
            const index = at % count;
            tree.set(index, time);
            plain[index] = time;
            tree.audit();
            expect(tree.firstTime).toBe(Math.min(...plain));
            expect(tree.first).toBe(plain.indexOf(Math.min(...plain)));
            expect(tree.time(index)).toBe(time);
          }
        },
      ),
    );
  });

  test("set() refuses NaN", () => {
    expect(() => new WinnerTree(3).set(1, Number.NaN)).toThrow(RangeError);
  });
});
