/**
 * The conductor's folder and its lock. One conductor at a time manages the jobs of a folder, also when somebody removes the folder while
 * it runs: then it makes it again, and takes the lock again.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { takeLock, type Unlock } from "../host/lock.ts";
import { allPids, readSmall, readStat, runsAs } from "../host/processes.ts";

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

  /** Makes the folder, private from its first instant, and takes its lock. @returns false when another conductor has it */
  take(): boolean {
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    const { uid } = lstatSync(this.#home);
    if (uid !== process.getuid!()) {
      throw new Error(
        `Cannot use the folder "${this.#home}": it belongs to user ${uid}, expected a folder of our own`,
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

  /** Whether the lock that we have is the one that another conductor would try to take. */
  get isInPlace(): boolean {
    return isSameFile(this.#file, statSync(this.#path, { throwIfNoEntry: false }));
  }
}

export function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** What a conductor shows as its command line once it has the lock. */
export function titleOf(home: string): string {
  return `tutti-conductor ${home}`;
}

/**
 * Pid of a conductor that had this folder before us and runs still, since the folder with its lock was removed under it. It has the jobs, so it
 * is the one that goes on.
 */
export function olderConductor(home: string): number | undefined {
  const own = readStat(process.pid)!;
  return allPids().find((pid) => {
    if (pid === process.pid) return false;
    const title = readSmall(`/proc/${pid}/cmdline`)?.replace(/\0+$/, "");
    if (title === undefined || Buffer.from(title, "latin1").toString() !== titleOf(home)) return false;
    const stat = readStat(pid);
    if (stat === undefined || !runsAs(pid, process.getuid!())) return false;
    return stat.startTicks < own.startTicks || (stat.startTicks === own.startTicks && pid < own.pid);
  });
}
