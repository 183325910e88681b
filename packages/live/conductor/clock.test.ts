import { monotonicMs } from "@tutti/host/clock.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quantile, rowAt, rowOnTurn, SlotClock, SwitchRecord, slotAt, strictRowOnTurn } from "./clock.ts";

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

test("strictRowOnTurn(): the row of the slot, even if none of its gangs is left", () => {
  const rows = [["a", "b"], [], ["c"]];
  expect([-1, 0, 1, 2, 3].map((slot) => strictRowOnTurn(rows, slot).join(""))).toEqual([
    "c",
    "ab",
    "",
    "c",
    "ab",
  ]);
  expect(strictRowOnTurn([], 5)).toEqual([]);
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

  /** Slots in which the clock called back until `untilMs`, with the times of the calls since the start. */
  async function record(
    slotMs: number,
    untilMs: number,
    act: (clock: SlotClock, startMs: number) => void,
  ): Promise<[slot: number, ms: number][]> {
    const seen: [number, number][] = [];
    const startMs = monotonicMs();
    const clock = new SlotClock(startMs, slotMs, (slot) => seen.push([slot, monotonicMs() - startMs]));
    clock.start();
    act(clock, startMs);
    await new Promise((resolve) => setTimeout(resolve, untilMs));
    clock.stop();
    return seen;
  }

  test("moveEpoch() a little neither repeats a slot nor leaves one out", async () => {
    const seen = await record(50, 400, (clock, startMs) => {
      for (let i = 1; i <= 12; i++) {
        const shiftMs = i % 2 === 0 ? 0 : 20;
        setTimeout(() => expect(clock.moveEpoch(startMs + shiftMs)).toBe(false), 30 * i);
      }
    });
    const slots = seen.map(([slot]) => slot);
    expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
    // Of the boundaries at 50, 70, … ms none is missed, unless the machine is late by a slot.
    expect(slots[0]).toBeLessThanOrEqual(2);
  });

  test("moveEpoch() to an earlier time begins the next slot early; by more than a slot, it counts again", async () => {
    const seen = await record(1000, 150, (clock, startMs) => {
      setTimeout(() => expect(clock.moveEpoch(startMs - 920)).toBe(false), 20);
    });
    // Slot 1 begins 1000 − 920 ms after the start.
    expect(seen.map(([slot]) => slot)).toEqual([1]);
    expect(seen[0]?.[1]).toBeGreaterThanOrEqual(80);
    const again = await record(1000, 100, (clock, startMs) => {
      expect(clock.moveEpoch(startMs - 5_000_000)).toBe(true);
      expect(clock.slot()).toBe(5000);
    });
    expect(again).toEqual([]);
  });

  test("moveEpoch() to a later time does not go back to the slot before", async () => {
    const clock = new SlotClock(monotonicMs() - 1010, 1000, () => {});
    clock.start();
    expect(clock.slot()).toBe(1);
    clock.moveEpoch(clock.epochMs + 500);
    expect(clock.slot()).toBe(1);
    clock.stop();
  });

  test("changeSlot(): slots of the new length begin with a call, in the middle of an old slot", async () => {
    const seen = await record(1000, 550, (clock) => clock.changeSlot({ slotMs: 100, atSlot: 2 }));
    // Slot 2 of 100 ms begins at 200 ms, slot 5 at 500 ms.
    expect(seen[0]?.[0]).toBe(2);
    expect(seen[0]?.[1]).toBeGreaterThanOrEqual(200);
    expect(seen.at(-1)?.[0]).toBe(5);
  });
});

test("SwitchRecord: take() gives the numbers once", () => {
  const record = new SwitchRecord();
  for (let i = 1; i <= 100; i++) record.record(50 + i, i, 2 * i, i === 7 ? 3 : 0);
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

test("SwitchRecord: take() lists the lateness of each slot for a cluster", () => {
  const record = new SwitchRecord(true);
  record.record(7, 0.25, 10, 0);
  record.record(9, 1.5, 10, 1);
  expect(record.take()?.lateOfSlots).toEqual([
    [7, 0.25],
    [9, 1.5],
  ]);
  record.record(10, 2, 10, 0);
  expect(record.take()?.lateOfSlots).toEqual([[10, 2]]);
});
