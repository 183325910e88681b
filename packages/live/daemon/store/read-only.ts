/** Opens a store read-only: a backup, or a store that a front end may be using. */
import { accessSync, constants, statSync } from "@tutti/host/ports/fs.ts";
import { DatabaseSync } from "@tutti/host/ports/sqlite.ts";
import { pathToFileURL } from "@tutti/host/ports/url.ts";
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";
import { withStoreErrors } from "./store-error.ts";

/** @throws InputError if the file is missing or we may not read it; DamagedStoreError, StorageError */
export function openReadOnly(path: string): DatabaseSync {
  mustBeReadable(path);
  try {
    return opened(path, path);
  } catch (error) {
    // On a read-only file system, SQLite cannot make the index of a log; without a log, it needs none.
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (hasLog || !(error instanceof StorageError)) throw error;
    return opened(path, new URL(`${pathToFileURL(path).href}?immutable=1`));
  }
}

function opened(path: string, place: string | URL): DatabaseSync {
  return withStoreErrors(path, () => {
    const database = new DatabaseSync(place, { readOnly: true, timeout: 5000 });
    try {
      database.prepare("SELECT count(*) FROM sqlite_schema").get();
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  });
}

function mustBeReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
    if (statSync(path).isFile()) return;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new InputError(`Cannot read "${path}": there is no such file`);
    throw new InputError(
      `Cannot read "${path}": ${message}, expected a file that you may read; only root and the user who runs the scheduler may read its store`,
    );
  }
  throw new InputError(`Cannot read "${path}": it is not a file, expected a store of Tutti`);
}
