import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activeRow, slotAt } from "./turns.ts";

const turns = { epochMs: 1000, slotMs: 100, rows: { length: 2 } };

describe("activeRow()", () => {
  test("is the row of the slot, before and after the epoch and from another slot on", () => {
    // Slots of 100 ms from 1000 on: rows 0, 1, 0, 1, …
    expect([1000, 1099.9, 1100, 1250, 950].map((nowMs) => activeRow(turns, nowMs))).toEqual([0, 0, 1, 0, 1]);
    expect(activeRow({ ...turns, fromSlot: 3 }, 1300)).toBe(0);
    expect(activeRow({ ...turns, fromSlot: 3 }, 1100)).toBe(0);
    expect(activeRow({ ...turns, rows: { length: 0 } }, 1300)).toBe(-1);
  });

  test("is found by counting slots one by one", () => {
    const counted = (rows: number, fromSlot: number, slot: number) => {
      let row = 0;
      for (let at = fromSlot; at < slot; at++) row = row === rows - 1 ? 0 : row + 1;
      for (let at = fromSlot; at > slot; at--) row = row === 0 ? rows - 1 : row - 1;
      return row;
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: 0, max: 9 }),
        (rows, fromSlot, slot, tenth) => {
          const nowMs = 1000 + slot * 100 + tenth * 10;
          expect(slotAt(turns, nowMs)).toBe(slot);
          expect(activeRow({ ...turns, fromSlot, rows: { length: rows } }, nowMs)).toBe(
            counted(rows, fromSlot, slot),
          );
        },
      ),
    );
  });
});
