import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BuddyRows, blockLevel } from "./buddy.ts";

/**
 * The naive twin: what is taken, processor by processor. A block is free if all its processors are; a job
 * takes its own processors or, like `wholeBlocks`, all of its block.
 */
class Blocks {
  taken: [first: number, end: number, size: number][] = [];
  readonly processors: number;
  readonly wholeBlocks: boolean;

  constructor(processors: number, wholeBlocks: boolean) {
    this.processors = processors;
    this.wholeBlocks = wholeBlocks;
  }

  take(size: number): number {
    const length = 2 ** Math.ceil(Math.log2(size));
    for (let first = 0; first + size <= this.processors; first += length) {
      if (!this.isIdle(first, first + length)) continue;
      this.takeAt(first, size);
      return first;
    }
    return -1;
  }

  takeAt(first: number, size: number): void {
    this.taken.push([first, this.endOf(first, size), size]);
  }

  isFree(first: number, size: number): boolean {
    return this.isIdle(first, this.endOf(first, size));
  }

  isIdle(first: number, end: number): boolean {
    return this.taken.every(([from, to]) => to <= first || from >= end);
  }

  endOf(first: number, size: number): number {
    return first + (this.wholeBlocks ? 2 ** Math.ceil(Math.log2(size)) : size);
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
  test.each([
    ["their own processors", false],
    ["whole blocks", true],
  ])("jobs that take %s: takes and gives what a list of taken processors says", (_, wholeBlocks) => {
    const command = fc.record({ row: fc.nat({ max: 2 }), take: fc.boolean(), n: fc.nat() });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(command, { maxLength: 60 }),
        (processors, commands) => {
          const rows = new BuddyRows(processors, wholeBlocks);
          const twins = [0, 1, 2].map((row) => {
            rows.clear(row);
            return new Blocks(processors, wholeBlocks);
          });
          for (const { row, take, n } of commands) {
            const twin = twins[row];
            if (take) {
              const size = 1 + (n % processors);
              expect(rows.take(row, size)).toBe(twin.take(size));
              // Any place of that size, as a job takes it in its second row.
              const length = 2 ** Math.ceil(Math.log2(size));
              const first = length * (n % Math.ceil(processors / length));
              if (first + size <= processors) {
                const free = twin.isFree(first, size);
                expect(rows.isFree(row, first, size)).toBe(free);
                if (!free) expect(() => rows.takeAt(row, first, size)).toThrow("Broken invariant");
                else if (n % 3 === 0) {
                  rows.takeAt(row, first, size);
                  twin.takeAt(first, size);
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

  test("a job of 5 leaves 3 processors of its block of 8, which jobs of 1 and 2 take; 8 are free when all are gone", () => {
    const rows = new BuddyRows(8, false);
    rows.clear(0);
    expect([5, 2, 1, 1].map((size) => rows.take(0, size))).toEqual([0, 6, 5, -1]);
    rows.give(0, 0, 5);
    expect(rows.take(0, 5)).toBe(-1);
    expect(rows.widest(0)).toBe(4);
    rows.give(0, 5, 1);
    rows.give(0, 6, 2);
    expect(rows.take(0, 5)).toBe(0);
  });

  test("clear() empties a row that is used again", () => {
    const rows = new BuddyRows(4, true);
    rows.clear(0);
    expect(rows.take(0, 3)).toBe(0);
    expect(rows.take(0, 1)).toBe(-1);
    rows.clear(0);
    expect(rows.take(0, 1)).toBe(0);
  });

  test("give() refuses a block that was not taken", () => {
    const rows = new BuddyRows(4, true);
    rows.clear(0);
    expect(() => rows.give(0, 0, 2)).toThrow("Broken invariant");
  });
});
