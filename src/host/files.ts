/** What more than one room asks of files and folders. */
import { closeSync, type Dirent, fsyncSync, openSync, readdirSync, readFileSync, type Stats } from "node:fs";

/** The text of a file; undefined when it cannot be read. */
export function readText(path: string, encoding: "utf8" | "latin1"): string | undefined {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}

/**
 * Whether it is an ordinary file of this user with one name: only such are believed or given out. A folder that a user may write can hold
 * anybody's files: they can be renamed into it, or linked where the kernel allows that. To be asked of an open file, not of a path, which
 * may be another file by then.
 */
export function isPlainFileOf(stats: Stats, uid: number): boolean {
  return stats.isFile() && stats.uid === uid && stats.nlink === 1;
}

/**
 * Name of something in a folder that is to be Tutti's alone and is not, the first in order of names; undefined when there is nothing. The
 * mode of such a folder is changed and files in it are replaced, so nobody else's may lie there.
 */
export function foreignFile(folder: string, isOwn: (entry: Dirent) => boolean): string | undefined {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !isOwn(entry))
    .map(({ name }) => name)
    .sort()[0];
}

/** Returns when the content of a file, or the names in a folder, survive a power failure. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
