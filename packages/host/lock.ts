/**
 * Takes a lock that other processes respect: an exclusive kernel lock on a small database. When the process
 * ends, in whatever way, the kernel releases the lock, so no pid has to be trusted. (A socket in the abstract
 * namespace would not work: /proc/net/unix shows its name to everybody, and anybody could take the name after
 * our process ends.)
 */
import { DatabaseSync } from "./ports/sqlite.ts";
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
