/**
 * Makes the source tarball, the tracked files and `dist/`, so that neither its build nor its use needs npm;
 * and the recipes of conda-forge and spack for it, with its version and its hash.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { revisionS, root, version } from "./program.ts";

const name = `tutti-${version}`;

/** The tracked files are those of the working tree, from which `dist/` was made. */
export function makeSource(out: string): string {
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trimEnd().split("\n");
  const built = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  // Last, so that `dist/` is not older than the sources if tar gives the files the time at which it unpacks.
  const list = "dist/sources.json";
  const files = [...tracked, ...built.filter((file) => file !== list).sort(), list];
  const same = [
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    `--mtime=@${revisionS()}`,
    "--mode=a+rX,u+w,go-w",
  ];
  const tar = execFileSync(
    "tar",
    ["-cf", "-", "--hard-dereference", ...same, `--transform=s,^,${name}/,`, "-C", root, "-T", "-"],
    { input: files.join("\n"), maxBuffer: 2 ** 30 },
  );
  const file = sourceFile(out);
  writeFileSync(file, gzipSync(tar, { level: 9 }));
  return file;
}

export function makeCondaRecipe(out: string): string {
  return makeRecipe(out, "conda/recipe.yaml");
}

export function makeSpackRecipe(out: string): string {
  return makeRecipe(out, "spack/package.py");
}

/** Needs the tarball in the same folder. */
function makeRecipe(out: string, path: string): string {
  const sha256 = createHash("sha256")
    .update(readFileSync(sourceFile(out)))
    .digest("hex");
  const recipe = readFileSync(join(root, "packaging", path), "utf8");
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, recipe.replaceAll("@VERSION@", version).replaceAll("@SHA256@", sha256));
  return file;
}

function sourceFile(out: string): string {
  return join(out, `${name}-source.tar.gz`);
}
