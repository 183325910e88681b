/** Makes folders and their parents. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Like mkdir -p. Node's own recursive mkdir never returns if the file system reports a folder as missing
 * although its parent exists, as /proc does. Users choose where output goes, so this can happen.
 * @throws an error of the file system
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
