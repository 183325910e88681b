import { describe, expect, test } from "vitest";
import {
  cells,
  LOADS,
  MEASURES,
  runCell,
  SCHEME_NAMES,
  SIZES,
  SLOTS,
  type Zhou1999Numbers,
} from "./cells.ts";
import { type Column, judge } from "./claims.ts";
import { figureResults } from "./figures.ts";
import { collect } from "./paper.ts";

/** Numbers in which every scheme with every kind of slots has the same values. */
function flat(value: number): Zhou1999Numbers {
  const rows = SLOTS.map(() => MEASURES.map(() => value));
  return Object.fromEntries(SCHEME_NAMES.map((scheme) => [scheme, rows])) as unknown as Zhou1999Numbers;
}

function verdict(column: Column, beginning: string): boolean {
  const found = judge(column).filter(({ statement }) => statement.startsWith(beginning));
  expect(found).toHaveLength(1);
  return found[0].holds;
}

describe("figures of zhou1999", () => {
  const { matrices, statements } = figureResults();
  const last = (id: string) =>
    matrices
      .find((one) => one.id === id)!
      .steps.at(-1)!
      .rows.map((row) => row.map((name) => name ?? ".").join(""));

  test("are those of the text, and each statement on them holds", () => {
    expect(matrices.map(({ id }) => id)).toEqual([
      "Figure 1",
      "Figure 2",
      "Figure 3",
      "Figure 4",
      "Figure 5",
    ]);
    expect(matrices[0].steps[0].rows.map((row) => row.map((name) => name ?? ".").join(""))).toEqual([
      "44...4..",
      "3.3..3..",
      ".....2.2",
      ".11.1..1",
    ]);
    expect(last("Figure 2")).toEqual(["11224477", "55566333"]);
    expect(last("Figure 3")).toEqual(last("Figure 4"));
    expect(statements.filter(({ holds }) => !holds)).toEqual([]);
    expect(statements.length).toBe(7);
  });
});

describe("judge()", () => {
  const claim = "Section 4: WLV needs fewer rows";
  const column =
    (wlv: readonly number[], others: readonly number[]): Column =>
    (_, __, [scheme]) =>
      scheme === "WLV" ? wlv : others;

  test("asks for a difference that its interval sets apart from 0", () => {
    expect(verdict(column([1, 2, 3, 4], [2, 3, 4.1, 5]), claim)).toBe(true);
    expect(verdict(column([1, 2, 3, 4], [2, 3, 2, 5]), claim)).toBe(false); // mean 0.5 ± 1.6
    expect(verdict(column([1, 2, 3, 4], [1, 2, 3, 4]), claim)).toBe(false);
    expect(verdict(column([2, 3, 4.1, 5], [1, 2, 3, 4]), claim)).toBe(false);
  });

  test("one load is enough to refute, but not one below 0.5", () => {
    const exceptAt =
      (bad: number): Column =>
      (_, load, [scheme]) =>
        (scheme === "WLV") === (load === bad) ? [2, 3, 4] : [1, 2, 3];
    expect(verdict(exceptAt(0.7), claim)).toBe(false);
    expect(verdict(exceptAt(0.2), claim)).toBe(true);
  });
});

describe("cells and runs", () => {
  test("every load and kind of sizes has ten sets of jobs; the same cell gives the same numbers, random allocation included", () => {
    const list = cells({ seed: 5 });
    expect(list).toHaveLength(LOADS.length * SIZES.length * 10);
    expect(new Set(list.map(({ sizes, load, seed }) => `${sizes} ${load} ${seed}`)).size).toBe(list.length);
    const small = { ...list[0], jobs: 150 };
    const numbers = runCell(small);
    expect(runCell(small)).toEqual(numbers);
    const at = (scheme: keyof Zhou1999Numbers, slots: number, measure: (typeof MEASURES)[number]) =>
      numbers[scheme][slots][MEASURES.indexOf(measure)];
    // Nothing moves row by row; nobody has extra slots where each job has one.
    for (const scheme of ["random", "first fit", "best fit", "buddy"] as const)
      for (const slots of [0, 1, 2]) expect(at(scheme, slots, "moves")).toBe(0);
    for (const scheme of SCHEME_NAMES) {
      expect(at(scheme, 0, "unifications")).toBe(0);
      expect(at(scheme, 2, "unifications")).toBeGreaterThan(0);
    }
    expect(at("WLV", 0, "moves")).toBeGreaterThan(0);
    // Extra slots that are given back do not change how many rows are needed for the same jobs, but shorten them.
    expect(at("WLV", 2, "t_ta")).toBeLessThan(at("WLV", 0, "t_ta"));
  });

  test("collect() puts every cell's numbers in its own table", () => {
    const list = cells({ seed: 1 });
    const numbers = list.map(({ sizes, load }) => flat(100 * load + SIZES.indexOf(sizes)));
    const { tables } = collect(list, numbers);
    expect(tables).toHaveLength(8);
    tables.forEach((table, i) => {
      const expected = 100 * LOADS[i % 4] + Math.floor(i / 4);
      expect(table.rows).toHaveLength(SCHEME_NAMES.length * SLOTS.length);
      for (const { values } of table.rows)
        for (const { ours, halfWidth } of values) expect([ours, halfWidth]).toEqual([expected, 0]);
    });
  });
});
