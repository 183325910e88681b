import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compressIdle, panned, timeScale, zoomed } from "./scale.ts";
import { type Clock, offsetText, ticksOf } from "./ticks.ts";

describe("scale", () => {
  test("is straight", () => {
    const scale = timeScale(1000, 3000, 200);
    expect([1000, 2000, 3000, 3500].map(scale.px)).toEqual([0, 100, 200, 250]);
    expect([0, 100, 250].map(scale.ms)).toEqual([1000, 2000, 3500]);
  });

  test("zooms around a pixel and pans", () => {
    const scale = timeScale(0, 1000, 100);
    expect(zoomed(scale, 0.5, 25)).toEqual({ fromMs: 125, toMs: 625 });
    expect(timeScale(125, 625, 100).px(250)).toBe(25);
    expect(zoomed(scale, 0.5, 0)).toEqual({ fromMs: 0, toMs: 500 });
    expect(panned(scale, 10)).toEqual({ fromMs: 100, toMs: 1100 });
    // Never below the shortest span of 10 ms.
    expect(zoomed(scale, 1e-9, 50)).toEqual({ fromMs: 495, toMs: 505 });
  });

  test("compresses idle stretches to a fiftieth of the busy time", () => {
    // Busy 500 + 500 = 1000 ms, so each idle stretch takes 20 ms: 500 to 100,500 is shown as 500 to 520.
    const warp = compressIdle([
      { fromMs: 100_500, toMs: 101_000 },
      { fromMs: 0, toMs: 500 },
    ]);
    expect(warp.stretches).toEqual([{ fromMs: 500, toMs: 100_500 }]);
    expect([-10, 0, 500, 50_500, 100_500, 101_000, 101_500].map(warp.to)).toEqual([
      -10, 0, 500, 510, 520, 1020, 1520,
    ]);
    expect([-10, 0, 500, 510, 520, 1020].map(warp.from)).toEqual([-10, 0, 500, 50_500, 100_500, 101_000]);
  });

  test("keeps short pauses, and everything if nothing is idle", () => {
    const spans = [
      { fromMs: 0, toMs: 500 },
      { fromMs: 515, toMs: 1015 },
    ];
    expect(compressIdle(spans).stretches).toEqual([]);
    expect(compressIdle([]).to(7)).toBe(7);
  });

  test("a compressed scale rises and is its own way back", () => {
    const span = fc
      .tuple(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 1, max: 5000 }))
      .map(([fromMs, lengthMs]) => ({ fromMs, toMs: fromMs + lengthMs }));
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 30 }),
        fc.array(fc.integer({ min: -1000, max: 1_010_000 }), { minLength: 2 }),
        (spans, times) => {
          const warp = compressIdle(spans);
          for (const ms of times) expect(warp.from(warp.to(ms))).toBeCloseTo(ms, 4);
          const sorted = [...new Set(times)].sort((a, b) => a - b).map(warp.to);
          for (let i = 1; i < sorted.length; i++) expect(sorted[i]).toBeGreaterThan(sorted[i - 1]);
        },
      ),
    );
  });
});

describe("ticks", () => {
  const utc: Clock = { kind: "calendar", zoneMs: () => 0 };
  const labels = (from: string, to: string, widthPx: number, clock = utc) =>
    ticksOf(timeScale(Date.parse(from), Date.parse(to), widthPx), clock, 80).map(({ label, day }) =>
      day === undefined ? label : `${day} ${label}`,
    );

  test("of a calendar are whole times; the day stands where it changes", () => {
    expect(labels("2026-11-22T22:50:00Z", "2026-11-23T01:10:00Z", 500)).toEqual([
      "2026-11-22 23:00",
      "23:30",
      "2026-11-23 00:00",
      "00:30",
      "01:00",
    ]);
    expect(labels("2026-11-22T22:00:00.100Z", "2026-11-22T22:00:00.900Z", 330)).toEqual([
      "2026-11-22 22:00:00.200",
      "22:00:00.400",
      "22:00:00.600",
      "22:00:00.800",
    ]);
  });

  test("of a calendar are whole hours of local time, also after the clock was changed", () => {
    // Central European Time: UTC+2 until 2026-10-25 01:00 UTC, then UTC+1.
    const change = Date.parse("2026-10-25T01:00:00Z");
    const clock: Clock = { kind: "calendar", zoneMs: (ms) => (ms < change ? 7_200_000 : 3_600_000) };
    expect(labels("2026-10-24T18:00:00Z", "2026-10-25T13:00:00Z", 400, clock)).toEqual([
      "2026-10-25 00:00",
      "06:00",
      "12:00",
    ]);
  });

  test("from an origin are whole steps, with a sign if asked", () => {
    const scale = timeScale(-90_000, 130_000, 440);
    const texts = (signed: boolean) =>
      ticksOf(scale, { kind: "from", originMs: 0, signed }, 100).map(({ label }) => label);
    expect(texts(true)).toEqual(["−1 min", "now", "+1 min", "+2 min"]);
    expect(texts(false)).toEqual(["−1 min", "0", "1 min", "2 min"]);
    expect(offsetText(93_784_500, false)).toBe("1 d 2 h 3 min 4.5 s");
  });

  test("are never closer than asked, also where time is compressed", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e10 }),
        fc.integer({ min: 0, max: 1e12 }),
        fc.integer({ min: 100, max: 2000 }),
        (spanMs, fromMs, widthPx) => {
          const warp = compressIdle([
            { fromMs, toMs: fromMs + spanMs / 10 },
            { fromMs: fromMs + spanMs / 2, toMs: fromMs + spanMs },
          ]);
          const scale = timeScale(fromMs, fromMs + spanMs + 10, widthPx, warp);
          const ticks = ticksOf(scale, { kind: "from", originMs: 0, signed: false }, 70);
          for (let i = 1; i < ticks.length; i++)
            expect(ticks[i].px - ticks[i - 1].px).toBeGreaterThan(70 * 0.99);
        },
      ),
    );
  });
});
