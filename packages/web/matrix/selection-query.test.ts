import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSelection, selectionQuery, visibleSpan, zoomed } from "./selection-query.ts";

describe("the selection in the address", () => {
  test("is a gang and the visible CPUs", () => {
    expect(parseSelection({ gang: "12", cpus: "128-255" })).toEqual({
      pinned: 12,
      span: { first: 128, end: 256 },
    });
    expect(selectionQuery({ pinned: 12, span: { first: 128, end: 256 } })).toEqual({
      gang: "12",
      cpus: "128-255",
    });
    expect(parseSelection({})).toEqual({ pinned: undefined, span: undefined });
  });

  test("what cannot be read is left out", () => {
    for (const query of [
      { gang: "x", cpus: "9-3" },
      { gang: "-1", cpus: "1-" },
      { gang: "1e3", cpus: "a-b" },
    ])
      expect(parseSelection(query)).toEqual({ pinned: undefined, span: undefined });
  });
});

describe("visible processors", () => {
  test("are those that the machine has", () => {
    expect(visibleSpan({ first: 4, end: 20 }, 8)).toEqual({ first: 4, end: 8 });
    expect(visibleSpan({ first: 9, end: 20 }, 8)).toEqual({ first: 0, end: 8 });
    expect(visibleSpan(undefined, 8)).toEqual({ first: 0, end: 8 });
  });

  test("are halved and doubled around a processor that keeps its place", () => {
    expect(zoomed({ first: 0, end: 64 }, 64, 32, true)).toEqual({ first: 16, end: 48 });
    expect(zoomed({ first: 0, end: 64 }, 64, 0, true)).toEqual({ first: 0, end: 32 });
    expect(zoomed({ first: 16, end: 48 }, 64, 32, false)).toBeUndefined();
    expect(zoomed({ first: 16, end: 24 }, 64, 16, false)).toEqual({ first: 16, end: 32 });
    expect(zoomed({ first: 3, end: 4 }, 64, 3, true)).toEqual({ first: 3, end: 4 });
  });

  test("stay within the machine and contain the processor", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.nat(499),
        fc.nat(499),
        fc.nat(499),
        fc.boolean(),
        (processors, a, b, c, closer) => {
          const [first, last] = [a % processors, b % processors].sort((x, y) => x - y);
          const span = { first, end: last + 1 };
          const around = first + (c % (span.end - span.first));
          const { first: left, end: right } = visibleSpan(
            zoomed(span, processors, around, closer),
            processors,
          );
          expect(left).toBeLessThanOrEqual(around);
          expect(right).toBeGreaterThan(around);
          expect(right).toBeLessThanOrEqual(processors);
        },
      ),
    );
  });
});
