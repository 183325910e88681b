import fc from "fast-check";
import { expect, test } from "vitest";
import { holds, mergeRanges, parseRanges, rangesOf, rangesText } from "./number-ranges.ts";

test("numbers become the fewest ranges, and are read again as the same numbers", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (numbers) => {
      const ranges = parseRanges(rangesText(rangesOf(numbers)))!;
      const read = ranges.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, i) => first + i),
      );
      expect(read).toEqual([...numbers].sort((a, b) => a - b));
      for (let i = 1; i < ranges.length; i++) expect(ranges[i].first).toBeGreaterThan(ranges[i - 1].last + 1);
      for (let one = 0; one <= 61; one++) expect(holds(ranges, one)).toBe(numbers.includes(one));
    }),
  );
});

test("ranges that overlap or touch become one", () => {
  const ranges = [
    { first: 7, last: 9 },
    { first: 1, last: 3 },
    { first: 2, last: 2 },
    { first: 4, last: 4 },
    { first: 12, last: 12 },
  ];
  expect(rangesText(mergeRanges(ranges))).toBe("1-4,7-9,12");
  expect(rangesText(ranges.slice(0, 2), ", ")).toBe("7-9, 1-3");
});

test.each(["", ",", "0", "3-", "-3", "9-3", "1,,2", "1 2", "1e3", "1234567890123456"])(
  "%j is not a list of numbers",
  (text) => {
    expect(parseRanges(text)).toBeUndefined();
  },
);
