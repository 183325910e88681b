/** Packs names of nodes, and gets the same ones back. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { packedNames, unpackedNames } from "./packed-names.ts";

test("runs of numbers, by hand", () => {
  expect(packedNames(["n1", "n2", "n3", "n7", "login"])).toEqual(["@n[1-3,7] login"]);
  expect(packedNames(["c09", "c10", "c11", "c8"])).toEqual(["@c[09] c[10-11,8]"]);
  expect(packedNames(["a", "b"])).toEqual(["a", "b"]);
  const many = Array.from({ length: 1000 }, (_, i) => `node${String(i + 1).padStart(4, "0")}`);
  expect(packedNames(many)).toEqual(["@node[0001-0999] node[1000]"]);
});

test("the names come back as they were, in their order, whatever they are", () => {
  const number = fc.oneof(
    fc.nat({ max: 30 }).map(String),
    fc.nat({ max: 30 }).map((n) => String(n).padStart(2, "0")),
    fc.nat({ max: 30 }).map((n) => String(n).padStart(3, "0")),
    fc.constantFrom("", "999999999999999", "99999999999999999999", "000"),
  );
  const name = fc
    .tuple(fc.constantFrom("n", "c1-", "", "a.b", "x[", "a@", " ", "n0"), number)
    .map((p) => p.join(""));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 40 }), (names) => {
      expect(unpackedNames(packedNames(names))).toEqual(names);
    }),
    { numRuns: 2000 },
  );
});
