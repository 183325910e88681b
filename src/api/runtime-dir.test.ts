/** Tests the folder of the scheduler's socket, and the signing key in it. */
import {
  chmodSync,
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
import { makeRuntimeDir, readOrMakeKey, runtimeDirOf } from "./runtime-dir.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-places-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the socket's folder", () => {
  test("a folder with other files is refused and not changed", () => {
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o755 });
    writeFileSync(join(home, "thesis.tex"), "mine");
    const places = runtimeDirOf(join(home, "my.sock"));
    expect(() => makeRuntimeDir(places)).toThrow(
      /it contains other files, such as "thesis.tex", .* such as .*home\/tutti\/tutti.sock$/,
    );
    expect(readdirSync(home)).toEqual(["thesis.tex"]);
    expect(statSync(home).mode & 0o777).toBe(0o755);
    rmSync(join(home, "thesis.tex"));
    makeRuntimeDir(places);
    mkdirSync(join(places.tokens, "gold"));
    expect(() => makeRuntimeDir(places)).toThrow(/other files, such as "gold"/);
  });

  test("a key that others could read, or that is a link, is replaced", () => {
    const places = runtimeDirOf(join(folder, "run", "tutti.sock"));
    mkdirSync(places.folder, { mode: 0o700 });
    const first = readOrMakeKey(places);
    expect(readOrMakeKey(places).equals(first)).toBe(true);
    chmodSync(places.key, 0o644);
    const second = readOrMakeKey(places);
    expect(second.equals(first)).toBe(false);
    expect(statSync(places.key).mode & 0o777).toBe(0o600);
    rmSync(places.key);
    writeFileSync(join(folder, "elsewhere"), second, { mode: 0o600 });
    symlinkSync(join(folder, "elsewhere"), places.key);
    expect(readOrMakeKey(places).equals(second)).toBe(false);
    expect(readFileSync(join(folder, "elsewhere")).equals(second)).toBe(true);
  });
});
