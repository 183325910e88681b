/** Tests the folder of the scheduler's socket, and the signing key in it. */
import {
  chmodSync,
  chownSync,
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
import {
  checkRuntimeDir,
  makeRuntimeDir,
  ownTemporaryFolder,
  readOrMakeKey,
  runtimeDirOf,
} from "./runtime-dir.ts";

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

  test("a folder with those of conductors is accepted, but not with what is only named like them", () => {
    const places = runtimeDirOf(join(folder, "tutti-4711", "tutti.sock"));
    makeRuntimeDir(places);
    mkdirSync(join(places.folder, "fac20033b6926d50-5-n1", "tasks"), { recursive: true });
    makeRuntimeDir(places);
    for (const name of ["fac20033b6926d50-6-n1", "fac20033b6926d50-thesis"]) {
      const path = join(places.folder, name);
      if (name.endsWith("thesis")) mkdirSync(path);
      else writeFileSync(path, "");
      expect(() => makeRuntimeDir(places)).toThrow(`it contains other files, such as "${name}"`);
      rmSync(path, { recursive: true });
    }
  });

  test("a folder that other programs use is refused before they have left a file in it", () => {
    const shared = join(folder, "xdg");
    mkdirSync(shared, { mode: 0o700 });
    for (const env of [{ XDG_RUNTIME_DIR: shared }, { HOME: `${shared}/` }]) {
      expect(() => checkRuntimeDir(runtimeDirOf(join(shared, "tutti.sock")), env)).toThrow(
        `Cannot use the folder "${shared}": other programs keep files there, expected a folder for the socket only; set TUTTI_SOCKET to a path such as ${shared}/tutti/tutti.sock`,
      );
      checkRuntimeDir(runtimeDirOf(join(shared, "tutti", "tutti.sock")), env);
    }
    expect(readdirSync(shared)).toEqual([]);
  });

  test("folders made above it can be entered under any umask", () => {
    const before = process.umask(0o077);
    try {
      makeRuntimeDir(runtimeDirOf(join(folder, "a", "b", "run", "tutti.sock")));
    } finally {
      process.umask(before);
    }
    const modes = ["a", "a/b", "a/b/run"].map((path) => statSync(join(folder, path)).mode & 0o777);
    expect(modes).toEqual([0o711, 0o711, 0o700]);
  });

  test.runIf(process.getuid?.() === 0)(
    "a taken name in /tmp is passed by, and the user's own one found",
    () => {
      const plain = join(folder, "tutti-4711");
      const find = () => ownTemporaryFolder(4711, undefined, folder);
      const mine = (path: string) => {
        mkdirSync(path);
        chownSync(path, 4711, 4711);
      };
      expect(find()).toBe(plain);
      mkdirSync(plain);
      const other = find();
      expect(other).toMatch(/\/tutti-4711\.[0-9a-f]{8}$/);
      expect(find()).not.toBe(other);
      // Somebody else's folder is not taken for the user's own.
      mkdirSync(`${plain}.00000000`);
      mine(other);
      expect(find()).toBe(other);
      // Also when the name is free again, since the scheduler is in the other folder.
      rmSync(plain, { recursive: true });
      expect(find()).toBe(other);
      mine(plain);
      expect(find()).toBe(plain);
    },
  );

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
