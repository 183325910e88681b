import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cells, cellsOf, gangOf, IDLE, type Span } from "./cells.ts";
import { anyCells, gridOf, stretchesOf } from "./grids-for-tests.ts";
import {
  type Colours,
  drawRow,
  moreValue,
  type Palette,
  paletteOf,
  rasterOf,
  stackOf,
  valueAt,
} from "./image.ts";

const all = ({ processors }: Cells) => ({ first: 0, end: processors });
/** The whole picture, with the values themselves as pixels. */
function planeOf(
  cells: Cells,
  span: Span,
  widthPx: number,
  rowPx: number,
  palette: Palette = (value) => value,
) {
  const raster = rasterOf(span, widthPx, rowPx);
  const height = raster.perRow * cells.rows;
  const pixels = new Uint32Array(raster.width * height);
  for (let row = 0; row < cells.rows; row++) drawRow(cells, span, raster, row, palette, pixels);
  return { ...raster, height, pixels };
}
const rowsOf = ({ width, height, pixels }: ReturnType<typeof planeOf>) =>
  Array.from({ length: height }, (_, y) => [...pixels.subarray(y * width, (y + 1) * width)]);

describe("drawRow()", () => {
  const cells = cellsOf(gridOf("7 7 . 3", "3 . 7 7"), 4);

  test("has a pixel per cell of at least 2 device pixels", () => {
    const plane = planeOf(cells, all(cells), 8, 20);
    expect(plane).toMatchObject({ perBlock: 1, perRow: 1, width: 4, height: 2 });
    expect(rowsOf(plane)).toEqual([
      [3, 3, 0, 1],
      [2, 0, 4, 4],
    ]);
    expect(rowsOf(planeOf(cells, { first: 1, end: 3 }, 4, 20))).toEqual([
      [3, 0],
      [0, 4],
    ]);
  });

  test("stacks what narrower cells hold, by their shares", () => {
    // 4 processors on 7 pixels: blocks of 2. Row 1: 7 7, then idle and 3; row 2: 3 and idle, then 7 7.
    const plane = planeOf(cells, all(cells), 7, 4);
    expect(plane).toMatchObject({ perBlock: 2, perRow: 4, width: 2, height: 8 });
    expect(rowsOf(plane)).toEqual([
      [3, 1],
      [3, 1],
      [3, 0],
      [3, 0],
      [2, 4],
      [2, 4],
      [0, 4],
      [0, 4],
    ]);
  });

  test("draws a row and nothing else, from its values that can be asked for", () => {
    fc.assert(
      fc.property(
        anyCells(4, 40, 12),
        fc.integer({ min: 1, max: 90 }),
        fc.nat(3),
        (rows, widthPx, chosen) => {
          const cells = cellsOf(stretchesOf(rows), rows[0]?.length ?? 1);
          const row = chosen % Math.max(1, cells.rows);
          if (cells.rows === 0) return;
          const span = all(cells);
          const plane = planeOf(cells, span, widthPx, 7);
          const pixels = new Uint32Array(plane.pixels.length).fill(777);
          drawRow(cells, span, plane, row, (value) => value, pixels);
          const untouched = new Uint32Array(plane.pixels.length).fill(777);
          const size = plane.perRow * plane.width;
          untouched.set(plane.pixels.subarray(row * size, (row + 1) * size), row * size);
          expect(pixels).toEqual(untouched);
          for (let x = 0; x < plane.width; x++)
            for (let line = 0; line < plane.perRow; line++)
              expect(valueAt(cells, span, plane, row, x, line)).toBe(
                pixels[(row * plane.perRow + line) * plane.width + x],
              );
        },
      ),
    );
  });

  test("shows everything in every block that has enough pixels, and says otherwise that there is more", () => {
    fc.assert(
      fc.property(
        anyCells(3, 60, 12),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 3, max: 16 }),
        (rows, widthPx, rowPx) => {
          const cells = cellsOf(stretchesOf(rows), rows[0]?.length ?? 1);
          const plane = planeOf(cells, all(cells), widthPx, rowPx);
          expect(plane.perBlock * widthPx).toBeGreaterThanOrEqual(Math.min(2 * cells.processors, widthPx));
          expect(plane.width).toBe(Math.ceil(cells.processors / plane.perBlock));
          const lines = rowsOf(plane);
          for (let row = 0; row < cells.rows; row++)
            for (let x = 0; x < plane.width; x++) {
              const start = row * cells.processors;
              const end = start + Math.min((x + 1) * plane.perBlock, cells.processors);
              const block = new Set(cells.values.subarray(start + x * plane.perBlock, end));
              const drawn = new Set(
                lines.slice(row * plane.perRow, (row + 1) * plane.perRow).map((line) => line[x]),
              );
              if (plane.perBlock === 1 || block.size <= plane.perRow) expect(drawn).toEqual(block);
              else {
                expect(drawn.has(moreValue(cells))).toBe(true);
                expect(drawn.has(IDLE)).toBe(block.has(IDLE));
                for (const value of drawn) expect(value === moreValue(cells) || block.has(value)).toBe(true);
                expect(drawn.size).toBe(plane.perRow);
              }
            }
        },
      ),
    );
  });
});

describe("stackOf()", () => {
  const heights = (block: readonly number[], height: number) =>
    stackOf(block, 0, block.length, height, 99).map((part) => `${part.value}×${part.height}`);

  test("gives shares by the largest remainder, at least a pixel each", () => {
    expect(heights([5, 5, 5, 5, 7, 0, 0, 0], 4)).toEqual(["5×2", "7×1", "0×1"]);
    expect(heights([5, 5, 5, 5, 5, 5, 5, 7], 4)).toEqual(["5×3", "7×1"]);
    expect(heights([0, 0, 0, 0, 0, 0, 0, 7], 8)).toEqual(["7×1", "0×7"]);
    // Ideal heights 3.33, 1.67 of 5: 3 and 1, and the remaining pixel goes to the second.
    expect(heights([1, 1, 3], 5)).toEqual(["1×3", "3×2"]);
    // Four parts on 4 pixels, of which the first would have 2.5.
    expect(heights([1, 1, 1, 1, 1, 3, 5, 0], 4)).toEqual(["1×1", "3×1", "5×1", "0×1"]);
  });

  test("keeps the largest gangs, the mark for more, and idle processors if there are too many parts", () => {
    expect(heights([1, 3, 3, 5, 7, 0], 3)).toEqual(["3×1", "99×1", "0×1"]);
    expect(heights([1, 3, 3, 5, 7, 9], 3)).toEqual(["1×1", "3×1", "99×1"]);
    expect(heights([1, 3, 0], 2)).toEqual(["99×1", "0×1"]);
  });

  test("differs from the exact share by less than a pixel, unless a part would have none", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 5, max: 40 }),
        (block, height) => {
          const parts = stackOf(block, 0, block.length, height, 99);
          expect(parts.reduce((sum, part) => sum + part.height, 0)).toBe(height);
          const ideal = (value: number) =>
            (block.filter((other) => other === value).length * height) / block.length;
          if (parts.every(({ value }) => ideal(value) >= 1))
            for (const part of parts) expect(Math.abs(part.height - ideal(part.value))).toBeLessThan(1);
        },
      ),
    );
  });
});

describe("colours", () => {
  const colours: Colours = {
    back: [0, 0, 0],
    idle: [9, 9, 9],
    more: [200, 200, 200],
    ofJob: (job) => [job, 100, 50],
  };
  const jobs = [3, 7];
  const rgb = (palette: Palette, value: number) => [...new Uint8Array(Uint32Array.of(palette(value)).buffer)];

  test("are those of the jobs, paler in extra slots, and nearly gone next to a lit gang", () => {
    const palette = paletteOf({ jobs }, colours, undefined);
    expect([0, 1, 2, 3, 5].map((value) => rgb(palette, value))).toEqual([
      [9, 9, 9, 255],
      [3, 100, 50, 255],
      [2, 62, 31, 255],
      [7, 100, 50, 255],
      [200, 200, 200, 255],
    ]);
    const lit = paletteOf({ jobs }, colours, 7);
    expect([1, 3, 4].map((value) => rgb(lit, value))).toEqual([
      [1, 22, 11, 255],
      [7, 100, 50, 255],
      [4, 62, 31, 255],
    ]);
  });

  test("make the pixels of a picture", () => {
    const cells = cellsOf(gridOf("7 . 3"), 3);
    const palette = paletteOf(cells, colours, undefined);
    const { pixels } = planeOf(cells, all(cells), 30, 9, palette);
    expect([...new Uint8Array(pixels.buffer)]).toEqual([
      ...rgb(palette, 3),
      ...rgb(palette, 0),
      ...rgb(palette, 1),
    ]);
    expect(gangOf(3)).toBe(1);
  });
});
