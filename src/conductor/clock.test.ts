import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { monotonicMs } from "../host/clock.ts";
import { quantile, rowAt, rowOnTurn, SlotClock, SwitchRecord, slotAt } from "./clock.ts";

test("rowOnTurn(): the row of the slot, or the next in the round with a gang left", () => {
  const rows = [["a", "b"], [], ["c"]];
  const turns = (...left: string[]) =>
    [0, 1, 2, 3].map((slot) => rowOnTurn(rows, slot, (gang) => left.includes(gang)).join(""));
  expect(turns("a", "b", "c")).toEqual(["ab", "c", "c", "ab"]);
  expect(turns("b", "c")).toEqual(["ab", "c", "c", "ab"]);
  expect(turns("c")).toEqual(["c", "c", "c", "c"]);
  expect(turns()).toEqual(["", "", "", ""]);
  expect(rowOnTurn([], 5, () => true)).toEqual([]);
});

test("slotAt() and rowAt(): slot k begins at epoch + k·L and is row k modulo rows, before the epoch too", () => {
  expect([-1, 0, 99, 100, 250].map((ms) => slotAt(1000 + ms, 1000, 100))).toEqual([-1, 0, 0, 1, 2]);
  expect([-4, -3, -1, 0, 2, 3].map((slot) => rowAt(slot, 3))).toEqual([2, 0, 2, 0, 2, 0]);
});

test("quantile() is the smallest value that has that share of the values at or below it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (v, q) => {
        const ascending = v.sort((a, b) => a - b);
        const atOrBelow = (bound: number) => ascending.filter((value) => value <= bound).length;
        const naive = ascending.find((value) => atOrBelow(value) >= q * ascending.length);
        expect(quantile(ascending, q)).toBe(naive);
      },
    ),
  );
  expect(quantile([], 0.5)).toBe(0);
});

describe("SlotClock", () => {
  /**
   * Slots in which the clock called back, until it has called `count` times.
   * @param hold how long the first call keeps the process busy, in ms
   */
  async function slots(slotMs: number, count: number, holdMs = 0): Promise<[number, number][]> {
    const seen: [number, number][] = [];
    await new Promise<void>((resolve) => {
      const clock = new SlotClock(monotonicMs(), slotMs, (slot, lateMs, skipped) => {
        // Never too early.
        expect(lateMs).toBeGreaterThanOrEqual(0);
        expect(monotonicMs()).toBeGreaterThanOrEqual(clock.epochMs + slot * slotMs);
        seen.push([slot, skipped]);
        const end = monotonicMs() + holdMs;
        while (seen.length === 1 && monotonicMs() < end);
        if (seen.length < count) return;
        clock.stop();
        resolve();
      });
      clock.start();
    });
    return seen;
  }

  test("calls once for each boundary, in order, and counts those that it skipped", async () => {
    const seen = await slots(20, 8);
    let next = 1;
    for (const [slot, skipped] of seen) {
      expect(slot).toBe(next + skipped);
      next = slot + 1;
    }
  });

  test("after a delay of several slots, it makes up for none of them", async () => {
    const seen = await slots(20, 4, 130);
    // The call after the long one reports that at least five boundaries passed, and no burst follows.
    expect(seen[1]?.[1]).toBeGreaterThanOrEqual(5);
    expect(seen.map(([slot]) => slot)).toEqual([...new Set(seen.map(([slot]) => slot))]);
  });

  test("setSlot() keeps the epoch, from which others compute the slot", async () => {
    const epochMs = monotonicMs() - 1e6;
    const clock = new SlotClock(epochMs, 1000, () => {});
    clock.setSlot(50_000);
    expect(clock.epochMs).toBe(epochMs);
    expect(clock.slot()).toBe(slotAt(monotonicMs(), epochMs, 50_000));
    expect(clock.isRunning).toBe(false);
  });
});

test("SwitchRecord: take() gives the numbers once", () => {
  const record = new SwitchRecord();
  for (let i = 1; i <= 100; i++) record.record(i, 2 * i, i === 7 ? 3 : 0);
  expect(record.take()).toEqual({
    slots: 100,
    lateP50Ms: 50,
    lateP99Ms: 99,
    lateMaxMs: 100,
    switchP50Us: 100,
    switchP99Us: 198,
    skipped: 3,
  });
  expect(record.take()).toBeUndefined();
});
