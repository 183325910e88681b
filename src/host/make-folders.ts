/** Folders that may be there, with those above them. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * As mkdir -p. Node's own recursive mkdir never returns where the file system says that a folder is missing although the one above it
 * is there, as /proc does; and users choose where output goes.
 * @throws Error of the file system
 */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolders(dirname(path), mode);
    makeFolder(path, mode);
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (!isThere || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
