import fc from "fast-check";
import { expect, test } from "vitest";
import { queryOf, readState, type TimelineState } from "./state.ts";

test("what is written to the address is read again", () => {
  const ms = fc.integer({ min: 0, max: 2e12 });
  const state: fc.Arbitrary<TimelineState> = fc.record(
    {
      range: fc
        .tuple(ms, fc.integer({ min: 10, max: 1e9 }))
        .map(([fromMs, l]) => ({ fromMs, toMs: fromMs + l })),
      rows: fc.constantFrom("cpus" as const, "jobs" as const, "queues" as const),
      pinned: fc.integer({ min: -9, max: 1e9 }),
      area: fc
        .tuple(ms, fc.integer({ min: 1, max: 1e9 }), fc.nat(99), fc.integer({ min: 1, max: 9 }))
        .map(([fromMs, l, firstRow, rows]) => ({
          fromMs,
          toMs: fromMs + l,
          firstRow,
          endRow: firstRow + rows,
        })),
      isCompressed: fc.boolean(),
      isRelative: fc.boolean(),
    },
    { requiredKeys: ["rows", "isCompressed", "isRelative"] },
  );
  fc.assert(
    fc.property(state, (value) => {
      expect(readState(queryOf(value))).toEqual(value);
    }),
  );
  expect(readState(queryOf({ spanMs: 90_500 })).spanMs).toBe(90_500);
});

test("an address is read, however it is damaged", () => {
  const bare = { rows: "cpus", isCompressed: false, isRelative: false };
  expect(readState({})).toEqual(bare);
  expect(readState({ range: "5:5", span: "0", pin: "x", area: "1:2:3", rows: "<b>", idle: "1" })).toEqual(
    bare,
  );
  expect(readState({ range: "1e9:2e9", area: "9:3:0:1", pin: "1.5" })).toEqual(bare);
});
