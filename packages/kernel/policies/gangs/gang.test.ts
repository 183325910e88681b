import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobIndex } from "../../core/jobs.ts";
import { gangInstance } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { gang } from "./gang.ts";
import { gangBench } from "./gang-bench-for-tests.ts";

const bench = (fit: string, processors: number, sizes: readonly number[], place = "adjacent") =>
  gangBench(gang, { fit, place }, processors, sizes).step;

/** The naive twin of the policy: stores rows as cells and searches them cell by cell, by the same rules. */
function naive(fit: string, processors: number, sizes: readonly number[], place: string) {
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
      // Places where a job could be: the gaps of each row, or all its idle processors together.
      const places = rows.flatMap((row) => {
        const idle = row.flatMap((cell, p) => (cell === "." ? [p] : []));
        if (place === "any") return [{ row, idle }];
        const starts = idle.filter((p) => row[p - 1] !== ".");
        return starts.map((first, i) => ({
          row,
          idle: idle.filter((p) => p >= first && !(p >= starts[i + 1])),
        }));
      });
      const fitting = places.filter(({ idle }) => idle.length >= sizes[job]);
      if (fit === "best") fitting.sort((a, b) => a.idle.length - b.idle.length);
      let taken = fitting[0];
      if (taken === undefined) {
        taken = { row: new Array<string>(processors).fill("."), idle: [...Array(processors).keys()] };
        rows.push(taken.row);
      }
      for (const p of taken.idle.slice(0, sizes[job])) taken.row[p] = letter(job);
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

  test("place=any: first fit by capacity scans the rows in order, best fit takes the smallest sufficient capacity", () => {
    // A and C end: row 0 has 5 idle processors in two gaps, row 1 has 1, row 2 has 4 side by side.
    const sizes = [3, 3, 2, 7, 4, 4];
    for (const [fit, placed] of [
      ["first", ["FFFBBBF.", "DDDDDDD.", "EEEE...."]],
      ["best", ["...BBB..", "DDDDDDD.", "EEEEFFFF"]],
    ] as const) {
      const step = bench(fit, 8, sizes, "any");
      expect(step([], [0, 1, 2, 3, 4])).toEqual(["AAABBBCC", "DDDDDDD.", "EEEE...."]);
      expect(step([0, 2], [5])).toEqual(placed);
    }
  });

  test("a row that becomes empty goes, except the last one; no job moves", () => {
    const step = bench("first", 4, [3, 3, 3, 1]);
    expect(step([], [0, 1, 2])).toEqual(["AAA.", "BBB.", "CCC."]);
    expect(step([1], [3])).toEqual(["AAAD", "CCC."]);
    expect(step([0, 3], [])).toEqual(["CCC."]);
    expect(step([2], [])).toEqual(["...."]);
  });

  test("both fits place jobs, side by side or anywhere, as a search over cells does, for any arrivals and ends", () => {
    const change = fc.record({ arrive: fc.nat(3), ends: fc.array(fc.nat(20), { maxLength: 3 }) });
    fc.assert(
      fc.property(
        fc.constantFrom("first", "best"),
        fc.constantFrom("adjacent", "any"),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 25, maxLength: 25 }),
        fc.array(change, { maxLength: 12 }),
        (fit, place, processors, wanted, changes) => {
          const sizes = wanted.map((size) => Math.min(size, processors));
          const ours = bench(fit, processors, sizes, place);
          const theirs = naive(fit, processors, sizes, place);
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
