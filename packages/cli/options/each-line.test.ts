/** Tests the lines that become jobs: what a line is, and files that are hostile. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readLines } from "./each-line.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: string | Buffer): string {
  const path = join(folder, "lines.txt");
  writeFileSync(path, content);
  return path;
}

const linesOf = async (content: string | Buffer, wanted?: readonly number[]) =>
  (await readLines(file(content), wanted && new Set(wanted))).map(({ number, text }) => `${number}:${text}`);

describe("readLines()", () => {
  test("a line has its number as in an editor; empty ones are no jobs, and the last needs no end", async () => {
    expect(await linesOf("a b\n\n c \nlast")).toEqual(["1:a b", "3: c ", "4:last"]);
    expect(await linesOf("")).toEqual([]);
    expect(await linesOf("\n\n")).toEqual([]);
  });

  test("ends of lines and the byte order mark of Windows are no part of a job", async () => {
    expect(await linesOf("\uFEFFa\r\nb\r\n\r\nc\rd\r\n")).toEqual(["1:a", "2:b", "4:c\rd"]);
    expect(await linesOf("a\n\uFEFFb\n")).toEqual(["1:a", "2:\uFEFFb"]);
  });

  test("characters that pieces of the file cut in two are whole", async () => {
    // Pieces have 64 KiB; with an odd offset every piece begins inside of a character.
    const text = `x${"é".repeat(60_000)}`;
    expect(await linesOf(`${text}\n${text}\n`)).toEqual([`1:${text}`, `2:${text}`]);
  });

  test("only the lines that are wanted are read, however long the others are", async () => {
    const huge = "x".repeat(1_000_000);
    expect(await linesOf(`${huge}\nb\nc\nd\n${huge}`, [2, 4])).toEqual(["2:b", "4:d"]);
    const million = Buffer.from("line\n".repeat(1_000_000));
    expect(await linesOf(million, [999_999])).toEqual(["999999:line"]);
  });

  test.each([
    ["NUL", "a\nb\0c\n", /^Cannot use line 2 of ".*lines.txt": it contains a NUL character, expected text$/],
    ["Latin-1", Buffer.from([97, 10, 0xe9, 10]), /line 2 of .*: it is not UTF-8, expected UTF-8; iconv/],
    ["a long line", `a\n${"x".repeat(131_060)}\n`, /line 2 of .*: it has more than 131,059 bytes/],
    ["a long line of long characters", "é".repeat(65_530), /line 1 of .*: it has more than 131,059 bytes/],
    [
      "a million lines",
      "x\n".repeat(1_000_000),
      /there are more than 10,000; submit parts of them, such as --array 1-10000/,
    ],
    [
      "much text",
      `${"x".repeat(100_000)}\n`.repeat(200),
      /up to line 168, they have more than 16,777,216 bytes/,
    ],
  ])("%s is refused with the place", async (_, content, message) => {
    await expect(readLines(file(content))).rejects.toThrow(message);
  });

  test("a line of 100 MB is refused before it is in memory", async () => {
    const path = file("");
    truncateSync(path, 100_000_000);
    const before = process.memoryUsage().rss;
    await expect(readLines(path)).rejects.toThrow(/line 1 of .*: it has more than 131,059 bytes/);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });

  test("the longest line that Linux accepts is accepted", async () => {
    expect(await linesOf(`${"x".repeat(131_059)}\r\n`)).toEqual([`1:${"x".repeat(131_059)}`]);
  });

  test("a file that cannot be read is named with the reason", async () => {
    await expect(readLines(join(folder, "none"))).rejects.toThrow(
      /none": there is no such file, expected a file with/,
    );
    await expect(readLines(folder)).rejects.toThrow(/it is a folder/);
  });
});
