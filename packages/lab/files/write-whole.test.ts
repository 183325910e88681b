import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isSameFile, OutputError, writeOutput } from "./write-whole.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-output-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("writeOutput()", () => {
  test("writes text and bytes, and replaces what was there", async () => {
    const file = join(folder, "out.txt");
    writeFileSync(file, "before, and longer than what comes");
    await writeOutput(file, ["ab", new Uint8Array([0x63, 0x0a]), "ü"]);
    expect(readFileSync(file, "utf8")).toBe("abc\nü");
    expect(readdirSync(folder)).toEqual(["out.txt"]);
  });

  test("a source that fails half-way leaves the old file and nothing else", async () => {
    const file = join(folder, "out.txt");
    writeFileSync(file, "old");
    const parts = function* () {
      yield "new".repeat(100_000);
      throw new RangeError("half-way");
    };
    await expect(writeOutput(file, parts())).rejects.toThrow(RangeError);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["out.txt"]);
  });

  test("a folder in the place of the file, and a missing folder, are refused by name", async () => {
    mkdirSync(join(folder, "taken"));
    await expect(writeOutput(join(folder, "taken"), ["x"])).rejects.toThrow(/taken": it is a directory/);
    await expect(writeOutput(join(folder, "none", "out.txt"), ["x"])).rejects.toThrow(OutputError);
    await expect(writeOutput(join(folder, "none", "out.txt"), ["x"])).rejects.toThrow(
      /there is no folder ".*none"/,
    );
  });

  test.skipIf(!existsSync("/dev/full"))("a full device is reported, and stays", async () => {
    await expect(writeOutput("/dev/full", ["x"])).rejects.toThrow(
      /Cannot write "\/dev\/full": no space is left/,
    );
    expect(existsSync("/dev/full")).toBe(true);
  });

  test("keeps the mode of an existing file", async () => {
    const file = join(folder, "out.txt");
    writeFileSync(file, "old");
    chmodSync(file, 0o640);
    await writeOutput(file, ["new"]);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test("writes to what a link leads to, whether it is there or not, and leaves the link", async () => {
    mkdirSync(join(folder, "there"));
    const link = join(folder, "link");
    symlinkSync("there/file.txt", link);
    for (const text of ["one", "two"]) {
      await writeOutput(link, [text]);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(folder, "there", "file.txt"), "utf8")).toBe(text);
    }
    expect(readdirSync(join(folder, "there"))).toEqual(["file.txt"]);
  });

  test("a name of the greatest length is written, a longer one and a link to itself are refused", async () => {
    await writeOutput(join(folder, "n".repeat(255)), ["x"]);
    const refusal = (path: string) => expect(writeOutput(path, ["x"])).rejects;
    await refusal(join(folder, "n".repeat(256))).toThrow(/the name is too long/);
    symlinkSync("loop", join(folder, "loop"));
    await refusal(join(folder, "loop")).toThrow(/symbolic link that leads to itself/);
    await refusal(join(folder, "loop")).toThrow(OutputError);
    writeFileSync(join(folder, "plain"), "");
    await refusal(join(folder, "plain", "out")).toThrow(/is not a folder/);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s during a write ends it and leaves nothing",
    async (signal) => {
      const script = `import { writeOutput } from ${JSON.stringify(new URL("./write-whole.ts", import.meta.url).href)};
      const parts = function* () { for (let i = 0; ; i++) { if (i === 9) console.log("on"); yield "x".repeat(1 << 17); } };
      await writeOutput("out.txt", parts());`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
      await once(child.stdout, "data");
      expect(readdirSync(folder)).toHaveLength(1);
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([null, signal]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test("listens to interruptions only while it writes", async () => {
    const before = process.listenerCount("SIGINT");
    let during = 0;
    const parts = function* () {
      during = process.listenerCount("SIGINT");
      yield "x";
    };
    await writeOutput(join(folder, "out.txt"), parts());
    expect(during).toBe(before + 1);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});

describe("isSameFile()", () => {
  test("recognises one file by any of its names, whether it exists or not", () => {
    const at = (name: string) => join(folder, name);
    writeFileSync(at("a"), "");
    symlinkSync("a", at("to-a"));
    symlinkSync("none", at("to-none"));
    linkSync(at("a"), at("hard"));
    writeFileSync(at("b"), "");
    const same = [
      ["a", "a"],
      ["a", "to-a"],
      ["hard", "to-a"],
      ["none", "./none"],
      ["to-none", "none"],
    ];
    for (const [one, other] of same) expect(isSameFile(at(one), at(other)), `${one} ${other}`).toBe(true);
    for (const [one, other] of [
      ["a", "b"],
      ["a", "none"],
      ["none", "other"],
    ])
      expect(isSameFile(at(one), at(other)), `${one} ${other}`).toBe(false);
    expect(isSameFile("/dev/null", "/dev/null")).toBe(false);
  });
});
