/**
 * Checks that no other user can redirect a path. Anyone who owns a folder on the path, or can write to it,
 * can replace the next part, even between two of our calls. Then that user could choose where root writes
 * files and which files root gives away.
 */
import { lstatSync, readlinkSync, type Stats } from "./ports/fs.ts";
import { dirname, parse, resolve } from "./ports/path.ts";

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const MAX_LINKS = 40;

/**
 * Describes the first part of a path that anybody except this user and root could replace; undefined if there
 * is none. Parts that do not exist yet are not checked.
 */
export function replaceablePart(path: string, uid: number): string | undefined {
  return partWith(path, uid, isOpen, MAX_LINKS);
}

/**
 * Like `replaceablePart`, but stricter: nobody else may even add files to any folder on the path. A module
 * imports files from there, and a package.json above it decides how it is read.
 */
export function writablePart(path: string, uid: number): string | undefined {
  return partWith(path, uid, ({ mode }) => (mode & WRITABLE_BY_OTHERS) !== 0, MAX_LINKS);
}

function partWith(
  path: string,
  uid: number,
  isBad: (stats: Stats) => boolean,
  links: number,
): string | undefined {
  const absolute = resolve(path);
  if (absolute !== parse(absolute).root) {
    const above = partWith(dirname(absolute), uid, isBad, links);
    if (above !== undefined) return above;
  }
  const stats = statsOf(absolute);
  if (stats === undefined) return undefined;
  if (stats.uid !== uid && stats.uid !== 0) return `"${absolute}" belongs to user ${stats.uid}`;
  if (stats.isSymbolicLink()) {
    if (links === 0) return `"${absolute}" is one of too many links`;
    return partWith(resolve(dirname(absolute), readlinkSync(absolute)), uid, isBad, links - 1);
  }
  return isBad(stats) ? `others may write to "${absolute}"` : undefined;
}

/** Undefined if the path does not exist, or if a part above it is a file. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether others may replace entries. With the sticky bit, users can only rename their own files. */
function isOpen({ mode }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
}
