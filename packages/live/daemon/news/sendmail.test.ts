import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSendmail } from "./sendmail.ts";

const { PATH } = process.env;
let folder: string;
let program: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-sendmail-"));
  program = join(folder, "sendmail");
  process.env.PATH = `relative::${folder}/none:${folder}`;
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
});
afterEach(() => {
  process.env.PATH = PATH;
  rmSync(folder, { recursive: true });
});

test("findSendmail() takes the program in the search path first, also behind a link", () => {
  expect(findSendmail([])).toBe(program);
  const other = join(folder, "other");
  mkdirSync(other);
  symlinkSync("../sendmail", join(other, "sendmail"));
  expect(findSendmail([other])).toBe(program);
  process.env.PATH = "";
  expect(findSendmail([other])).toBe(join(other, "sendmail"));
});

test.each([
  ["is not executable", () => chmodSync(program, 0o644)],
  [
    "is a folder",
    () => {
      rmSync(program);
      mkdirSync(program);
    },
  ],
  ["is missing", () => rmSync(program)],
  [
    "cannot be looked for",
    () => {
      rmSync(program);
      symlinkSync("sendmail", program);
    },
  ],
  ["could be changed by others", () => chmodSync(program, 0o777)],
  ["is in a folder of everybody", () => chmodSync(folder, 0o777)],
])("findSendmail() finds none if it %s", (_, spoil) => {
  spoil();
  expect(findSendmail([])).toBeUndefined();
});

test.runIf(process.getuid!() === 0)("findSendmail() passes over folders that it may not search", () => {
  const locked = join(folder, "locked");
  mkdirSync(locked, { mode: 0o700 });
  chmodSync(folder, 0o755);
  process.env.PATH = locked;
  process.seteuid!(65_534);
  try {
    expect(findSendmail([])).toBeUndefined();
  } finally {
    process.seteuid!(0);
  }
});
