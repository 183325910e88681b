/** Which files are believed or given out: those that plainly belong to one user. */
import type { Stats } from "node:fs";

/**
 * Whether it is an ordinary file of this user with one name. A folder that a user may write can hold anybody's files: they can be renamed
 * into it, or linked where the kernel allows that. To be asked of an open file, not of a path, which may be another file by then.
 */
export function isPlainFileOf(stats: Stats, uid: number): boolean {
  return stats.isFile() && stats.uid === uid && stats.nlink === 1;
}
