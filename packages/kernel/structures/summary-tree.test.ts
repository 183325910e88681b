import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_SIZE, SummaryTree } from "./summary-tree.ts";

interface Entry {
  size: number;
  value: number;
}

/** Summarizes a block that is a plain list of entries. */
function summary(block: Entry[]) {
  return {
    minSize: Math.min(NO_SIZE, ...block.map((entry) => entry.size)),
    minValue: Math.min(Number.POSITIVE_INFINITY, ...block.map((entry) => entry.value)),
    sumSize: block.reduce((sum, entry) => sum + entry.size, 0),
  };
}

const step = fc.record({
  method: fc.nat(5),
  at: fc.nat(99),
  size: fc.integer({ min: 1, max: 9 }),
  value: fc.nat(9),
});

describe("SummaryTree", () => {
  test("every method agrees with a list of lists", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const tree = new SummaryTree();
        const blocks: Entry[][] = [];
        for (const { method, at, size, value } of steps) {
          const position = blocks.length === 0 ? 0 : at % blocks.length;
          const block = blocks[position];
          if (method === 0 || blocks.length === 0) {
            const where = at % (blocks.length + 1);
            tree.insert(where, blocks.length);
            blocks.splice(where, 0, []);
          } else if (method <= 2) {
            tree.add(position, size, value);
            block.push({ size, value });
          } else if (method === 3 && block.length > 0) {
            const [gone] = block.splice(size % block.length, 1);
            if (tree.isSmallest(position, gone.size, gone.value)) {
              const { minSize, minValue, sumSize } = summary(block);
              tree.set(position, minSize, minValue, sumSize);
              tree.update(position);
            } else tree.subtract(position, gone.size);
          } else if (method === 4) {
            tree.delete(position, blocks.length);
            blocks.splice(position, 1);
          } else if (at === 0) {
            tree.clear();
            blocks.length = 0;
          }
          const summaries = blocks.map(summary);
          tree.audit(summaries, true);
          const total = summaries.reduce((sum, one) => sum + one.sumSize, 0);
          expect(tree.total()).toBe(total);
          for (let from = 0; from < blocks.length; from++) {
            const promises = summaries.map(
              (s) => s.minSize <= size && (s.minValue <= value || s.minSize <= size >> 1),
            );
            expect(tree.promises(from, size, value, size >> 1)).toBe(promises[from]);
            expect(tree.nextPromising(from, size, value, size >> 1)).toBe(promises.indexOf(true, from + 1));
          }
          for (let need = 1; need <= total; need++) {
            let position = 0;
            let before = 0;
            while (before + summaries[position].sumSize < need) before += summaries[position++].sumSize;
            expect(tree.positionOfSum(need)).toBe(position);
            expect(tree.sumBefore).toBe(before);
          }
        }
      }),
    );
  });

  test("updateFrom() updates all nodes above leaves that were set", () => {
    const tree = new SummaryTree();
    for (let count = 0; count < 6; count++) tree.insert(count, count);
    const summaries = [5, 4, 3, 2, 1, 9].map((minSize, p) => ({
      minSize,
      minValue: 10 - p,
      sumSize: minSize,
    }));
    summaries.forEach((s, p) => {
      tree.set(p, s.minSize, s.minValue, s.sumSize);
    });
    tree.updateFrom(0, 6);
    tree.audit(summaries, true);
  });
});
