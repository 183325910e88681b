/**
 * Whether a path leads where it leads for good. Who owns a folder on the way, or may write to it, can put another one in its place, also between
 * two of our calls; root would then write, and give files away, wherever that person likes.
 */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, parse, resolve } from "node:path";

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const MAX_LINKS = 40;

/**
 * What on the way to a path somebody else than this user and root could exchange, in words; undefined when there is nothing. What is not there
 * yet is not looked at.
 */
export function exchangeablePart(path: string, uid: number): string | undefined {
  return partWith(path, uid, isOpen, MAX_LINKS);
}

/**
 * As `exchangeablePart`, and nobody else may put anything beside it either, at any height: a module finds others there, and the file that
 * says how it is read.
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

/** Undefined for what is not there, also because something above it is a plain file. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** In a folder with the sticky bit, each may only rename what is one's own. */
function isOpen({ mode }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
}
