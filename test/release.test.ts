/**
 * What `npm run release` refuses, and what it adds to the packages. `npm run soak` makes the whole release
 * twice, in new checkouts, and compares the bytes.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { version } from "../scripts/packages/program.ts";
import { sectionOf, withSection } from "../scripts/release/changelog.ts";
import { contentFaults, describeFiles, tagFaults } from "../scripts/release/main.ts";
import { files, setVersion } from "../scripts/release/places.ts";
import { root } from "./sources.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-release-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (...names: readonly string[]) => join(folder, ...names);
const read = (name: string) => readFileSync(path(name), "utf8");

describe("the version", () => {
  test("of package.json is said in all places, and the changelog has its section", () => {
    expect(contentFaults(root, version)).toEqual([]);
  });

  /** A copy of all files that say the version. */
  function copyPlaces(): void {
    const names = [...files(root)].map(([name]) => name);
    for (const name of [...names, "CHANGELOG.md"]) {
      mkdirSync(dirname(path(name)), { recursive: true });
      cpSync(join(root, name), path(name));
    }
  }

  test("is said nowhere else, so that --prepare changes it everywhere", () => {
    const named = ["CHANGELOG.md", "scripts/release", "test", "*.test.ts"].map((name) => `:!${name}`);
    const words = ["grep", "-l", "-F", "-w", version, "--", ".", ...named];
    const { stdout } = spawnSync("git", words, { cwd: root, encoding: "utf8" });
    const places = [...files(root)].map(([name]) => name);
    const others = stdout.split("\n").filter((name) => name !== "" && !places.includes(name));
    expect(others, "add these to scripts/release/places.ts, or leave out the version").toEqual([]);
  });

  test("that differs in one place, or has no section, is refused with the place", () => {
    copyPlaces();
    for (const name of ["CITATION.cff", "package-lock.json", "packages/lab/package.json"])
      writeFileSync(path(name), read(name).replace(version, "9.8.7"));
    writeFileSync(path("docs/reference-python.md"), "");
    const headed = new RegExp(`^## ${version.replaceAll(".", "\\.")}$`, "m");
    writeFileSync(path("CHANGELOG.md"), read("CHANGELOG.md").replace(headed, "## 9.8.7"));
    expect(contentFaults(folder, version).sort()).toEqual([
      `CHANGELOG.md: no section "## ${version}" with text`,
      expect.stringMatching(/^CITATION\.cff:\d+: 9\.8\.7, expected /),
      `docs/reference-python.md: no version, expected ${version}`,
      `package-lock.json:3: 9.8.7, expected ${version}`,
      `packages/lab/package.json:3: 9.8.7, expected ${version}`,
    ]);
  });

  test("is written in all places, and what is unreleased becomes its section", () => {
    copyPlaces();
    setVersion(folder, "9.8.7");
    const changelog = "# Changes\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (not released)\n\n- First.\n";
    writeFileSync(path("CHANGELOG.md"), withSection(changelog, "9.8.7"));
    expect(contentFaults(folder, "9.8.7")).toEqual([]);
    expect(read("CHANGELOG.md")).toBe(changelog.replace("- New", "## 9.8.7\n\n- New"));
    expect(withSection(read("CHANGELOG.md"), "9.8.7")).toBe(read("CHANGELOG.md"));
    expect([sectionOf(changelog, "0.1.0"), sectionOf(changelog, "0.1")]).toEqual(["- First.", undefined]);
    const lock = JSON.parse(read("package-lock.json"));
    expect(lock.packages["tools/node"].version).toBe("0.0.0");
    expect(lock.packages["packages/lab"].dependencies["@tutti/host"]).toBe("9.8.7");
  });
});

test("a tag that is missing, or files that it does not have, are refused", () => {
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
      cwd: folder,
      stdio: "ignore",
    });
  git("init");
  git("commit", "--allow-empty", "-m", "first");
  expect(tagFaults(folder, "v0.2.0")).toEqual([
    expect.stringContaining("there is no tag v0.2.0: git tag -a"),
  ]);
  git("tag", "v0.2.0");
  expect(tagFaults(folder, "v0.2.0")).toEqual([]);
  writeFileSync(path("new"), "");
  expect(tagFaults(folder, "v0.2.0")).toEqual([expect.stringMatching(/files are changed.*\n\?\? new/)]);
  const program = join(root, "scripts/release/main.ts");
  for (const [words, status] of [
    [["v9.8.7"], 1],
    [["9.8.7"], 2],
  ] as const) {
    const refused = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
    expect([refused.status, refused.stdout]).toEqual([status, ""]);
    expect(refused.stderr).toMatch(/^Cannot release/);
  }
});

test("what is in the packages, checksums and notes are the same if they are made again", () => {
  const wheel = `tutti-${version}-py3-none-any.whl`;
  const made = ["first", "second"].map((name) => {
    mkdirSync(path(name));
    writeFileSync(path(name, wheel), "a wheel");
    describeFiles(path(name), root, version);
    return ["sbom.cdx.json", "SHA256SUMS", "NOTES.md"].map((file) => read(join(name, file)));
  });
  expect(made[0]).toEqual(made[1]);
  const [sbom, , notes] = made[0];
  expect(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: path("first") }).status).toBe(0);
  expect(notes).toContain(sectionOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version));
  expect(notes).toContain(`pip install ./${wheel}\n`);
  const { components, serialNumber, metadata } = JSON.parse(sbom);
  expect([serialNumber, metadata.timestamp, metadata.component.name]).toEqual([
    undefined,
    undefined,
    "tutti",
  ]);
  const names: string[] = components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["zod", "commander", "preact", "node", "libatomic1"]));
  expect(names.filter((name) => /^@tutti|vitest|esbuild/.test(name))).toEqual([]);
  const node = components.find(({ name }: { name: string }) => name === "node");
  expect(node.version).toBe(process.versions.node);
  expect(node.components).toContainEqual(
    expect.objectContaining({ name: "openssl", version: process.versions.openssl }),
  );
});

test.skipIf(!SOAK)(
  "a release from the present revision, made twice, has the same bytes (soak)",
  () => {
    const sums = ["first", "second"].map((name) => {
      const words = ["scripts/release/main.ts", `v${version}`, "--dry-run", "--out", path(name)];
      execFileSync(process.execPath, words, { cwd: root, stdio: "inherit" });
      expect(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: path(name) }).status).toBe(0);
      return ["SHA256SUMS", "NOTES.md"].map((file) => read(join(name, file)));
    });
    expect(sums[0]).toEqual(sums[1]);
    for (const kind of ["whl", "deb", "tgz", `linux-${process.arch}`, "sbom.cdx.json"])
      expect(sums[0][0]).toContain(`${kind}\n`);
  },
  1_800_000,
);
