import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RowsRecord } from "./rows-record.ts";

describe("RowsRecord", () => {
  test("note() keeps the changes and the largest number; the last one noted for a time holds", () => {
    const notes = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 5 })), { maxLength: 300, size: "max" });
    fc.assert(
      fc.property(notes, (notes) => {
        const record = new RowsRecord();
        const at = new Map<number, number>();
        let now = 0;
        for (const [gap, rows] of notes) {
          now += gap;
          record.note(now, rows);
          at.set(now, rows);
        }
        const [times, rows] = [[...record.times()], [...record.rows()]];
        expect(times).toEqual([...times].sort((a, b) => a - b));
        for (const [time, expected] of at) expect(rows[times.findLastIndex((t) => t <= time)]).toBe(expected);
        expect(times.every((time) => at.has(time))).toBe(true);
        expect(record.maxRows).toBe(Math.max(0, ...notes.map(([, rows]) => rows)));
      }),
    );
  });
});
