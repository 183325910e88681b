/**
 * The wheel of `npm run packages`, here not compressed: whether its tag is true for what it contains, by
 * readelf, and what pip installs from it without a network, uses and removes. test/packages-in-roots.test.ts
 * does this in new roots of several releases.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../scripts/packages/program.ts";
import { makeWheel } from "../scripts/packages/wheel.ts";
import { Leftovers } from "./leftovers.ts";

/**
 * What a machine has that accepts the tag manylinux_2_28: PEP 600, and of auditwheel's manylinux-policy.json
 * (revision 6d812f69) the newest versions of symbols on x86-64 and AArch64.
 */
const NEWEST: Readonly<Record<string, string>> = {
  GLIBC: "2.28",
  GLIBCXX: "3.4.24",
  CXXABI: "1.3.11",
  GCC: "7.0.0",
};
/** Of the libraries there, those that a program without windows may need; and the loader, as PEP 513 says. */
const ON_EVERY_MACHINE =
  /^(lib(gcc_s\.so\.1|stdc\+\+\.so\.6|(m|c)\.so\.6|(dl|resolv)\.so\.2|(rt|nsl|util|z|expat)\.so\.1|pthread\.so\.0)|ld-linux.*)$/;

const has = (program: string, ...words: readonly string[]) => spawnSync(program, words).status === 0;
const missing = Object.entries({
  "pip 22.3 or newer": has(
    "python3",
    "-c",
    "import pip; assert [*map(int, pip.__version__.split('.'))] >= [22, 3]",
  ),
  venv: has("python3", "-c", "import venv"),
  readelf: has("readelf", "--version"),
  patchelf: has("patchelf", "--version"),
}).flatMap(([name, isThere]) => (isThere ? [] : [name]));

describe.skipIf(missing.length > 0)(`the wheel (${missing.join(", ") || "nothing"} missing)`, () => {
  let folder: string;
  let wheel: string;
  let before: string[];
  /** What pip has installed. */
  let installed: string[];
  const path = (...words: readonly string[]) => join(folder, ...words);
  const venv = (name: string) => path("venv", name);
  const infoFile = (name: string) =>
    installed.find((one) => one.endsWith(`/tutti-${version}.dist-info/${name}`)) ?? name;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-wheel-test-"));
    wheel = makeWheel(folder, "ZIP_STORED");
    run("python3", "-m", "venv", "--without-pip", path("venv"));
    before = files(path("venv"));
    pip("install", "--no-index", "--no-compile", wheel);
    installed = files(path("venv")).filter((name) => !before.includes(name));
  });
  afterAll(async () => {
    await new Leftovers(folder, path("state")).clear();
    rmSync(folder, { recursive: true });
  });

  /** Runs a program that must succeed. Only the machine's Python and its pip have the test's variables. */
  function run(name: string, ...words: readonly string[]): string {
    const env = { PATH: "/usr/bin:/bin", HOME: path("home"), TUTTI_SOCKET: path("run/tutti.sock") };
    const { status, stdout, stderr } = spawnSync(name, words, {
      cwd: folder,
      encoding: "utf8",
      env: name === "python3" ? process.env : { ...env, PYTHONDONTWRITEBYTECODE: "1" },
    });
    expect(status, stdout + stderr).toBe(0);
    return stdout;
  }
  const pip = (...words: readonly string[]) =>
    run("python3", "-m", "pip", "--python", venv("bin/python"), ...words);

  test("RECORD has the sizes and hashes of all files", () => {
    const site = join(dirname(infoFile("RECORD")), "..");
    const lines = readFileSync(venv(infoFile("RECORD")), "utf8")
      .trimEnd()
      .split("\n");
    const recorded = lines.map((line) => line.trim().split(","));
    expect(recorded.map(([name]) => join(site, name)).sort()).toEqual(installed);
    for (const [name, hash, size] of recorded) {
      if (hash === "") continue;
      const content = readFileSync(venv(join(site, name)));
      const sha256 = createHash("sha256").update(content).digest("base64url");
      expect([name, hash, size]).toEqual([name, `sha256=${sha256}`, String(content.length)]);
    }
  });

  test("its name, its tag and its metadata say the same, and name files that exist", () => {
    const tag = /^Tag: (.*)$/m.exec(readFileSync(venv(infoFile("WHEEL")), "utf8"))?.[1];
    expect(basename(wheel)).toBe(`tutti-${version}-${tag}.whl`);
    expect(tag).toMatch(/^py3-none-manylinux_2_28_(x86_64|aarch64)$/);
    const metadata = readFileSync(venv(infoFile("METADATA")), "utf8");
    expect(metadata).toContain(`\nName: tutti\nVersion: ${version}\n`);
    expect(metadata).toContain('\nProvides-Extra: plot\nRequires-Dist: matplotlib; extra == "plot"\n');
    const licences = [...metadata.matchAll(/^License-File: (.*)$/gm)].map(([, name]) => name);
    expect(licences).toEqual(["LICENSE", "LICENSE.node", "LICENSE.libatomic"]);
    for (const name of licences) expect(installed).toContain(infoFile(`licenses/${name}`));
  });

  test("its programs need no newer machine than its tag says", () => {
    const own = readdirSync(venv("lib/tutti/lib"));
    const binaries = ["lib/tutti/node", ...own.map((name) => `lib/tutti/lib/${name}`)];
    for (const name of binaries) {
      const read = (what: string) => run("readelf", "--wide", what, venv(name));
      const dynamic = read("--dynamic");
      const libraries = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, library]) => library);
      expect(libraries).toContain("libc.so.6");
      const others = libraries.filter((library) => !ON_EVERY_MACHINE.test(library));
      expect(others.filter((library) => !own.includes(library))).toEqual([]);
      if (others.length > 0) expect(dynamic).toContain("[$ORIGIN/lib]");
      // Symbols that a file defines itself are in another section of the output.
      const needs = read("--version-info").split("Version needs section")[1];
      const symbols = [...needs.matchAll(/Name: ([A-Z]+)_([\d.]+) /g)].filter(([, of]) => of !== "LIBATOMIC");
      expect(symbols.length).toBeGreaterThan(0);
      const newer = symbols.filter(([, of, symbol]) => !(compareVersions(symbol, NEWEST[of]) <= 0));
      expect(newer.map(([text]) => text)).toEqual([]);
    }
  });

  test("without a network, pip has installed all that a job needs, and removes all of it", () => {
    const tutti = venv("bin/tutti");
    expect(run(tutti, "--version")).toContain(version);
    mkdirSync(path("run"), { mode: 0o700 });
    const serve = `'${tutti}' serve --no-http --private --state state >serve.log 2>&1 &`;
    run("/bin/sh", "-c", `${serve} until [ -S "$TUTTI_SOCKET" ]; do sleep 0.1; done`);
    const script = [
      "import tutti; job = tutti.submit(['echo', 'played']); print(job.wait(), job.output(), end='')",
      // Finds the command of its own virtual environment, which is not activated.
      "print(len(tutti.simulate('downey:jobs=20')['job']))",
    ];
    expect(run(venv("bin/python"), "-c", script.join("\n"))).toBe("done played\n20\n");
    run(tutti, "down");
    pip("uninstall", "--yes", "tutti");
    expect(files(path("venv"))).toEqual(before);
  });
});

/** Paths of all in a virtual environment that is not a folder. Its lib64 is a link to its lib. */
function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !name.startsWith("lib64/"))
    .sort();
}

function compareVersions(a: string, b: string | undefined): number {
  return a.localeCompare(b ?? "0", "en", { numeric: true });
}
