import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { barsAt, detailOf, pixelsOf } from "./detail.ts";
import type { Bars } from "./rows.ts";
import { timeScale } from "./scale.ts";

function barsFrom(
  list: readonly (readonly [row: number, endRow: number, fromMs: number, toMs: number])[],
): Bars {
  const sorted = [...list].sort((a, b) => a[2] - b[2]);
  return {
    length: sorted.length,
    job: Int32Array.from(sorted, (_, i) => i),
    firstRow: Int32Array.from(sorted, ([row]) => row),
    endRow: Int32Array.from(sorted, ([, endRow]) => endRow),
    fromMs: Float64Array.from(sorted, ([, , fromMs]) => fromMs),
    toMs: Float64Array.from(sorted, ([, , , toMs]) => toMs),
  };
}

describe("detailOf()", () => {
  test("joins narrow bars that touch and counts them", () => {
    // 10 ms a pixel. Row 0: 3 bars of 2 ms in pixels 0, 0 and 1, then one in pixel 5. Row 1: 100 ms.
    const bars = barsFrom([
      [0, 1, 0, 2],
      [0, 1, 4, 6],
      [0, 1, 12, 14],
      [0, 1, 52, 54],
      [1, 2, 0, 100],
    ]);
    const { wide, clusters } = detailOf(bars, timeScale(0, 1000, 100), { firstRow: 0, endRow: 2 });
    expect([...wide].map((bar) => bars.toMs[bar])).toEqual([100]);
    expect(clusters.map(({ row, fromPx, toPx, count }) => [row, fromPx, toPx, count])).toEqual([
      [0, 0, 2, 3],
      [0, 5, 6, 1],
    ]);
    // 6 ms of 20 are busy.
    expect(clusters[0].cover).toBeCloseTo(0.3, 12);
  });

  test("drops nothing: every visible bar is wide or counted, in each of its visible rows", () => {
    const bar = fc
      .tuple(
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: -50, max: 1050 }),
        fc.integer({ min: 0, max: 60 }),
      )
      .map(([row, rows, fromMs, lengthMs]) => [row, row + rows, fromMs, fromMs + lengthMs] as const);
    fc.assert(
      fc.property(
        fc.array(bar, { maxLength: 80 }),
        fc.integer({ min: 10, max: 2000 }),
        fc.integer({ min: 0, max: 8 }),
        (list, widthPx, firstRow) => {
          const bars = barsFrom(list);
          const scale = timeScale(0, 1000, widthPx);
          const window = { firstRow, endRow: firstRow + 3 };
          const { wide, clusters } = detailOf(bars, scale, window);
          // The naive twin: rows of narrow and of wide bars, one by one.
          let narrowRows = 0;
          let wideBars = 0;
          for (let i = 0; i < bars.length; i++) {
            if (bars.toMs[i] < 0 || bars.fromMs[i] > 1000) continue;
            const rows = [0, 1, 2]
              .map((k) => firstRow + k)
              .filter((row) => bars.firstRow[i] <= row && row < bars.endRow[i]);
            const isWide = scale.px(bars.toMs[i]) - scale.px(bars.fromMs[i]) >= 1;
            if (isWide) wideBars += Number(rows.length > 0);
            else narrowRows += rows.length;
            if (isWide) continue;
            for (const row of rows) {
              const [fromPx, toPx] = pixelsOf(bars, i, scale);
              expect(clusters.some((c) => c.row === row && c.fromPx <= fromPx && toPx <= c.toPx)).toBe(true);
            }
          }
          expect(wide.length).toBe(wideBars);
          expect(clusters.reduce((sum, { count }) => sum + count, 0)).toBe(narrowRows);
        },
      ),
    );
  });
});

test("barsAt() finds what is drawn at a pixel, however narrow it is", () => {
  const bars = barsFrom([
    [0, 2, 0, 2],
    [0, 1, 4, 6],
    [2, 3, 0, 1000],
  ]);
  const scale = timeScale(0, 1000, 100);
  expect(barsAt(bars, scale, 0, 0.5)).toHaveLength(2);
  expect(barsAt(bars, scale, 1, 0.5)).toHaveLength(1);
  expect(barsAt(bars, scale, 1, 1.5)).toHaveLength(0);
  expect(barsAt(bars, scale, 2, 99)).toHaveLength(1);
});
