import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolders } from "./make-folders.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-folders-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("makes missing folders with their mode, and keeps existing ones", () => {
  const path = join(folder, "a", "b", "c");
  makeFolders(path, 0o700);
  expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o700);
  expect(statSync(path).isDirectory()).toBe(true);
  makeFolders(path);
  symlinkSync(path, join(folder, "link"));
  makeFolders(join(folder, "link"));
});

test("throws if a folder cannot be made, even if the kernel reports it as missing", () => {
  expect(() => makeFolders("/proc/tutti/folder")).toThrow(/ENOENT/);
  writeFileSync(join(folder, "file"), "");
  expect(() => makeFolders(join(folder, "file"))).toThrow(/EEXIST/);
  expect(() => makeFolders(join(folder, "file", "x"))).toThrow(/ENOTDIR/);
  mkdirSync(join(folder, "gone"));
  symlinkSync(join(folder, "nowhere"), join(folder, "gone", "link"));
  expect(() => makeFolders(join(folder, "gone", "link"))).toThrow(/EEXIST/);
});
