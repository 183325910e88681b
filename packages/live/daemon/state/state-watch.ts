/**
 * Checks that the open files of the front end are still those in its state folder. A removed or replaced file
 * can still be written through its descriptor, but its content would be gone at the next start. So from then
 * on, no request is confirmed, and people are warned. Running jobs continue. Two things are an exception,
 * because they can be recreated without a loss: the folder `jobs/`, and the file `numbers`, which has the
 * highest numbers given out.
 *
 * Store, log and index are never replaced while they are open, so device and inode number identify them.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats } from "@tutti/host/ports/fs.ts";
import { messageOf } from "../store/store.ts";

interface WatchedFiles {
  /** Folders and files that must stay as they are; a folder comes before its contents. */
  readonly kept: readonly string[];
  readonly jobs: { readonly path: string; readonly mode: number };
  readonly numbers: { readonly path: string; readonly recreate: () => void };
}

type Identity = `${number}:${number}`;

export class StateWatch {
  readonly #files: WatchedFiles;
  /** Identity of each file since it was first seen; some files are created later. */
  readonly #identities = new Map<string, Identity>();

  /** Must be constructed right after the files were opened. */
  constructor(files: WatchedFiles) {
    this.#files = files;
    for (const path of [...files.kept, files.jobs.path]) this.#isSame(path);
  }

  /** The problem, as text for people; undefined if there is none. Takes a few µs. */
  get problem(): string | undefined {
    for (const path of this.#files.kept) {
      const now = statOf(path);
      if (this.#isSame(path, now)) continue;
      const what = now === undefined ? "removed" : "replaced";
      return `"${path}" was ${what} while the scheduler was running. The scheduler cannot save anything now: running jobs continue, and it keeps their results in memory until the file is back. Put the same file back, or end the scheduler (tutti down --kill also ends its jobs) and start it again; restore a backup only while no scheduler runs`;
    }
    return undefined;
  }

  /** Whether any file has changed; the next cycle finds out which. */
  get isDisturbed(): boolean {
    const { kept, jobs, numbers } = this.#files;
    return [...kept, jobs.path, numbers.path].some((path) => !this.#isSame(path));
  }

  /**
   * Makes files again that can be made without a loss. Must be called only if there is no problem.
   * @returns what was done, as text
   * @throws Error if it could not be done
   */
  repair(): string[] {
    const { jobs, numbers } = this.#files;
    const done: string[] = [];
    const folder = statOf(jobs.path);
    if (folder === undefined) {
      mkdirSync(jobs.path, jobs.mode);
      chmodSync(jobs.path, jobs.mode);
      done.push("the folder of the jobs was removed with their output; it was made again and is empty");
    } else if (!folder.isDirectory() || folder.uid !== process.getuid?.()) {
      throw new Error(
        `"${jobs.path}" was replaced, expected a folder that belongs to the scheduler's user; remove what is there`,
      );
    } else if (!this.#isSame(jobs.path, folder)) {
      done.push("the folder of the jobs was replaced; the new folder is used from now on");
    }
    if (done.length > 0) this.#identities.delete(jobs.path);
    this.#isSame(jobs.path);
    if (!this.#isSame(numbers.path)) {
      numbers.recreate();
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

/** Undefined if there is no file, or if it cannot be accessed. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // For example, a file has replaced a folder.
    if (["ENOTDIR", "EACCES", "ELOOP"].includes(String((error as NodeJS.ErrnoException).code)))
      return undefined;
    throw new Error(`Cannot look at "${path}": ${messageOf(error)}`, { cause: error });
  }
}
