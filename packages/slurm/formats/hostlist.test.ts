import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandHostlist } from "./hostlist.ts";

describe("lists of nodes", () => {
  test.each([
    ["n1", ["n1"]],
    ["n[1,3-4]", ["n1", "n3", "n4"]],
    ["node-a[01-03],b7", ["node-a01", "node-a02", "node-a03", "b7"]],
    ["r[1-2]n[09-10]", ["r1n09", "r1n10", "r2n09", "r2n10"]],
    ["c[98-101].site", ["c98.site", "c99.site", "c100.site", "c101.site"]],
  ])("%s is expanded", (text, names) => {
    expect(expandHostlist(text)).toEqual(names);
  });

  test.each(["", "n[1", "n1]", "n[[1]]", "n[3-1]", "n[]", "n[a]", "n1,", "a b", "n[1-99999999]", "$(id)"])(
    "%j is refused",
    (text) => {
      expect(expandHostlist(text)).toBeUndefined();
    },
  );

  test("a list that is written by hand from its numbers is read back", () => {
    const part = fc.record({
      prefix: fc.stringMatching(/^[a-z][a-z-]{0,4}$/),
      ranges: fc.array(fc.tuple(fc.nat(200), fc.nat(12)), { minLength: 1, maxLength: 4 }),
      width: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const padded = (value: number, width: number) => String(value).padStart(width, "0");
        const text = parts
          .map(({ prefix, ranges, width }) => {
            const list = ranges.map(([first, more]) =>
              more === 0 ? padded(first, width) : `${padded(first, width)}-${padded(first + more, width)}`,
            );
            return `${prefix}[${list.join(",")}]`;
          })
          .join(",");
        const names = parts.flatMap(({ prefix, ranges, width }) =>
          ranges.flatMap(([first, more]) =>
            Array.from({ length: more + 1 }, (_, i) => prefix + padded(first + i, width)),
          ),
        );
        // Slurm pads to the width of the first number of a range.
        expect(expandHostlist(text)).toEqual(names);
      }),
    );
  });
});
