import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobIndex } from "../../core/jobs.ts";
import { gangInstance } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { gang } from "./gang.ts";
import { gangBench } from "./gang-bench-for-tests.ts";

const bench = (fit: string, processors: number, sizes: readonly number[]) =>
  gangBench(gang, { fit }, processors, sizes).step;

/** The naive twin of the policy: stores rows as cells and searches them cell by cell, by the same rules. */
function naive(fit: string, processors: number, sizes: readonly number[]) {
  let rows: string[][] = [];
  const letter = (job: JobIndex) => String.fromCharCode(65 + job);
  return (ends: readonly JobIndex[], arrive: readonly JobIndex[]): string[] => {
    for (const row of rows)
      for (const job of ends) for (const [p, cell] of row.entries()) if (cell === letter(job)) row[p] = ".";
    if (ends.length > 0) {
      const kept = rows.filter((row) => row.some((cell) => cell !== "."));
      rows = kept.length > 0 ? kept : rows.slice(0, 1);
    }
    for (const job of arrive) {
      const gaps = rows.flatMap((row) =>
        [...row.join("").matchAll(/\.+/g)].map((gap) => ({ row, first: gap.index, size: gap[0].length })),
      );
      const fitting = gaps.filter((gap) => gap.size >= sizes[job]);
      if (fit === "best") fitting.sort((a, b) => a.size - b.size);
      let place = fitting[0];
      if (place === undefined) {
        place = { row: new Array<string>(processors).fill("."), first: 0, size: processors };
        rows.push(place.row);
      }
      place.row.fill(letter(job), place.first, place.first + sizes[job]);
    }
    return rows.map((row) => row.join(""));
  };
}

describe("gang", () => {
  test("fit=first takes the leftmost gap of the first row with room, fit=best the narrowest gap", () => {
    const sizes = [3, 3, 2, 7, 2, 1];
    for (const [fit, placed] of [
      ["first", ["EEFBBB..", "DDDDDDD."]],
      ["best", ["...BBBEE", "DDDDDDDF"]],
    ] as const) {
      const step = bench(fit, 8, sizes);
      expect(step([], [0, 1, 2, 3])).toEqual(["AAABBBCC", "DDDDDDD."]);
      expect(step([0, 2], [4, 5])).toEqual(placed);
    }
  });

  test("a row that becomes empty goes, except the last one; no job moves", () => {
    const step = bench("first", 4, [3, 3, 3, 1]);
    expect(step([], [0, 1, 2])).toEqual(["AAA.", "BBB.", "CCC."]);
    expect(step([1], [3])).toEqual(["AAAD", "CCC."]);
    expect(step([0, 3], [])).toEqual(["CCC."]);
    expect(step([2], [])).toEqual(["...."]);
  });

  test("both fits place jobs as a search over cells does, for any arrivals and ends", () => {
    const change = fc.record({ arrive: fc.nat(3), ends: fc.array(fc.nat(20), { maxLength: 3 }) });
    fc.assert(
      fc.property(
        fc.constantFrom("first", "best"),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 25, maxLength: 25 }),
        fc.array(change, { maxLength: 12 }),
        (fit, processors, wanted, changes) => {
          const sizes = wanted.map((size) => Math.min(size, processors));
          const ours = bench(fit, processors, sizes);
          const theirs = naive(fit, processors, sizes);
          const present: JobIndex[] = [];
          let next = 0;
          for (const { arrive, ends } of changes) {
            const ended: JobIndex[] = [];
            for (const at of ends)
              if (present.length > 0) ended.push(...present.splice(at % present.length, 1));
            const arrived = Array.from({ length: Math.min(arrive, sizes.length - next) }, () => next++);
            present.push(...arrived);
            expect(ours(ended, arrived)).toEqual(theirs(ended, arrived));
          }
        },
      ),
    );
  });

  test("under rounds: three jobs in two rows, one slot each per round", () => {
    const instance = gangInstance(4, [
      [0, 3, 3],
      [0, 2, 2],
      [0, 1, 1],
    ]);
    const schedule = simulateRounds(instance, gang, { fit: "first" }, { slotS: 1, switchS: 0 });
    // Row 0: A and C, row 1: B. C ends with slot 0, B's two slots are 1 and 3, A's 0, 2 and, alone again, 4.
    expect([...schedule.startS]).toEqual([0, 1, 0]);
    expect([...schedule.endS]).toEqual([5, 4, 1]);
    expect(schedule.gang?.maxRows).toBe(2);
  });
});
