import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OusterhoutMatrix } from "./matrix.ts";
import { RoundRobin } from "./round-robin.ts";
import { RowRanks } from "./row-ranks.ts";

/** The naive twin: two lists, of rows that have had their slot of this round and of rows that have not. */
class Lists {
  passed: number[] = [];
  ahead: number[] = [];
  begunWith = 0;
  joined = 0;
  rounds = 0;

  enter(row: number): void {
    if (this.passed.length === 0) this.ahead.push(row);
    else if (this.joined < this.begunWith) {
      this.joined++;
      this.ahead.push(row);
    } else this.passed.push(row);
  }

  leave(row: number): void {
    this.passed = this.passed.filter((one) => one !== row);
    this.ahead = this.ahead.filter((one) => one !== row);
    this.#wrap();
  }

  serve(): number {
    if (this.passed.length === 0) {
      this.begunWith = this.ahead.length;
      this.joined = 0;
    }
    const row = this.ahead.shift()!;
    this.passed.push(row);
    this.#wrap();
    return row;
  }

  #wrap(): void {
    if (this.ahead.length > 0 || this.passed.length === 0) return;
    [this.ahead, this.passed] = [this.passed, []];
    this.rounds++;
  }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("enter" as const), at: fc.constant(0) }),
    fc.record({ do: fc.constant("leave" as const), at: fc.nat() }),
    fc.record({ do: fc.constant("pass" as const), at: fc.integer({ min: 0, max: 9 }) }),
  ),
  { maxLength: 80 },
);

describe("RoundRobin", () => {
  test("serves rows in the order of two lists, and each row that stays once per round", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const turns = new RoundRobin();
        const lists = new Lists();
        const order: number[] = [];
        let next = 0;
        for (const step of list) {
          if (step.do === "enter") {
            order.splice(turns.enter(order.length), 0, next);
            lists.enter(next++);
          } else if (order.length === 0) continue;
          else if (step.do === "leave") {
            const position = step.at % order.length;
            lists.leave(order.splice(position, 1)[0]);
            turns.leave(position, order.length);
          } else {
            const served: number[] = [];
            for (let i = 0; i < step.at; i++) served.push(lists.serve());
            const expected = served.map((_, i) => order[(turns.pointer + i) % order.length]);
            expect(served).toEqual(expected);
            turns.pass(step.at, order.length);
          }
          expect([...lists.passed, ...lists.ahead]).toEqual(order);
          expect(turns.pointer).toBe(lists.passed.length);
          expect(turns.round).toBe(lists.rounds);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("a row waits for its next slot no longer than twice the rows there were after its last one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(5), (rows, perSlot) => {
        const turns = new RoundRobin();
        const order: number[] = [];
        for (let row = 0; row < rows; row++) order.splice(turns.enter(order.length), 0, row);
        turns.pass(1, order.length);
        // A new row comes with every slot and goes after its own slot; row 0 stays.
        let next = rows;
        for (let slots = 1; turns.pointer > 0; slots++) {
          expect(slots).toBeLessThanOrEqual(2 * rows);
          for (let i = 0; i < perSlot; i++) order.splice(turns.enter(order.length), 0, next++);
          const position = turns.pointer;
          turns.pass(1, order.length);
          if (order[position] < rows) continue;
          order.splice(position, 1);
          turns.leave(position, order.length);
        }
        expect(order[turns.pointer]).toBe(0);
      }),
    );
  });
});

describe("RowRanks", () => {
  test("ranks ascend in the order of the round, and stay the same unless all rows get new ranks", () => {
    const places = fc.array(fc.tuple(fc.boolean(), fc.nat()), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(places, fc.boolean(), (list, atOnePlace) => {
        const matrix = new OusterhoutMatrix(1, new Int32Array(0));
        const ranks = new RowRanks();
        for (const [leaves, at] of list) {
          if (leaves && matrix.rowCount > 1) matrix.deleteRow(matrix.rowAt(at % matrix.rowCount));
          const before = new Map(rowsOf(matrix).map((row) => [row, ranks.of(row)]));
          const position = atOnePlace ? Math.min(1, matrix.rowCount) : at % (matrix.rowCount + 1);
          const row = matrix.addRow(position);
          before.delete(row);
          const stay = ranks.enter(matrix, row);
          const now = rowsOf(matrix).map((one) => ranks.of(one));
          for (let i = 1; i < now.length; i++) expect(now[i]).toBeGreaterThan(now[i - 1]);
          if (stay) for (const [one, rank] of before) expect(ranks.of(one)).toBe(rank);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("thousands of rows at one place: the order holds through new rankings", () => {
    const matrix = new OusterhoutMatrix(1, new Int32Array(0));
    const ranks = new RowRanks();
    let renewals = 0;
    for (let i = 0; i < 8000; i++) {
      if (!ranks.enter(matrix, matrix.addRow(Math.min(1, matrix.rowCount)))) renewals++;
    }
    const now = rowsOf(matrix).map((row) => ranks.of(row));
    for (let i = 1; i < now.length; i++) expect(now[i]).toBeGreaterThan(now[i - 1]);
    expect(renewals).toBeGreaterThan(0);
  });
});

function rowsOf(matrix: OusterhoutMatrix): number[] {
  return Array.from({ length: matrix.rowCount }, (_, at) => matrix.rowAt(at));
}
