/** Compares the start of the last lines with splitting the whole text, the naive twin. */

import { Random } from "@tutti/kernel/core/random.ts";
import { expect, test } from "vitest";
import { startOfLastLines } from "./log-stream.ts";

async function lastLines(text: string, lines: number): Promise<string> {
  const bytes = Buffer.from(text);
  const offset = await startOfLastLines(bytes.length, lines, async (from, length) =>
    bytes.subarray(from, from + length),
  );
  return bytes.subarray(offset).toString();
}

test("as tail -n: a text after the last line feed is a line, empty lines count", async () => {
  expect(await lastLines("a\nb\nc\n", 2)).toBe("b\nc\n");
  expect(await lastLines("a\nb\nc", 2)).toBe("b\nc");
  expect(await lastLines("a\n\n\n", 2)).toBe("\n\n");
  expect(await lastLines("a\nb\n", 0)).toBe("");
  expect(await lastLines("a\nb\n", 9)).toBe("a\nb\n");
  expect(await lastLines("", 3)).toBe("");
});

test("across pieces, with long lines and characters of several bytes", async () => {
  const random = new Random(4, "lines");
  for (let i = 0; i < 60; i++) {
    const lines = Array.from({ length: 1 + random.below(40) }, () => "ä".repeat(random.below(20_000)));
    const asked = random.below(45);
    const isComplete = random.below(2) === 0;
    // Without a line feed at its end, an empty last line is no line.
    if (!isComplete) lines.push("end");
    const text = isComplete ? lines.map((line) => `${line}\n`).join("") : lines.join("\n");
    const expected = lines.slice(Math.max(0, lines.length - asked)).join("\n");
    const end = isComplete && asked > 0 ? "\n" : "";
    expect(await lastLines(text, asked)).toBe(asked === 0 ? "" : `${expected}${end}`);
  }
});
