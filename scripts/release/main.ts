/**
 * `npm run release -- v0.2.0`: makes a release from its tag, in a new checkout: all packages, what is in them
 * (sbom.cdx.json), checksums and notes. Made again with the same tools, they have the same bytes. Nothing is
 * published; a comment at the end of NOTES.md says how.
 *
 *   npm run release -- v0.2.0              to out/release/0.2.0
 *   npm run release -- v0.2.0 --dry-run    from the present revision, whether or not the tag exists
 *   npm run release -- --prepare 0.2.0     writes the version in all places, and the section of CHANGELOG.md
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sectionOf, withSection } from "./changelog.ts";
import { notesOf } from "./notes.ts";
import { setVersion, versionFaults } from "./places.ts";
import { sbomOf } from "./sbom.ts";

const NOTES = "NOTES.md";
const SUMS = "SHA256SUMS";
const VERSION = /^\d+\.\d+\.\d+$/;

/** What keeps a tag from becoming a release: a line for people for each fault. */
export function tagFaults(repository: string, tag: string): string[] {
  const faults: string[] = [];
  if (git(repository, "tag", "--list", tag) === "")
    faults.push(`there is no tag ${tag}: git tag -a ${tag} -m "Tutti ${tag.slice(1)}" makes it`);
  const changed = git(repository, "status", "--porcelain");
  if (changed !== "") faults.push(`files are changed, which the tag does not have:\n${changed}`);
  return faults;
}

/** What is wrong in the files of a release. */
export function contentFaults(folder: string, version: string): string[] {
  const faults = versionFaults(folder, version);
  if (sectionOf(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), version) === undefined)
    faults.push(`CHANGELOG.md: no section "## ${version}" with text`);
  return faults;
}

/**
 * Adds to a folder of packages what is in them, checksums and notes.
 * @param checkout where they were made
 */
export function describeFiles(out: string, checkout: string, version: string): void {
  writeFileSync(join(out, "sbom.cdx.json"), sbomOf(checkout, version));
  const files = globSync("**", { cwd: out })
    .filter((name) => statSync(join(out, name)).isFile() && ![NOTES, SUMS].includes(name))
    .sort();
  const sums = files.map((name) => {
    const hash = createHash("sha256").update(readFileSync(join(out, name)));
    return `${hash.digest("hex")}  ${name}\n`;
  });
  writeFileSync(join(out, SUMS), sums.join(""));
  const changes = sectionOf(readFileSync(join(checkout, "CHANGELOG.md"), "utf8"), version)!;
  writeFileSync(join(out, NOTES), notesOf(version, changes, files, sums.join("")));
}

function prepare(root: string, version: string): void {
  const changelog = join(root, "CHANGELOG.md");
  setVersion(root, version);
  writeFileSync(changelog, withSection(readFileSync(changelog, "utf8"), version));
}

function make(root: string, version: string, commit: string, out: string): void {
  const folder = mkdtempSync(join(tmpdir(), "tutti-release-"));
  try {
    const checkout = join(folder, "tutti");
    git(root, "clone", "--quiet", "--no-checkout", root, checkout);
    git(checkout, "checkout", "--quiet", "--detach", commit);
    refuse(version, contentFaults(checkout, version));
    const run = (program: string, ...words: readonly string[]) =>
      execFileSync(program, words, { cwd: checkout, stdio: ["ignore", "inherit", "inherit"] });
    run("npm", "ci", "--ignore-scripts", "--prefer-offline");
    if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, "SHA256SUMS")))
      throw new Error(`Cannot write the release to "${out}": the folder contains other files`);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    run("npm", "run", "--silent", "packages", "--", "--out", out);
    describeFiles(out, checkout, version);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refuse(version: string, faults: readonly string[]): void {
  if (faults.length === 0) return;
  console.error(`Cannot release ${version}:\n${faults.map((fault) => `- ${fault}`).join("\n")}`);
  process.exit(1);
}

function git(folder: string, ...words: readonly string[]): string {
  return execFileSync("git", words, { cwd: folder, encoding: "utf8" }).trimEnd();
}

function main(): void {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "dry-run": { type: "boolean" }, out: { type: "string" }, prepare: { type: "string" } },
  });
  const tag = values.prepare === undefined ? positionals[0] : `v${values.prepare}`;
  const version = tag?.slice(1) ?? "";
  if (!tag?.startsWith("v") || !VERSION.test(version)) {
    console.error("Cannot release: expected a tag, such as npm run release -- v0.2.0");
    process.exit(2);
  }
  if (values.prepare !== undefined) {
    prepare(root, version);
    return;
  }
  if (!values["dry-run"]) refuse(version, tagFaults(root, tag));
  const out = resolve(values.out ?? join(root, "out/release", version));
  make(root, version, git(root, "rev-parse", values["dry-run"] ? "HEAD" : `${tag}^{commit}`), out);
  console.log(`${out}: not published; the end of ${NOTES} says how`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
