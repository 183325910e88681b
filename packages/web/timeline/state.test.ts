import fc from "fast-check";
import { expect, test } from "vitest";
import { timeScale } from "./scale.ts";
import { queryOf, readState, type TimelineState } from "./state.ts";
import { ticksOf } from "./ticks.ts";

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

test("no address makes an axis that cannot be drawn", () => {
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.bigInt(0n, 10n ** 13n)).map(String);
  fc.assert(
    fc.property(fc.array(number, { minLength: 4, maxLength: 4 }), fc.boolean(), (parts, isRelative) => {
      const query = { range: parts.slice(0, 2).join(":"), span: parts[0], area: parts.join(":") };
      const { range, spanMs = 1000 } = readState(query);
      const { fromMs, toMs } = range ?? { fromMs: 1e12 - spanMs / 2, toMs: 1e12 + spanMs / 2 };
      const clock = isRelative
        ? ({ kind: "from", originMs: 1e12, signed: true } as const)
        : ({ kind: "calendar", zoneMs: () => 3_600_000 } as const);
      expect(ticksOf(timeScale(fromMs, toMs, 1000), clock, 80).length).toBeLessThanOrEqual(14);
    }),
    { numRuns: 2000 },
  );
  const far = ticksOf(timeScale(8e15, 9e15, 1000), { kind: "calendar", zoneMs: () => 0 }, 80);
  expect(far).toEqual([]);
});

test("an address is read, however it is damaged", () => {
  const bare = { rows: "cpus", isCompressed: false, isRelative: false };
  expect(readState({})).toEqual(bare);
  expect(readState({ range: "5:5", span: "0", pin: "x", area: "1:2:3", rows: "<b>", idle: "1" })).toEqual(
    bare,
  );
  expect(readState({ range: "1e9:2e9", area: "9:3:0:1", pin: "1.5" })).toEqual(bare);
});
