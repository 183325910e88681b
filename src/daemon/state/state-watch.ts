/**
 * Whether the files that the front end works on are still those in its state folder. A file that was removed or replaced can be written
 * to as before, by its descriptor, and nothing of it would be there at the next start; so nothing is acknowledged from then on, and
 * people are told. Running jobs go on. What loses nothing is made again: the folder of the jobs, and the file with the highest numbers.
 *
 * The store, its log and its index stay as they are for as long as they are open, so a number of the file system tells whether it is them.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats } from "node:fs";
import { messageOf } from "../store/store.ts";

interface WatchedFiles {
  /** Folders and files that must stay as they are, what holds others first. */
  readonly kept: readonly string[];
  readonly jobs: { readonly path: string; readonly mode: number };
  readonly numbers: { readonly path: string; readonly again: () => void };
}

type Identity = `${number}:${number}`;

export class StateWatch {
  readonly #files: WatchedFiles;
  /** Of each file, since it was seen first: some are made when they are needed. */
  readonly #identities = new Map<string, Identity>();

  /** To be made when the files have just been opened. */
  constructor(files: WatchedFiles) {
    this.#files = files;
    for (const path of [...files.kept, files.jobs.path]) this.#isSame(path);
  }

  /** What is wrong, for people; undefined while all is in its place. Takes some µs. */
  get problem(): string | undefined {
    for (const path of this.#files.kept) {
      const now = statOf(path);
      if (this.#isSame(path, now)) continue;
      const what = now === undefined ? "removed" : "replaced";
      return `"${path}" was ${what} while the scheduler runs. Nothing is written down any more: running jobs go on, and their ends are kept until the file is back. Put it back as it was, or end the scheduler (tutti down --kill also ends its jobs) and start it again; a backup is put in place only when no scheduler runs`;
    }
    return undefined;
  }

  /** Whether anything is not as it was; then a cycle finds out what. */
  get isDisturbed(): boolean {
    const { kept, jobs, numbers } = this.#files;
    return [...kept, jobs.path, numbers.path].some((path) => !this.#isSame(path));
  }

  /**
   * Makes again what can be made again without a loss. To be called when there is no problem.
   * @returns what was done, in words
   * @throws Error when it could not be done
   */
  repair(): string[] {
    const { jobs, numbers } = this.#files;
    const done: string[] = [];
    const folder = statOf(jobs.path);
    if (folder === undefined) {
      mkdirSync(jobs.path, jobs.mode);
      chmodSync(jobs.path, jobs.mode);
      done.push("the folder of the jobs was removed, with their output; it was made again, empty");
    } else if (!folder.isDirectory() || folder.uid !== process.getuid?.()) {
      throw new Error(
        `"${jobs.path}" was replaced by something that is no folder of ours, expected a folder`,
      );
    } else if (!this.#isSame(jobs.path, folder)) {
      done.push("the folder of the jobs was replaced by another one, which is used from now on");
    }
    if (done.length > 0) this.#identities.delete(jobs.path);
    this.#isSame(jobs.path);
    if (!this.#isSame(numbers.path)) {
      numbers.again();
      this.#identities.delete(numbers.path);
      this.#isSame(numbers.path);
      done.push('the file "numbers" was removed or replaced; it was made again');
    }
    return done;
  }

  #isSame(path: string, now = statOf(path)): boolean {
    const before = this.#identities.get(path);
    const identity: Identity | undefined = now && `${now.dev}:${now.ino}`;
    if (before === undefined && identity !== undefined) this.#identities.set(path, identity);
    return before === undefined || before === identity;
  }
}

/** Undefined when there is nothing there, or nothing that can be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A file where a folder was.
    if (["ENOTDIR", "EACCES", "ELOOP"].includes(String((error as NodeJS.ErrnoException).code)))
      return undefined;
    throw new Error(`Cannot look at "${path}": ${messageOf(error)}`, { cause: error });
  }
}
