import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GangMachine, RowId } from "../../core/policy.ts";
import { blockLevel } from "./buddy.ts";
import { commonCutFrom, idleEnd } from "./legal-cuts.ts";
import { OusterhoutMatrix } from "./matrix.ts";
import { auditMatrix } from "./matrix-audit-for-tests.ts";
import { draw, picture, sizesIn } from "./pictures-for-tests.ts";
import { gather, longestIdle } from "./repacking.ts";

/** A matrix that counts its exchanges. */
class Counting extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
  exchanges = 0;

  override exchange(a: RowId, b: RowId, first: number, end: number): void {
    this.exchanges++;
    super.exchange(a, b, first, end);
  }
}

function drawn(rows: readonly string[]): { machine: Counting; ids: RowId[] } {
  const machine = new Counting(rows[0].length, sizesIn(rows));
  return { machine, ids: draw(machine, rows) };
}

const columns = (rows: readonly string[]) =>
  [...rows[0]].map((_, at) =>
    rows
      .map((row) => row[at])
      .sort()
      .join(""),
  );

const fragments = (rows: readonly string[]) => rows.join(" ").match(/\.+/g)?.length ?? 0;

describe("gather()", () => {
  test("figure 1 of zhou2000: the idle fragments of three rows become one row", () => {
    const { machine, ids } = drawn(["EEEFF.GG", "....DD..", "AABB.CCC"]);
    expect(gather(machine, 0, 8)).toBe(ids[1]);
    expect(picture(machine)).toEqual(["EEEFFCCC", "........", "AABBDDGG"]);
    auditMatrix(machine);
  });

  test("figure 2 of zhou2000: J6 moves into S1, so that the last four processors are idle in S3", () => {
    const { machine, ids } = drawn(["AA....BB", "CCCCDDD.", "EEEEFF.."]);
    const row = gather(machine, 4, 8);
    expect(machine.isIdle(row, 4, 8)).toBe(true);
    // The exchange of J2 with the same processors of S3 has the effect of the paper's exchange of J6, with
    // the rows swapped.
    expect(row).toBe(ids[0]);
    expect(picture(machine)).toEqual(["AA......", "CCCCDDD.", "EEEEFFBB"]);
  });

  test("an idle row is taken as it is, without any exchange", () => {
    const { machine, ids } = drawn(["AA..", "B...", "...."]);
    expect(gather(machine, 2, 4)).toBe(ids[0]);
    expect(gather(machine, 0, 4)).toBe(ids[2]);
    expect(machine.exchanges).toBe(0);
  });

  test("refuses when a processor has no idle slot", () => {
    expect(() => gather(drawn(["AAB.", "C.DD"]).machine, 1, 3)).toThrow("Broken invariant");
    expect(() => gather(drawn(["AAB.", "C.DD"]).machine, 0, 4)).toThrow("Broken invariant");
  });

  test.each([
    // Rows, the row in which A gives its slot back, the processors for which a slot was reclaimed, the rows
    // afterwards.
    [["AABB", "AA.."], 1, [0], ["AABB", "...."]],
    [["..AA", "BBAA"], 1, [2], ["....", "BBAA"]],
    [["..AA", "BBAA"], 0, [2], ["....", "BBAA"]],
  ])("reclaims a slot if no row is idle: %j", (rows, from, asked, after) => {
    const { machine, ids } = drawn(rows);
    const reclaimed: number[] = [];
    const reclaim = (processor: number) => {
      reclaimed.push(processor);
      machine.release(0, ids[from]);
    };
    const row = gather(machine, 0, 4, { reclaim });
    expect(reclaimed).toEqual(asked);
    expect(picture(machine)).toEqual(after);
    expect(machine.isIdle(row, 0, 4)).toBe(true);
    auditMatrix(machine);
  });

  test("frees any block of a buddy matrix within the block: no job torn or moved, one exchange per fragment at most", () => {
    const scenario = fc.record({
      levels: fc.nat({ max: 5 }),
      jobs: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 40 }),
      rows: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(scenario, ({ levels, jobs, rows }) => {
        const processors = 1 << levels;
        const size = jobs.map(([n]) => 1 + (n % processors));
        const machine = new Counting(processors, size);
        for (let i = 0; i < rows; i++) machine.addRow();
        jobs.forEach(([, where, row], job) => {
          const block = 1 << blockLevel(size[job]);
          const first = block * (where % (processors / block));
          const id = machine.rowAt(row % rows);
          if (machine.isIdle(id, first, first + size[job])) machine.place(job, id, first);
        });
        for (let level = levels; level >= 0; level--) {
          const block = 1 << level;
          for (let first = 0; first < processors; first += block) {
            const before = picture(machine);
            const inBlock = before.map((row) => row.slice(first, first + block));
            if (!columns(inBlock).every((cells) => cells.includes("."))) continue;
            machine.exchanges = 0;
            const row = gather(machine, first, first + block);
            expect(machine.isIdle(row, first, first + block)).toBe(true);
            auditMatrix(machine);
            const after = picture(machine);
            expect(columns(after)).toEqual(columns(before));
            const outside = (rows: string[]) => rows.map((r) => r.slice(0, first) + r.slice(first + block));
            expect(outside(after)).toEqual(outside(before));
            expect(machine.exchanges).toBeLessThanOrEqual(fragments(inBlock));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("frees a row on a linear array without blocks (property 2 of zhou1999)", () => {
    const job = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat({ max: 23 }), fc.nat({ max: 4 }));
    fc.assert(
      fc.property(fc.array(job, { maxLength: 40 }), (jobs) => {
        const machine = new Counting(
          24,
          jobs.map(([size]) => size),
        );
        for (let i = 0; i < 5; i++) machine.addRow();
        jobs.forEach(([size, first, row], index) => {
          const id = machine.rowAt(row);
          if (first + size <= 24 && machine.isIdle(id, first, first + size)) machine.place(index, id, first);
        });
        const before = picture(machine);
        if (!columns(before).every((cells) => cells.includes("."))) return;
        const row = gather(machine, 0, 24);
        expect(picture(machine)[machine.positionOf(row)]).toBe(".".repeat(24));
        expect(columns(picture(machine))).toEqual(columns(before));
        expect(machine.exchanges).toBeLessThanOrEqual(fragments(before));
        auditMatrix(machine);
      }),
      { numRuns: 500 },
    );
  });
});

describe("idleEnd(), longestIdle() and commonCutFrom()", () => {
  const { machine, ids } = drawn(["AA..BB..", "..CCCC..", "D......."]);
  const [a, b, c] = ids;

  test("idleEnd() is the end of the idle stretch, or the processor itself when it is busy", () => {
    expect([0, 1, 2, 3, 4, 6, 7].map((at) => idleEnd(machine, a, at))).toEqual([0, 1, 4, 4, 4, 8, 8]);
    expect(idleEnd(machine, b, 0)).toBe(2);
  });

  test("longestIdle() takes the first row that is long enough, else the longest", () => {
    expect(longestIdle(machine, 6, 8)).toBe(a);
    expect(longestIdle(machine, 2, 4)).toBe(a);
    expect(longestIdle(machine, 2, 5)).toBe(c);
    expect(longestIdle(machine, 0, 8)).toBe(b);
    expect(longestIdle(drawn(["AA"]).machine, 0, 2)).toBe(-1);
  });

  test("commonCutFrom() goes from row to row until both agree", () => {
    const [x, y] = ["AA..BBB.", ".CCCCC.."];
    const both = drawn([x, y]);
    expect(commonCutFrom(both.machine, both.ids[0], both.ids[1], 1, 8)).toBe(7);
    const isCut = (row: string, at: number) =>
      at === 0 || at === 8 || row[at] === "." || row[at] !== row[at - 1];
    for (let from = 0; from <= 8; from++) {
      const expected = [0, 1, 2, 3, 4, 5, 6, 7, 8].find((at) => at >= from && isCut(x, at) && isCut(y, at));
      expect(commonCutFrom(both.machine, both.ids[0], both.ids[1], from, 8)).toBe(expected);
      expect(commonCutFrom(both.machine, both.ids[1], both.ids[0], from, 8)).toBe(expected);
    }
  });

  test("commonCutFrom() is the first cut legal in both rows", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((at) => commonCutFrom(machine, a, b, at, 8))).toEqual([
      0, 2, 2, 6, 6, 6, 6, 7, 8,
    ]);
  });
});
