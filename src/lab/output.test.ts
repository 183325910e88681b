import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OutputError, writeOutput } from "./output.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-output-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("writeOutput()", () => {
  test("writes text and bytes, and replaces what was there", () => {
    const file = join(folder, "out.txt");
    writeFileSync(file, "before, and longer than what comes");
    writeOutput(file, ["ab", new Uint8Array([0x63, 0x0a]), "ü"]);
    expect(readFileSync(file, "utf8")).toBe("abc\nü");
    expect(readdirSync(folder)).toEqual(["out.txt"]);
  });

  test("a source that fails half-way leaves the old file and nothing else", () => {
    const file = join(folder, "out.txt");
    writeFileSync(file, "old");
    const parts = function* () {
      yield "new".repeat(100_000);
      throw new RangeError("half-way");
    };
    expect(() => writeOutput(file, parts())).toThrow(RangeError);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["out.txt"]);
  });

  test("a folder in the place of the file, and a missing folder, are refused by name", () => {
    mkdirSync(join(folder, "taken"));
    expect(() => writeOutput(join(folder, "taken"), ["x"])).toThrow(/taken": it is a directory/);
    expect(() => writeOutput(join(folder, "none", "out.txt"), ["x"])).toThrow(OutputError);
    expect(() => writeOutput(join(folder, "none", "out.txt"), ["x"])).toThrow(/there is no folder ".*none"/);
  });

  test.skipIf(!existsSync("/dev/full"))("a full device is told, and stays", () => {
    expect(() => writeOutput("/dev/full", ["x"])).toThrow(/Cannot write "\/dev\/full": no space is left/);
    expect(existsSync("/dev/full")).toBe(true);
  });

  test("listens to interruptions only while it writes", () => {
    const before = process.listenerCount("SIGINT");
    let during = 0;
    const parts = function* () {
      during = process.listenerCount("SIGINT");
      yield "x";
    };
    writeOutput(join(folder, "out.txt"), parts());
    expect(during).toBe(before + 1);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});
