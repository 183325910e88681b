/** The files of Tutti that a package contains, with the Node that runs them. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownVersion } from "@tutti/host/version.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const node = join(root, "node_modules", `node-linux-${process.arch}`);

export const version = ownVersion();

/** Unix time in s that all files of a package have: the revision's, so that packages can be made again. */
export function revisionS(): number {
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }));
}

/**
 * Copies the program: `bin/` and `dist/`, what they read, and `node`.
 * @param folder newly created
 */
export function copyProgram(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "LICENSE"]) copyFileSync(join(root, name), join(folder, name));
  for (const name of ["bin", "dist"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  rmSync(join(folder, "dist/sources.json"));
  copyFileSync(join(node, "bin/node"), join(folder, "node"));
  copyFileSync(join(node, "LICENSE"), join(folder, "LICENSE.node"));
  setModes(folder, ["node"]);
}

/**
 * Sets the modes of a package's files, whatever umask the build has.
 * @param programs their paths in the folder
 */
export function setModes(folder: string, programs: readonly string[]): void {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    const runs = programs.includes(name) || lstatSync(path).isDirectory();
    chmodSync(path, runs ? 0o755 : 0o644);
  }
}

/** Copies a file, and makes the folders for it. */
export function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(root, from), to);
}
