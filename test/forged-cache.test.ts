/**
 * Tests that nobody can slip code into Tutti through Node's compile cache. Node can cache compiled code in a
 * folder below /tmp that all users share, and it runs what it finds there without checking the owner. This
 * test forges an entry as an attacker would, shows that a program that uses this cache runs it, and then
 * prepares an entry for Tutti.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "tutti-forged-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sources of the same length, because the engine itself checks only the length of the source. */
const GOOD = `export const said = ["this is", "Tutti"]; console.log(said.join(" "));\n`;
const EVIL = `export const said = ["this is", "Eve!!"]; console.log(said.join(" "));\n`;
/** Header: magic number, lengths of the source and of the compiled code, checksums of both. */
const HEADER_BYTES = 20;

/** A package as installed: the real program that people start, and a bundle. */
function makePackage(name: string, bundle: string): string {
  const root = join(folder, name);
  for (const one of ["bin", "dist"]) mkdirSync(join(root, one), { recursive: true });
  for (const file of ["bundle.js", "tutti.js"])
    copyFileSync(fileURLToPath(new URL(`../bin/${file}`, import.meta.url)), join(root, "bin", file));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "dist", "tutti.js"), bundle);
  // As Tutti's program once did. The engine does not accept code that was compiled with other flags.
  const trusting = [
    'import module from "node:module";',
    'import { setFlagsFromString } from "node:v8";',
    'setFlagsFromString("--no-maglev-escape-analysis");',
    "module.enableCompileCache();",
    'await import("../dist/tutti.js");',
  ];
  writeFileSync(join(root, "bin", "trusting.js"), trusting.join("\n"));
  return root;
}

/** Runs a program of a package with a folder instead of /tmp. */
function run(root: string, program: string, temporary: string, env: NodeJS.ProcessEnv = {}): string {
  mkdirSync(temporary, { recursive: true });
  const { NODE_DISABLE_COMPILE_CACHE: _, NODE_COMPILE_CACHE: __, ...rest } = process.env;
  const { stdout } = spawnSync(process.execPath, [join(root, "bin", program), "--version"], {
    env: { ...rest, TMPDIR: temporary, ...env },
    encoding: "utf8",
  });
  return stdout;
}

/** Entries in a cache by the length of their source. */
function entriesOf(cache: string, length: number): string[] {
  return readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).readUInt32LE(4) === length);
}

describe("a forged cache of compiled code", () => {
  test("runs in a program that trusts it, not in tutti, which keeps none", () => {
    const ours = makePackage("tutti", GOOD);
    const hers = makePackage("eve", EVIL);
    const temporary = join(folder, "tmp");
    expect(run(hers, "trusting.js", join(folder, "eve-tmp"))).toBe("this is Eve!!\n");
    expect(run(ours, "trusting.js", temporary)).toBe("this is Tutti\n");
    const [mine] = entriesOf(temporary, GOOD.length);
    const [forged] = entriesOf(join(folder, "eve-tmp"), EVIL.length);
    const header = readFileSync(mine!).subarray(0, HEADER_BYTES);
    const payload = readFileSync(forged!).subarray(HEADER_BYTES);
    header.writeUInt32LE(payload.length, 8);
    header.writeUInt32LE(crc32(payload), 16);
    writeFileSync(mine!, Buffer.concat([header, payload]));

    expect(run(ours, "trusting.js", temporary)).toBe("this is Eve!!\n");
    expect(run(ours, "tutti.js", temporary)).toBe("this is Tutti\n");

    const bare = join(folder, "bare");
    const home = join(folder, "home");
    run(ours, "tutti.js", bare, { HOME: home, XDG_CACHE_HOME: join(home, ".cache") });
    expect(readdirSync(bare)).toEqual([]);
    expect(readdirSync(folder)).not.toContain("home");
  });
});
