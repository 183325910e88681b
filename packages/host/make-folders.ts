/** Makes folders and their parents. */
import { accessSync, constants, mkdirSync, statSync } from "./ports/fs.ts";
import { dirname } from "./ports/path.ts";
import { withUmask } from "./umask.ts";

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

/** Like mkdir, but the folder may be there. Its parent must be there: somebody may have moved that away. */
export function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (!isThere || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Makes what is missing above a path. The new folders have this mode, whatever the umask is. */
export function makeParents(path: string, mode: number): void {
  withUmask(0, () => makeFolders(dirname(path), mode));
}

/** Why a missing folder cannot be made; undefined if it exists or probably can. */
export function whyNotMade(path: string): string | undefined {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return undefined;
    const parent = dirname(path);
    if (statSync(parent, { throwIfNoEntry: false }) === undefined) return whyNotMade(parent);
    accessSync(`${parent}/`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
