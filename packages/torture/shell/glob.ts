/** Paths that match a pattern. */
import type { Sys } from "../world/contract.ts";
import { codeOf } from "./io.ts";
import { hasPattern, matches, unescapePattern } from "./pattern.ts";

/** @returns in order; empty if nothing matches */
export function pathsLike(sys: Sys, pattern: string): string[] {
  const parts = pattern.split("/");
  const start = parts[0] === "" ? "/" : "";
  const names = parts.filter((part) => part !== "");
  let found = [start];
  for (const [i, name] of names.entries()) {
    const isLast = i === names.length - 1;
    const end = isLast && !pattern.endsWith("/") ? "" : "/";
    if (!hasPattern(name)) found = found.map((folder) => `${folder}${unescapePattern(name)}${end}`);
    else {
      found = found.flatMap((folder) => namesLike(sys, folder, name).map((each) => `${folder}${each}${end}`));
    }
  }
  // A name without a pattern, or a slash at the end, has not been looked up.
  return found.filter((path) => exists(sys, path));
}

function namesLike(sys: Sys, folder: string, pattern: string): string[] {
  try {
    const showsHidden = pattern.startsWith(".") || pattern.startsWith("\\.");
    return sys.files
      .readFolder(sys.self, folder || ".")
      .map(({ name }) => name)
      .filter((name) => (showsHidden || name[0] !== ".") && matches(pattern, name))
      .sort();
  } catch (error) {
    codeOf(error);
    return [];
  }
}

function exists(sys: Sys, path: string): boolean {
  try {
    const isFolder = path.endsWith("/");
    const { kind } = isFolder ? sys.files.stat(sys.self, path) : sys.files.lstat(sys.self, path);
    return !isFolder || kind === "folder";
  } catch (error) {
    codeOf(error);
    return false;
  }
}
