import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { durationSeconds, quoted, secondsOf, wordsOf } from "./command-line.ts";

describe("wordsOf()", () => {
  test("splits as a shell does, and expands nothing", () => {
    expect(wordsOf(" a  b\tc ")).toEqual(["a", "b", "c"]);
    expect(wordsOf(`sh -c 'echo "a b"' "c'd" e\\ f ''`)).toEqual([
      "sh",
      "-c",
      'echo "a b"',
      "c'd",
      "e f",
      "",
    ]);
    expect(wordsOf('"a\\"b\\\\c\\d" $HOME *')).toEqual(['a"b\\c\\d', "$HOME", "*"]);
    expect(wordsOf("")).toEqual([]);
  });

  test("an open quote is no line", () => {
    for (const line of ["'a", 'a "b', "a\\"]) expect(wordsOf(line)).toBeUndefined();
  });

  test("reads what quoted() writes", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (words) => {
        expect(wordsOf(words.map(quoted).join(" "))).toEqual(words);
      }),
    );
  });
});

test("secondsOf() reads durations with units", () => {
  expect([".5", "90", "90s", "1.5m", "2 min", "2h", "1d", "500ms"].map(secondsOf)).toEqual([
    0.5, 90, 90, 90, 120, 7200, 86400, 0.5,
  ]);
  for (const text of ["", "h", "-1", "1:30", "1w", "1e3"]) expect(secondsOf(text)).toBeNaN();
});

test("durationSeconds() reads both, and a bare number is seconds", () => {
  const texts = ["90", "90s", "1.5m", "1:30", "1:30:00", "1-00:00:00", " 2-3 "];
  expect(texts.map(durationSeconds)).toEqual([90, 90, 90, 90, 5400, 86_400, 183_600]);
  for (const text of ["", "-1", "1:2:3:4", "1h:30", "2026-01-31"]) expect(durationSeconds(text)).toBeNaN();
});
