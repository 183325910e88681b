/**
 * Checks the folders of jobs. Submits that arrive in one pass of the event loop share the check of a folder,
 * so they also reach the front end together and share one transaction.
 */
import { whyNoFolder } from "@tutti/host/files.ts";

type Look = (path: string) => Promise<string | undefined>;

export class FolderChecks {
  readonly #look: Look;
  /** Those that begin at the end of this pass. */
  readonly #next = new Map<string, Promise<string | undefined>>();

  constructor(look: Look = whyNoFolder) {
    this.#look = look;
  }

  /**
   * Why no job can run in a folder; see `whyNoFolder`. The check begins after the call, so it sees whatever
   * the client did before.
   */
  whyNot(path: string): Promise<string | undefined> {
    let check = this.#next.get(path);
    if (check === undefined) {
      check = new Promise((resolve) => {
        setImmediate(() => {
          this.#next.delete(path);
          resolve(this.#look(path));
        });
      });
      this.#next.set(path, check);
    }
    return check;
  }
}
