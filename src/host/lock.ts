/**
 * A lock between processes: an exclusive kernel lock on a small database. The kernel releases it when its
 * process ends in any way, so no pid is ever trusted. (A socket in the abstract name space would not work:
 * /proc/net/unix shows its name to everybody, and anybody could take it after our end.)
 */
import { DatabaseSync } from "node:sqlite";
import { withPrivateUmask } from "./umask.ts";

const BUSY = 5;

/** Releases the lock. Keep this reference, because a database that is garbage-collected loses its lock. */
export type Unlock = () => void;

/**
 * Takes the lock. A missing file is created, private to this user.
 * @returns undefined if another process holds the lock
 * @throws an error of SQLite if the file cannot be used
 */
export function takeLock(path: string): Unlock | undefined {
  return withPrivateUmask(() => {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      database.close();
      if (((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY) return undefined;
      throw error;
    }
    return () => database.close();
  });
}
