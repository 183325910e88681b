import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BuddyRows, blockLevel } from "./buddy.ts";

/** The naive twin: lists taken blocks as [first, end). A block is free if it overlaps no taken block. */
class Blocks {
  taken: [first: number, end: number, size: number][] = [];
  readonly processors: number;

  constructor(processors: number) {
    this.processors = processors;
  }

  take(size: number): number {
    const length = 2 ** Math.ceil(Math.log2(size));
    for (let first = 0; first + size <= this.processors; first += length) {
      if (this.taken.some(([from, to]) => from < first + length && first < to)) continue;
      this.taken.push([first, first + length, size]);
      return first;
    }
    return -1;
  }

  isFree(first: number, size: number): boolean {
    const end = first + 2 ** Math.ceil(Math.log2(size));
    return this.taken.every(([from, to]) => to <= first || from >= end);
  }

  widest(): number {
    for (let size = this.processors; size > 0; size--) {
      if (this.take(size) === -1) continue;
      this.taken.pop();
      return size;
    }
    return 0;
  }
}

describe("blockLevel()", () => {
  test("is the smallest power of two that holds the size", () => {
    for (let size = 1; size <= 5000; size++) expect(blockLevel(size)).toBe(Math.ceil(Math.log2(size)));
    expect(blockLevel(2 ** 30)).toBe(30);
  });
});

describe("BuddyRows", () => {
  test("takes and gives the blocks that a list of taken blocks says", () => {
    const command = fc.record({ row: fc.nat({ max: 2 }), take: fc.boolean(), n: fc.nat() });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(command, { maxLength: 60 }),
        (processors, commands) => {
          const rows = new BuddyRows(processors);
          const twins = [0, 1, 2].map((row) => {
            rows.clear(row);
            return new Blocks(processors);
          });
          for (const { row, take, n } of commands) {
            const twin = twins[row];
            if (take) {
              const size = 1 + (n % processors);
              expect(rows.take(row, size)).toBe(twin.take(size));
              // Any block of that size, as a job takes it in its second row.
              const length = 2 ** Math.ceil(Math.log2(size));
              const first = length * (n % Math.ceil(processors / length));
              if (first + size <= processors) {
                const free = twin.isFree(first, size);
                expect(rows.isFree(row, first, size)).toBe(free);
                if (!free) expect(() => rows.takeAt(row, first, size)).toThrow("Broken invariant");
                else if (n % 3 === 0) {
                  rows.takeAt(row, first, size);
                  twin.taken.push([first, first + length, size]);
                }
              }
            } else if (twin.taken.length > 0) {
              const [[first, , size]] = twin.taken.splice(n % twin.taken.length, 1);
              rows.give(row, first, size);
            }
            for (let other = 0; other < 3; other++) {
              expect(rows.widest(other)).toBe(twins[other].widest());
              expect(rows.isEmpty(other)).toBe(twins[other].taken.length === 0);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test("clear() empties a row that is used again", () => {
    const rows = new BuddyRows(4);
    rows.clear(0);
    expect(rows.take(0, 3)).toBe(0);
    expect(rows.take(0, 1)).toBe(-1);
    rows.clear(0);
    expect(rows.take(0, 1)).toBe(0);
  });

  test("give() refuses a block that was not taken", () => {
    const rows = new BuddyRows(4);
    rows.clear(0);
    expect(() => rows.give(0, 0, 2)).toThrow("Broken invariant");
  });
});
