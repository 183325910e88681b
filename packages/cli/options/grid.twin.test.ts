/**
 * Tests `--grid` against two twins: nested loops, written as a recursion, and bash for ranges.
 */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseGrid } from "./grid.ts";

/** All combinations, the last variable fastest, as lines such as `a=1 b=2`. */
function nestedLoops(variables: readonly (readonly [string, readonly string[]])[]): string[] {
  const [first, ...rest] = variables;
  if (first === undefined) return [""];
  const lines: string[] = [];
  for (const value of first[1]) {
    for (const line of nestedLoops(rest)) lines.push(`${first[0]}=${value} ${line}`);
  }
  return lines;
}

function linesOf(columns: Record<string, readonly string[]>): string[] {
  const [first = []] = Object.values(columns);
  return first.map((_, job) =>
    Object.entries(columns)
      .map(([name, column]) => `${name}=${column[job]} `)
      .join(""),
  );
}

/** What bash makes of `{1..5}`, for many ranges at once. */
function bashRanges(ranges: readonly string[]): string[][] {
  const script = ranges.map((range) => `echo {${range}}`).join("\n");
  const output = execFileSync("bash", ["-c", script], { encoding: "utf8" });
  return output
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
}

describe("parseGrid()", () => {
  test("combines the values of a hand-worked example, the last variable fastest", () => {
    expect(parseGrid(["lr=0.1,0.01", "seed=1..3"])).toEqual({
      lr: ["0.1", "0.1", "0.1", "0.01", "0.01", "0.01"],
      seed: ["1", "2", "3", "1", "2", "3"],
    });
    expect(parseGrid(["x=a..b,../c,7..5,-", "y==,="]).x).toEqual(
      ["a..b", "../c", "7", "6", "5", "-"].flatMap((value) => [value, value]),
    );
  });

  test("has the combinations of nested loops, in their order", () => {
    const value = fc.stringMatching(/^[a-z0-9._/+={} -]{1,6}$/).filter((text) => !text.includes(".."));
    const variable = fc.tuple(
      fc.stringMatching(/^[a-z][a-z0-9_]{0,3}$/),
      fc.array(value, { minLength: 1, maxLength: 5 }),
    );
    const variables = fc.uniqueArray(variable, { minLength: 1, maxLength: 4, selector: ([name]) => name });
    fc.assert(
      fc.property(variables, (asked) => {
        const words = asked.map(([name, values]) => `${name}=${values.join(",")}`);
        expect(linesOf(parseGrid(words))).toEqual(nestedLoops(asked));
      }),
    );
  });

  test("has the ranges of bash", () => {
    const number = fc
      .tuple(fc.boolean(), fc.constantFrom("", "0", "00"), fc.integer({ min: 0, max: 120 }))
      .map(([isNegative, zeros, digits]) => `${isNegative ? "-" : ""}${zeros}${digits}`);
    const step = fc.option(fc.integer({ min: -7, max: 30 }).filter((by) => by !== 0));
    const range = fc
      .tuple(number, number, step)
      .map(([from, to, by]) => `${from}..${to}${by === null ? "" : `..${by}`}`);
    const ranges = fc.sample(range, 500);
    const expected = bashRanges(ranges);
    for (const [i, text] of ranges.entries()) {
      expect({ text, values: parseGrid([`x=${text}`]).x }).toEqual({ text, values: expected[i] });
    }
  });

  test.each([
    ["lr", /"lr" in --grid: expected variables with values.*if it is a script, put another option between/],
    ["=1", /"" is not the name of a variable/],
    ["TUTTI_JOB_ID=1", /"TUTTI_JOB_ID" is not the name of a variable/],
    ["__proto__=1", /is not the name of a variable/],
    ["a-b=1", /"a-b" is not the name of a variable/],
    ["lr=", /a value is empty/],
    ["lr=1,,2", /a value is empty/],
    ["x=1..5..0", /its step is 0, expected a range such as 1..9..2, which is 1,3,5,7,9/],
    ["x=0.1..0.5", /ranges have whole numbers/],
    ["x=1...5", /ranges have whole numbers/],
  ])("refuses %s and says what is expected", (word, message) => {
    expect(() => parseGrid([word])).toThrow(message);
  });

  test("refuses a variable twice", () => {
    expect(() => parseGrid(["a=1", "b=1", "a=2"])).toThrow(/"a=2" in --grid: it names a for the second time/);
  });

  test("refuses more than 10,000 jobs with their number, without making them", () => {
    const heapBefore = process.memoryUsage().heapUsed;
    expect(() => parseGrid(["a=1..100", "b=1..100", "c=1..100"])).toThrow(
      "Cannot submit the grid: it has 100 × 100 × 100 = 1,000,000 jobs, expected at most 10,000; submit parts of it",
    );
    expect(() => parseGrid(["a=1..999999999999999"])).toThrow(/it has 999,999,999,999,999 jobs/);
    const many = Array.from({ length: 60 }, (_, i) => `v${i}=1..1000000`);
    expect(() => parseGrid(many)).toThrow(/expected at most 10,000/);
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(20 * 2 ** 20);
    expect(parseGrid(["a=1..100", "b=1..100"]).a).toHaveLength(10_000);
  });
});
