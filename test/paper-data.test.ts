/** The data files of the papers have their form, and a fault is named with its file, line and value. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkPaperData, faultsOf } from "../scripts/paper-data.ts";

const read = (name: string) => readFileSync(new URL(`../docs/papers/${name}`, import.meta.url), "utf8");

test("the data files of all papers have their form", () => {
  expect(checkPaperData).not.toThrow();
});

describe("faultsOf()", () => {
  const numbers = read("zhou2000.numbers.json");
  const lineOf = (text: string, words: string) => text.slice(0, text.indexOf(words)).split("\n").length;

  test.each([
    [
      "[0.58, 14, 7.62,",
      '[0.58, "14", 7.62,',
      "tables.1.rows.bc.3.1",
      'expected number, received string, found "14"',
    ],
    ["[0.58, 14, 7.62,", "[0.58, 7.62,", "tables.1.rows.bc.3", "expected array to have exactly 7 items"],
    ["[0.58, 14, 7.62,", "[0.58, -14, 7.62,", "tables.1.rows.bc.3.1", "expected number to be >=0, found -14"],
    ['"sets": 5,', '"set": 5,', "tables.2.sets", "expected number, received undefined, found nothing"],
  ])("names the line of %s, written as %s", (right, wrong, path, words) => {
    const [fault] = faultsOf("zhou2000.numbers.json", numbers.replace(right, wrong));
    const lines = lineOf(numbers, right);
    expect(fault).toContain(`: ${path}: `);
    expect(fault).toContain(words);
    if (path !== "tables.2.sets") expect(fault).toContain(`docs/papers/zhou2000.numbers.json:${lines}: `);
  });

  test("names the line of an entry of the index that says nothing about itself, and of a text that is not JSON", () => {
    const texts = read("zhou1999.texts.json");
    const [fault] = faultsOf(
      "zhou1999.texts.json",
      texts.replace('"notClaimed": "{hardware}"', '"shown": []'),
    );
    expect(fault).toMatch(/^docs\/papers\/zhou1999\.texts\.json:\d+: index\.\d+\.shown: /);
    expect(faultsOf("zhou1999.texts.json", texts.replace('"title"', "title"))[0]).toContain("line 2");
  });
});
