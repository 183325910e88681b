import fc from "fast-check";
import { expect, test } from "vitest";
import { RisingNumbers } from "./rising-numbers.ts";

/** Changes as the book makes them: new numbers are the greatest so far, and removed ones may come back. */
const changes = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({ kind: fc.constant("new" as const), step: fc.integer({ min: 1, max: 3 }) }),
      weight: 3,
    },
    { arbitrary: fc.record({ kind: fc.constant("go" as const), which: fc.nat() }), weight: 2 },
    { arbitrary: fc.record({ kind: fc.constant("back" as const), which: fc.nat() }), weight: 1 },
  ),
  { maxLength: 300, size: "max" },
);

test("RisingNumbers equals a sorted list, whatever is added, removed and added again", () => {
  fc.assert(
    fc.property(changes, fc.array(fc.tuple(fc.nat(400), fc.nat(400), fc.nat(60))), (steps, looks) => {
      const numbers = new RisingNumbers();
      const there = new Set<number>();
      const gone: number[] = [];
      let latest = 0;
      for (const step of steps) {
        if (step.kind === "new") {
          latest += step.step;
          there.add(latest);
          numbers.add(latest);
        } else if (step.kind === "go" && there.size > 0) {
          const number = [...there][step.which % there.size];
          there.delete(number);
          gone.push(number);
          numbers.delete(number);
        } else if (step.kind === "back" && gone.length > 0) {
          const [number = 0] = gone.splice(step.which % gone.length, 1);
          there.add(number);
          numbers.add(number);
        }
      }
      const sorted = [...there].sort((a, b) => a - b);
      expect(numbers.size).toBe(sorted.length);
      for (const [first, last, most] of [...looks, [0, latest, 1000] as const]) {
        expect(numbers.rising(first, last, most)).toEqual(
          sorted.filter((one) => one >= first && one <= last).slice(0, most),
        );
        const upTo = sorted.filter((one) => one <= last);
        expect(numbers.falling(last, most)).toEqual(
          upTo.slice(upTo.length - Math.min(most, upTo.length)).reverse(),
        );
      }
    }),
  );
});
