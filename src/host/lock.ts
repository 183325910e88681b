/**
 * A lock between processes: an exclusive one of the kernel's on a small database. It goes with the process that held it, however that
 * ended, so no pid is ever trusted. (A name in the abstract name space of sockets would not do: /proc/net/unix shows it to everybody, who
 * could take it when we have ended.)
 */
import { DatabaseSync } from "node:sqlite";
import { privately } from "./umask.ts";

const BUSY = 5;

/** How to give the lock back. A database that nobody refers to is closed, and its lock with it: keep this for as long as it is needed. */
export type Unlock = () => void;

/**
 * Takes the lock; the file is made when it is missing, for nobody else to read.
 * @returns undefined when another process has it
 * @throws Error of SQLite when the file cannot be used
 */
export function takeLock(path: string): Unlock | undefined {
  return privately(() => {
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
