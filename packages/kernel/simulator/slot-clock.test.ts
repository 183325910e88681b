import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SlotClock } from "./slot-clock.ts";

describe("SlotClock", () => {
  test("slotAtOrAfter() is the first slot that begins at or after the time, despite rounding", () => {
    const length = fc.constantFrom(0.1, 0.3, 1, 7, 60, 1 / 3);
    fc.assert(
      fc.property(
        length,
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.nat({ max: 1e6 }),
        (lengthS, timeS, slot) => {
          const clock = new SlotClock(lengthS);
          const found = clock.slotAtOrAfter(timeS);
          expect(clock.startS(found)).toBeGreaterThanOrEqual(timeS);
          if (found > 0) expect(clock.startS(found - 1)).toBeLessThan(timeS);
          expect(clock.slotAtOrAfter(clock.startS(slot))).toBe(slot);
        },
      ),
    );
  });

  test("is never before the present slot", () => {
    const clock = new SlotClock(2);
    clock.slot = 5;
    expect(clock.slotAtOrAfter(3)).toBe(5);
    expect(clock.slotAtOrAfter(10)).toBe(5);
    expect(clock.slotAtOrAfter(10.5)).toBe(6);
  });

  test("setLength() holds from the present slot on", () => {
    const clock = new SlotClock(10);
    clock.slot = 3;
    clock.setLength(12);
    expect([3, 4, 5].map((slot) => clock.startS(slot))).toEqual([30, 42, 54]);
    clock.slot = 5;
    clock.setLength(10);
    expect(clock.startS(6)).toBe(64);
    expect(clock.slotAtOrAfter(60)).toBe(6);
  });
});
