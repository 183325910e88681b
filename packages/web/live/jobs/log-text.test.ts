import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LogText } from "./log-text.ts";

/** The same, from the whole text. */
function naive(whole: string): string {
  let lines = whole.split("\n").map((line) => (line.length > 4000 ? `${line.slice(0, 4000)}…` : line));
  lines = lines.slice(-2000);
  while (lines.length > 1 && lines.join("\n").length > 131_072) lines.shift();
  return lines.join("\n");
}

describe("LogText", () => {
  test("keeps short texts as they are, however they are split", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "\n", "é"), maxLength: 20 });
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const log = new LogText();
        for (const text of pieces) log.add(text);
        expect(log.text).toBe(pieces.join(""));
        expect(log.isCut).toBe(false);
      }),
    );
  });

  test("keeps the last 2,000 lines and 131,072 characters, and cuts long lines", () => {
    const line = fc.tuple(fc.integer({ min: 0, max: 6000 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 120 }), (lines, times) => {
        const once = lines.map(([length, isEnd], i) => `${i}${"x".repeat(length)}${isEnd ? "\n" : ""}`);
        const log = new LogText();
        let whole = "";
        for (let i = 0; i < times; i++)
          for (const text of once) {
            log.add(text);
            whole += text;
          }
        expect(log.text).toBe(naive(whole));
      }),
      { numRuns: 30 },
    );
  });

  test("many short lines", () => {
    const log = new LogText();
    for (let i = 0; i < 5000; i++) log.add(`${i}\n`);
    expect(log.text.split("\n")).toHaveLength(2000);
    expect(log.text.endsWith("\n4999\n")).toBe(true);
    expect(log.isCut).toBe(true);
  });
});
