import fc from "fast-check";
import { expect, test } from "vitest";
import { fairLevel } from "./fair-share.ts";

test.each([
  { amounts: [], room: 5, level: Number.POSITIVE_INFINITY },
  { amounts: [2, 3], room: 5, level: Number.POSITIVE_INFINITY },
  { amounts: [9], room: 5, level: 5 },
  { amounts: [1, 9, 9], room: 9, level: 4 },
  { amounts: [1, 3, 9], room: 9, level: 5 },
  { amounts: [2, 2, 2], room: 4, level: 1 },
  { amounts: [1, 1, 1], room: 0, level: 0 },
])("fairLevel() of $amounts in a room of $room is $level", ({ amounts, room, level }) => {
  expect(fairLevel(amounts, room)).toBe(level);
});

test("fairLevel() equals taking one at a time from the largest until all fit", () => {
  const amount = fc.integer({ min: 0, max: 30 });
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 8 }), fc.integer({ min: 0, max: 100 }), (amounts, room) => {
      const left = [...amounts];
      const sum = () => left.reduce((total, one) => total + one, 0);
      while (sum() > room) left[left.indexOf(Math.max(...left))]--;
      const level = fairLevel(amounts, room);
      const cut = amounts.map((one) => Math.min(one, level));
      // If the room cannot be divided evenly, the twin may give one more to some users.
      amounts.forEach((_, i) => {
        expect(left[i] - cut[i]).toBeGreaterThanOrEqual(0);
        expect(left[i] - cut[i]).toBeLessThanOrEqual(1);
      });
      for (const one of amounts) if (one <= room / amounts.length) expect(level).toBeGreaterThanOrEqual(one);
    }),
  );
});
