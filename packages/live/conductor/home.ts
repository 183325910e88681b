/**
 * Creates and locks the conductor's folder. At most one conductor manages the jobs of a folder, even if
 * somebody removes the folder while it runs: then the conductor creates the folder and takes the lock again.
 * It never creates the folder around it, the state folder, also when it starts: that one may have been moved
 * away just then, and must find its place free when it is put back.
 */

import { takeLock, type Unlock } from "@tutti/host/lock.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { chmodSync, lstatSync, type Stats, statSync } from "@tutti/host/ports/fs.ts";
import { dirname, join } from "@tutti/host/ports/path.ts";
import { allPids, hasOnlyRightsOf, readSmall, readStat } from "@tutti/host/processes.ts";

export class HomeLock {
  readonly #home: string;
  readonly #path: string;
  #unlock: Unlock | undefined;
  #file: Stats | undefined;

  constructor(home: string) {
    this.#home = home;
    this.#path = join(home, "lock.db");
    process.once("exit", () => this.#unlock?.());
  }

  /**
   * Creates the folder, private from the start, and takes its lock.
   * @returns false if another conductor has the lock
   * @throws Error if the folder around it is missing, or if the folder belongs to somebody else
   */
  take(): boolean {
    try {
      makeFolder(this.#home, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const message = `The folder "${dirname(this.#home)}" was removed or moved away: jobs go on, and how they end is known when the same folder is back in its place`;
      throw new Error(message, { cause: error });
    }
    const { uid } = lstatSync(this.#home);
    if (uid !== process.getuid!()) {
      throw new Error(
        `Cannot use the folder "${this.#home}": it belongs to user ${uid}, expected a folder of the user who runs the conductor`,
      );
    }
    chmodSync(this.#home, 0o700);
    const unlock = takeLock(this.#path);
    if (unlock === undefined) return false;
    this.#unlock?.();
    this.#unlock = unlock;
    this.#file = statSync(this.#path);
    return true;
  }

  /** Whether our lock is the lock that another conductor would try to take. */
  get isInPlace(): boolean {
    return isSameFile(this.#file, statSync(this.#path, { throwIfNoEntry: false }));
  }
}

export function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** The command line that a conductor shows once it has the lock. */
export function titleOf(home: string): string {
  return `tutti-conductor ${home}`;
}

/**
 * Pid of an older conductor of this folder that still runs after the folder and its lock were removed. The
 * older conductor has the jobs, so it continues, and the new one ends.
 */
export function olderConductor(home: string): number | undefined {
  const own = readStat(process.pid)!;
  return allPids().find((pid) => {
    if (pid === process.pid) return false;
    const title = readSmall(`/proc/${pid}/cmdline`)?.replace(/\0+$/, "");
    if (title === undefined || Buffer.from(title, "latin1").toString() !== titleOf(home)) return false;
    const stat = readStat(pid);
    if (stat === undefined || !hasOnlyRightsOf(pid, process.getuid!())) return false;
    return stat.startTicks < own.startTicks || (stat.startTicks === own.startTicks && pid < own.pid);
  });
}
