import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packPapers, unpackPapers } from "./packed-papers.ts";

test("the papers are the same after packing", () => {
  const text = readFileSync("docs/papers/values.json", "utf8");
  const packed = packPapers(text);
  expect(unpackPapers(packed)).toEqual(JSON.parse(text));
  expect(packed.length).toBeLessThan(0.9 * text.length);
});

test("a value that contains a separator is refused", () => {
  const paper = { tables: [{ rows: [{ labels: [], values: [["1^2", ""]] }] }] };
  expect(() => packPapers(JSON.stringify([paper]))).toThrow('Cannot pack "1^2"');
});
