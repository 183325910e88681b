import { judge } from "@tutti/lab/claims.ts";
import type { CellResult } from "@tutti/lab/experiments/kinds.ts";
import { describe, expect, test } from "vitest";
import { Results } from "../results.ts";
import { runCells } from "../run-cells.ts";
import { cells, LOADS, MEASURES, type Place, SCHEME_NAMES, SIZES, SLOTS } from "./cells.ts";
import { claims } from "./claims.ts";
import { figureResults } from "./figures.ts";
import { zhou1999 } from "./paper.ts";

type Run = CellResult<"summary">;

/** A run in which every measure has the same value. */
function flat(value: number): Run {
  const summary = {
    metrics: [{ name: "response", all: { mean: value } }],
    gang: { meanRows: value, activeRatio: value },
    jobs: { total: 1 },
  };
  return { summary, repacking: { unifications: value, moves: value } } as unknown as Run;
}

/** The verdict on one claim, from values by replication. */
function verdict(valuesAt: (place: Place) => readonly number[], beginning: string): boolean | null {
  const places = LOADS.flatMap((load) =>
    SIZES.flatMap((sizes) =>
      SCHEME_NAMES.flatMap((scheme) =>
        SLOTS.flatMap((slots) => {
          const place = { load, sizes, scheme, slots };
          return valuesAt(place).map((value) => ({ place, value }));
        }),
      ),
    ),
  );
  const results = new Results<Place, Run>(
    places,
    places.map(({ value }) => flat(value)),
  );
  const found = claims(results).filter(({ statement }) => statement.startsWith(beginning));
  expect(found).toHaveLength(1);
  return judge(found[0]).holds;
}

describe("figures of zhou1999", () => {
  const { matrices, statements } = figureResults();
  const last = (id: string) =>
    matrices
      .find((table) => table.id === id)!
      .steps.at(-1)!
      .rows.map((row) => row.map((name) => name ?? ".").join(""));

  test("are those of the text, and each statement on them holds", () => {
    expect(matrices.map(({ id }) => id)).toEqual([
      "Figure 1",
      "Figure 2",
      "Figure 3",
      "Figure 4",
      "Figure 5",
      "Figure 6",
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
    expect(statements.length).toBe(14);
    // J4 is in two rows once J6 has moved down.
    const figure6 = matrices.find((table) => table.id === "Figure 6")!;
    const [, , down] = figure6.steps.map(({ rows }) =>
      rows.map((row) => row.map((name) => name ?? ".").join("")),
    );
    expect(down).toEqual(["5555444.", "3333444.", "11..6622"]);
  });
});

describe("claims", () => {
  const claim = "Section 4: WLV needs fewer rows";
  const column =
    (wlv: readonly number[], others: readonly number[]) =>
    ({ scheme }: Place) =>
      scheme === "WLV" ? wlv : others;

  test("asks for a difference that its interval sets apart from 0", () => {
    expect(verdict(column([1, 2, 3, 4], [2, 3, 4.1, 5]), claim)).toBe(true);
    expect(verdict(column([1, 2, 3, 4], [2, 3, 2, 5]), claim)).toBe(null); // mean 0.5 ± 1.6
    expect(verdict(column([1, 2, 3, 4], [1, 2, 3, 4]), claim)).toBe(false);
    expect(verdict(column([2, 3, 4.1, 5], [1, 2, 3, 4]), claim)).toBe(false);
  });

  test("one load is enough to refute, but not one below 0.5", () => {
    const exceptAt =
      (bad: number) =>
      ({ load, scheme }: Place) =>
        (scheme === "WLV") === (load === bad) ? [2, 3, 4] : [1, 2, 3];
    expect(verdict(exceptAt(0.7), claim)).toBe(false);
    expect(verdict(exceptAt(0.2), claim)).toBe(true);
  });
});

describe("cells and runs", () => {
  test("every load and kind of sizes has ten sets of jobs; the same cell gives the same numbers, random allocation included", async () => {
    const list = cells(5);
    const perJobs = SCHEME_NAMES.length * SLOTS.length;
    expect(list).toHaveLength(LOADS.length * SIZES.length * 10 * perJobs);
    expect(new Set(list.map(({ cell }) => JSON.stringify(cell.source))).size).toBe(list.length / perJobs);
    const small = list.slice(0, perJobs).map(({ place, cell }) => ({
      place,
      cell: { ...cell, source: { ...cell.source, limit: 150 } },
    }));
    const run = () =>
      runCells(
        small.map(({ cell }) => cell),
        { workers: 1 },
      );
    const numbers = await run();
    expect(await run()).toEqual(numbers);
    const results = new Results<Place, Run>(small, numbers);
    const at = (scheme: Place["scheme"], slots: number, measure: keyof typeof MEASURES) =>
      results.mean({ ...small[0].place, scheme, slots: SLOTS[slots] }, MEASURES[measure]);
    // Nothing moves when jobs are placed row by row; no job has extra slots if each has one.
    for (const scheme of ["random", "first fit", "best fit", "buddy"] as const)
      for (const slots of [0, 1, 2]) expect(at(scheme, slots, "moves")).toBe(0);
    for (const scheme of SCHEME_NAMES) {
      expect(at(scheme, 0, "unifications")).toBe(0);
      expect(at(scheme, 2, "unifications")).toBeGreaterThan(0);
    }
    expect(at("WLV", 0, "moves")).toBeGreaterThan(0);
    // Extra slots that are given back do not change the number of rows for the same jobs, but they shorten
    // the jobs.
    expect(at("WLV", 2, "t_ta")).toBeLessThan(at("WLV", 0, "t_ta"));
  });

  test("collect() puts every cell's numbers in its own table", () => {
    const list = cells(1);
    const runs = list.map(({ place: { load, sizes } }) => flat(100 * load + SIZES.indexOf(sizes)));
    const { tables } = zhou1999.collect(new Results(list, runs));
    expect(tables).toHaveLength(8);
    tables.forEach((table, i) => {
      const expected = 100 * LOADS[i % 4] + Math.floor(i / 4);
      expect(table.rows).toHaveLength(SCHEME_NAMES.length * SLOTS.length);
      for (const { values } of table.rows)
        for (const { ours, halfWidth } of values) expect([ours, halfWidth]).toEqual([expected, 0]);
    });
  });
});
