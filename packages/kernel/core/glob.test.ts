import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesGlob } from "./glob.ts";

/** The naive twin: tries every length for each star. */
function naive(text: string, pattern: string): boolean {
  if (pattern === "") return text === "";
  if (pattern[0] !== "*")
    return text[0] === pattern[0] && text !== "" && naive(text.slice(1), pattern.slice(1));
  return naive(text, pattern.slice(1)) || (text !== "" && naive(text.slice(1), pattern));
}

test("matchesGlob() fits what trying every length fits", () => {
  const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength });
  fc.assert(
    fc.property(letters(9), letters(7), (text, pattern) => {
      expect(matchesGlob(text, pattern)).toBe(naive(text, pattern));
    }),
  );
});

test("everything but the star stands for itself", () => {
  expect(matchesGlob("a.*b", "a.*b")).toBe(true);
  expect(matchesGlob("axxb", "a.*b")).toBe(false);
  expect(matchesGlob("[x]?", "[x]?")).toBe(true);
  expect(matchesGlob("x\ny", "*")).toBe(true);
});

test("a pattern of many stars that nearly fits takes no long search", () => {
  // Trying every length would take more steps than there are atoms.
  expect(matchesGlob("a".repeat(256), `${"*a".repeat(127)}*b`)).toBe(false);
  expect(matchesGlob("a".repeat(256), "*a".repeat(128))).toBe(true);
});
