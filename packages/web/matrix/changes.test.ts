import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesBetween, changesText, matchRows } from "./changes.ts";
import type { Stretches } from "./grid.ts";
import { anyCells, anyChange, gridOf, stretchesOf } from "./grids-for-tests.ts";

describe("matchRows()", () => {
  test("finds the earlier row of each row", () => {
    expect(matchRows(gridOf("1 1", "2 2", "3 3"), gridOf("1 1", "3 3"))).toEqual([0, 2]);
    expect(matchRows(gridOf("1 1", "2 2"), gridOf("2 2", "3 3"))).toEqual([1, -1]);
    // Nothing is shared: rows keep their numbers.
    expect(matchRows(gridOf("1", "2"), gridOf("3", "4"))).toEqual([0, 1]);
    expect(matchRows(gridOf("1 .", ". 2"), gridOf("1 2"))).toEqual([0]);
    expect(matchRows(gridOf("1 . .", ". 2 2"), gridOf("1 2 2"))).toEqual([1]);
  });

  test("shares as many cells as the best of all matchings in order", () => {
    const shared = (a: Stretches, i: number, b: Stretches, j: number) =>
      a.job.reduce(
        (sum, job, x) =>
          sum +
          b.job.reduce((own, other, y) => {
            if (other !== job || a.row[x] !== i || b.row[y] !== j) return own;
            return own + Math.max(0, Math.min(a.end[x], b.end[y]) - Math.max(a.first[x], b.first[y]));
          }, 0),
        0,
      );
    /** Best [cells, pairs] of all matchings in order, by trying each. */
    const best = (a: Stretches, b: Stretches, i = 0, j = 0): [number, number] => {
      if (i === a.rows || j === b.rows) return [0, 0];
      const [cells, pairs] = best(a, b, i + 1, j + 1);
      const options: [number, number][] = [
        [cells + shared(a, i, b, j), pairs + 1],
        best(a, b, i + 1, j),
        best(a, b, i, j + 1),
      ];
      return options.sort((x, y) => y[0] - x[0] || y[1] - x[1])[0];
    };
    fc.assert(
      fc.property(anyChange(4, 5), ([early, late]) => {
        const [a, b] = [stretchesOf(early), stretchesOf(late)];
        const partner = matchRows(a, b);
        const pairs = partner.flatMap((i, j) => (i < 0 ? [] : [[i, j] as const]));
        expect(pairs.every(([i], at) => at === 0 || i > pairs[at - 1][0])).toBe(true);
        expect([pairs.reduce((sum, [i, j]) => sum + shared(a, i, b, j), 0), pairs.length]).toEqual(
          best(a, b),
        );
      }),
    );
  });
});

describe("changesBetween()", () => {
  test("a re-packing: gangs move to the row above, and their row vanishes", () => {
    const before = gridOf("1 1 . .", ". . 2 2", "3 3 3 3");
    const changes = changesBetween(before, gridOf("1 1 2 2", "3 3 3 3"));
    expect(changes).toMatchObject({ moved: [2], left: [], came: [], vanished: [1], opened: [] });
    // Job 2 moves; job 3 stays in its row, which is now the second.
    expect(changes.moves).toEqual([
      { from: 1, to: 1 },
      { from: 2, to: 2 },
    ]);
    expect(changesText(changes)).toBe("1 gang moved, row 2 vanished");
  });

  test("gangs come and leave, and an extra slot comes and goes", () => {
    const changes = changesBetween(gridOf("1 1 2", "3 3 ."), gridOf("1 1 2", "3 3 2", "4 4 4"));
    expect(changes).toMatchObject({ moves: [], moved: [], came: [4], left: [], opened: [2], added: [3, 4] });
    expect(changesText(changes)).toBe("1 gang came, row 3 added");
    const back = changesBetween(gridOf("1 1 2", "3 3 2", "4 4 4"), gridOf("1 1 2", "3 3 ."));
    expect(back).toMatchObject({ moved: [], left: [4], vanished: [2], gone: [3, 4] });
  });

  test("a migration moves a gang to other processors", () => {
    const changes = changesBetween(gridOf("1 1 . ."), gridOf(". . 1 1"));
    expect(changes).toMatchObject({ moved: [1], moves: [{ from: 0, to: 0 }], gone: [], added: [] });
  });

  test("nothing changes between equal matrices", () => {
    fc.assert(
      fc.property(anyCells(5, 8), (rows) => {
        const changes = changesBetween(stretchesOf(rows), stretchesOf(rows));
        expect(changesText(changes)).toBe("");
        expect(changes.moves).toEqual([]);
      }),
    );
  });

  test("every stretch stays, moves, goes or is added, and gangs are sorted as a comparison of sets says", () => {
    fc.assert(
      fc.property(anyChange(5, 6), ([early, late]) => {
        const [before, after] = [stretchesOf(early), stretchesOf(late)];
        const { moves, gone, added, left, came, vanished, opened } = changesBetween(before, after);
        const has = (rows: typeof early, job: number) => rows.some((row) => row.includes(job));
        const jobs = [1, 2, 3, 4, 5, 6];
        expect(left).toEqual(jobs.filter((job) => has(early, job) && !has(late, job)));
        expect(came).toEqual(jobs.filter((job) => !has(early, job) && has(late, job)));
        expect(new Set([...moves.map(({ from }) => from), ...gone]).size).toBe(moves.length + gone.length);
        expect(new Set([...moves.map(({ to }) => to), ...added]).size).toBe(moves.length + added.length);
        for (const { from, to } of moves) expect(before.job[from]).toBe(after.job[to]);
        // What is not named is drawn at the same place.
        const named = new Set([...moves.map(({ from }) => from), ...gone]);
        const places = new Set(
          after.job.map((job, i) => [job, after.row[i], after.first[i], after.end[i]].join()),
        );
        for (const i of before.job.keys())
          if (!named.has(i))
            expect(places).toContain([before.job[i], before.row[i], before.first[i], before.end[i]].join());
        expect(before.job.length - moves.length - gone.length).toBe(
          after.job.length - moves.length - added.length,
        );
        expect(before.rows - vanished.length).toBe(after.rows - opened.length);
      }),
    );
  });
});
