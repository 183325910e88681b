import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RangeMax } from "./range-max.ts";

const range = fc.tuple(fc.nat(), fc.nat());
const operation = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), range, delta: fc.integer({ min: -5, max: 9 }) }),
  fc.record({ kind: fc.constant("max" as const), range, delta: fc.constant(0) }),
);

describe("RangeMax", () => {
  test("add() and max() agree with a plain array after any operations", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(operation, { maxLength: 60 }),
        (processors, operations) => {
          const tree = new RangeMax(processors);
          const plain = new Array<number>(processors).fill(0);
          for (const {
            kind,
            range: [a, b],
            delta,
          } of operations) {
            const ends = [a % (processors + 1), b % (processors + 1)].sort((x, y) => x - y);
            const [first, end] = ends as [number, number];
            const within = plain.slice(first, end);
            if (kind === "add") {
              tree.add(first, end, delta);
              for (let at = first; at < end; at++) plain[at] = (plain[at] as number) + delta;
              expect(plain.map((_, at) => tree.max(at, at + 1))).toEqual(plain);
              expect(tree.max(0, processors)).toBe(Math.max(...plain));
            } else {
              expect(tree.max(first, end)).toBe(
                within.length === 0 ? Number.NEGATIVE_INFINITY : Math.max(...within),
              );
            }
          }
        },
      ),
      { numRuns: 400, seed: 7 },
    );
  });

  test("add() refuses processors that the machine does not have", () => {
    expect(() => new RangeMax(5).add(3, 6, 1)).toThrow("processors 3 to 5 exist");
  });
});
