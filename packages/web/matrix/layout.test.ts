import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf } from "./cells.ts";
import { anyCells, gridOf, stretchesOf } from "./grids-for-tests.ts";
import { rasterOf } from "./image.ts";
import { cellAt, cellText, fitted, labelsOf, letterPx, rowHeight, ticksOf, xOf } from "./layout.ts";

const grid = gridOf("7 7 . 3", "3 . 7 7");
const cells = cellsOf(grid, 4);
const span = { first: 0, end: 4 };
const wide = { span, widthPx: 400, rowPx: 20 };

test("rows are as high as fits, and never so low that something disappears", () => {
  expect([1, 10, 32, 1000].map((rows) => rowHeight(rows, 320))).toEqual([34, 32, 10, 3]);
  expect(rowHeight(0, 320)).toBe(34);
});

describe("cellAt()", () => {
  const plane = rasterOf(span, 400, 20);

  test("finds the cell at a point", () => {
    const at = (x: number, y: number) => cellAt(cells, plane, wide, x, y);
    expect(at(0, 0)).toEqual({ row: 0, processor: 0 });
    expect(at(399.9, 39.9)).toEqual({ row: 1, processor: 3 });
    expect(at(100, 20)).toEqual({ row: 1, processor: 1 });
    expect([at(-1, 0), at(400, 0), at(0, 40), at(0, -1)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("of the visible processors", () => {
    const zoomed = { span: { first: 2, end: 4 }, widthPx: 400, rowPx: 20 };
    const part = rasterOf(zoomed.span, 400, 20);
    expect(cellAt(cells, part, zoomed, 10, 10)).toEqual({ row: 0, processor: 2 });
    expect(xOf(zoomed, 3)).toBe(200);
  });

  test("where cells form blocks, is a cell of what is drawn at the point", () => {
    const narrow = { span, widthPx: 7, rowPx: 4 };
    const blocks = rasterOf(span, 7, 4);
    // The second block of row 1 has job 3 above, and below the idle processor.
    expect(cellAt(cells, blocks, narrow, 5, 0)).toEqual({ row: 0, processor: 3 });
    expect(cellAt(cells, blocks, narrow, 5, 3)).toEqual({ row: 0, processor: 2 });
  });

  test("finds every cell at its middle, and in blocks a cell of the same block", () => {
    fc.assert(
      fc.property(anyCells(4, 30), fc.integer({ min: 1, max: 90 }), (rows, widthPx) => {
        const processors = rows[0]?.length ?? 1;
        const own = cellsOf(stretchesOf(rows), processors);
        const geometry = { span: { first: 0, end: processors }, widthPx, rowPx: 5 };
        const drawn = rasterOf(geometry.span, widthPx, 5);
        for (let row = 0; row < own.rows; row++)
          for (let processor = 0; processor < processors; processor++) {
            const x = ((processor + 0.5) * widthPx) / processors;
            const found = cellAt(own, drawn, geometry, x, row * 5 + 2.5);
            expect(found?.row).toBe(row);
            const block = (index = -1) => Math.floor(index / drawn.perBlock);
            expect(block(found?.processor)).toBe(block(processor));
          }
      }),
    );
  });
});

describe("labelsOf()", () => {
  const names = new Map([
    [7, "solver"],
    [3, ""],
  ]);
  const text = (label: string) => 8 * label.length;

  test("a gang has number and name, or the number, or nothing, as there is room", () => {
    // 100 px per cell: job 7 has 200 px, job 3 has 100 px.
    expect(labelsOf(grid, names, wide, text)).toEqual([
      { job: 7, text: "7 solver", x: 100, y: 10 },
      { job: 3, text: "3", x: 350, y: 10 },
      { job: 3, text: "3", x: 50, y: 30 },
      { job: 7, text: "7 solver", x: 300, y: 30 },
    ]);
    const texts = (widthPx: number) =>
      labelsOf(grid, names, { ...wide, widthPx }, text).map((label) => label.text);
    // By hand, with 8 px for a character and 3 px at each side: 44 px for 5 characters, 34 px for 4.
    expect(texts(100)).toEqual(["7 so…", "3", "3", "7 so…"]);
    expect(texts(80)).toEqual(["7 s…", "3", "3", "7 s…"]);
    expect(texts(60)).toEqual(["7", "3", "3", "7"]);
    expect(texts(40)).toEqual(["7", "7"]);
    expect(texts(20)).toEqual([]);
  });

  test("a text is cut if at least three characters of it fit", () => {
    expect([48, 47, 40, 32, 31, 0].map((roomPx) => fitted("123456", roomPx, text))).toEqual([
      "123456",
      "1234…",
      "1234…",
      "123…",
      undefined,
      undefined,
    ]);
    expect(fitted("🌊🌊🌊🌊🌊", 64, (label) => 16 * [...label].length)).toBe("🌊🌊🌊…");
  });

  test("only stretches that are asked for have one", () => {
    expect(labelsOf(grid, names, wide, text, [1]).map(({ job, x }) => [job, x])).toEqual([[3, 350]]);
  });

  test("low rows have none", () => {
    expect([20, 16, 11, 10, 6].map(letterPx)).toEqual([13, 13, 8, 0, 0]);
    expect(labelsOf(grid, names, { ...wide, rowPx: 10 }, text)).toEqual([]);
  });

  test("are in the middle of the visible part", () => {
    const zoomed = { span: { first: 1, end: 3 }, widthPx: 200, rowPx: 20 };
    expect(labelsOf(grid, names, zoomed, text).map(({ text: label, x }) => [label, x])).toEqual([
      ["7 solver", 50],
      ["7 solver", 150],
    ]);
  });
});

test("the scale has round numbers that do not touch", () => {
  const line = gridOf(Array.from({ length: 64 }, () => ".").join(" "));
  const texts = (widthPx: number, first = 0) =>
    ticksOf(line, { span: { first, end: 64 }, widthPx, rowPx: 9 }, 30).map((tick) => tick.text);
  expect(texts(640)).toEqual(["0", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50", "55", "60"]);
  expect(texts(100)).toEqual(["0", "20", "40", "60"]);
  expect(texts(100, 32)).toEqual(["40", "50", "60"]);
});

test("a cell in words", () => {
  const named = {
    ...grid,
    names: new Map([
      [7, "solver"],
      [3, ""],
    ]),
  };
  const say = (row: number, processor: number) => cellText(named, cells, { row, processor });
  expect(say(0, 1)).toBe("row 1, CPU 1: job 7 solver, 2 CPUs, 2 of 2 slots per round");
  expect(say(0, 2)).toBe("row 1, CPU 2: idle");
  expect(say(1, 0)).toBe("row 2, CPU 0: job 3, another user's, 1 CPU, 2 of 2 slots per round");
});
