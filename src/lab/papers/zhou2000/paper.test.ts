import { beforeAll, describe, expect, test } from "vitest";
import type { Reproduction } from "../paper.ts";
import { cells, runCell, type Zhou2000Cell } from "./cells.ts";
import { zhou2000 } from "./paper.ts";
import { TABLE_1, TABLE_2, ZHOU2000_SCHEMES, type Zhou2000Row } from "./published.ts";

const options = { seed: zhou2000.defaultSeed };

/** Cells of table 2 with few jobs stand in for the long ones, so that all of collect() can run. */
function shortened(cell: Zhou2000Cell): Zhou2000Cell {
  return cell.table === 2 ? { ...cell, jobs: 400 } : cell;
}

describe("zhou2000", () => {
  let list: Zhou2000Cell[];
  let numbers: Zhou2000Row[];
  let result: Reproduction;

  beforeAll(() => {
    list = cells(options);
    numbers = list.map((cell) => runCell(shortened(cell)));
    result = zhou2000.collect(list, numbers, options);
  });

  test("cells() are table 1 with 200 jobs × 20 and table 2 with 20,000 jobs × 5, at four loads, and one reading more", () => {
    expect(list.filter((cell) => cell.table === 2)).toHaveLength(4 * 4 * 5);
    expect(list.filter((cell) => cell.table === 1)).toHaveLength(4 * 5 * 20);
    expect(new Set(list.filter((cell) => cell.table === 2).map((cell) => cell.jobs))).toEqual(
      new Set([20_000]),
    );
    expect(new Set(list.filter((cell) => cell.table === 1).map((cell) => cell.jobs))).toEqual(new Set([200]));
  });

  test("all schemes see the same jobs, other loads and replications see others", () => {
    const seeds = new Map<number, string>();
    for (const { table, load, replication, seed } of list) {
      const name = `${table} ${load} ${replication}`;
      expect(seeds.get(seed) ?? name).toBe(name);
      seeds.set(seed, name);
    }
    expect(seeds.size).toBe(4 * (20 + 5));
  });

  test("runCell() gives the same numbers for the same cell, whatever ran in between", () => {
    const [at] = [...list.keys()].filter((i) => list[i].table === 1 && list[i].variant === "brmms");
    expect(runCell(list[at])).toEqual(numbers[at]);
  });

  test("collect() means the replications beside the printed values", () => {
    const table = result.tables.find((one) => one.id === "Table 1")!;
    const row = table.rows.find(({ labels }) => labels.join(" ") === "BR 0.70")!;
    expect(row.values.map((value) => value.published)).toEqual([...TABLE_1.br[2]]);
    const turnarounds = numbers.filter((_, i) => {
      const { table, variant, load } = list[i];
      return table === 1 && variant === "br" && load === 0.7;
    });
    const mean = turnarounds.reduce((sum, numbers) => sum + numbers[3], 0) / 20;
    expect(row.values[3].ours).toBeCloseTo(mean, 10);
  });

  test("every value more than 10 % off has a reason, no other has", () => {
    for (const { rows } of result.tables) {
      for (const { ours, published, reason } of rows.flatMap((row) => row.values)) {
        expect(reason !== undefined).toBe(Math.abs(ours / published! - 1) > 0.1);
        if (reason !== undefined) expect(reason.length).toBeGreaterThan(40);
      }
    }
  });

  test("figures 3 to 5 show the columns of table 1, statements carry their numbers", () => {
    expect(result.figures.map((figure) => figure.id)).toEqual(["Figure 3", "Figure 4", "Figure 5"]);
    const bc = result.figures[0].series.find((series) => series.name === "BC")!;
    expect(bc.published!.map(([, y]) => y)).toEqual([31.1, 70, 129.65, 189.6]);
    expect(result.figures.flatMap((figure) => figure.series).every(({ ours }) => ours.length === 4)).toBe(
      true,
    );
    for (const { evidence } of result.statements) expect(evidence).toMatch(/ρ = 0\.\d: \S+ \d+\.\d\d/);
  });
});

describe("table 2 of zhou2000", () => {
  /** Mean over the five sets of jobs, at full length. */
  function means(variant: string, load: number): number[] {
    const rows = cells(options)
      .filter((cell) => cell.table === 2 && cell.variant === variant && cell.load === load)
      .map(runCell);
    expect(rows).toHaveLength(5);
    return rows[0].map((_, m) => rows.reduce((sum, row) => sum + row[m], 0) / rows.length);
  }

  test.each([
    [0.5, 1],
    [0.7, 2],
  ])(
    "ρ = %d: t_ta and n_a of BR and BRMMS within a fifth of the printed ones, schemes in the printed order",
    (load, at) => {
      const [bc, br, brms, brmms] = ZHOU2000_SCHEMES.map((scheme) => means(scheme, load));
      for (const [ours, published] of [
        [br, TABLE_2.br[at]],
        [brmms, TABLE_2.brmms[at]],
      ]) {
        for (const measure of [2, 3])
          expect(Math.abs(ours[measure] / published[measure] - 1)).toBeLessThan(0.2);
      }
      const order = [brmms, br, brms, bc].map((row) => row[3]);
      expect(order).toEqual([...order].sort((a, b) => a - b));
    },
  );
});
