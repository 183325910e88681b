import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandWithValues, isVariable, lengthWithValues, withValues } from "./sweep-values.ts";

describe("withValues()", () => {
  test.each([
    ["{}", { TUTTI_LINE: "a b" }, "a b"],
    ["--lr={lr} {lr}", { lr: "0.1" }, "--lr=0.1 0.1"],
    ["{{lr}}", { lr: "x" }, "{x}"],
    // What has no value is ordinary text: find -exec, awk, and names of other objects.
    ["{} {seed} { print $1 } {toString} $lr", { lr: "1" }, "{} {seed} { print $1 } {toString} $lr"],
    // A value is never read again.
    ["{a}{b}", { a: "{b}", b: "{a}" }, "{b}{a}"],
    ["{a}", { a: "$& $1 $$" }, "$& $1 $$"],
  ])("%s with %o is %s", (text, values, expected) => {
    expect(withValues(text, values as Record<string, string>)).toBe(expected);
  });

  test("lengthWithValues() is its length", () => {
    const text = fc.array(fc.constantFrom("{a}", "{b}", "{}", "{c}", "{", "}", "x", "é"), { maxLength: 20 });
    const values = fc.record(
      { a: fc.string(), b: fc.string(), TUTTI_LINE: fc.string() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(text, values, (parts, given) => {
        const values = given as Record<string, string>;
        expect(lengthWithValues(parts.join(""), values)).toBe(withValues(parts.join(""), values).length);
      }),
    );
  });
});

test("the path of a script keeps its braces", () => {
  expect(commandWithValues(["/bin/sh", "/home/{a}.sh", "{a}"], { a: "1" }, 1)).toEqual([
    "/bin/sh",
    "/home/{a}.sh",
    "1",
  ]);
});

test.each([
  ["lr", true],
  ["_x1", true],
  ["OMP_NUM_THREADS", true],
  ["TUTTI_LINE", true],
  ["TUTTI_JOB_ID", false],
  ["__proto__", false],
  ["1a", false],
  ["a-b", false],
  ["", false],
])("whether a variable may be named %s: %s", (name, may) => {
  expect(isVariable(name)).toBe(may);
});
