/**
 * Backs up the store, whether a front end uses it or not. SQLite copies one snapshot in pieces of a few MB.
 * In WAL mode, reading a snapshot does not block writers; in other modes it does, so all is copied at once.
 * The copy is checked before it gets its final name.
 */

import { syncPath } from "@tutti/host/files.ts";
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "@tutti/host/ports/fs.ts";
import { basename, dirname } from "@tutti/host/ports/path.ts";
import { backup, DatabaseSync } from "@tutti/host/ports/sqlite.ts";
import { StorageError } from "@tutti/kernel/core/errors.ts";
import { checkStore, type StoreFindings } from "./check.ts";
import { openReadOnly } from "./read-only.ts";
import { damagedStore, fileError, storeError, withStoreErrors } from "./store-error.ts";

const PAGES_AT_ONCE = 1000;
const ALL_PAGES = 2 ** 31 - 1;

/**
 * @param replaces whether to replace an existing file
 * @throws StorageError if the file exists or cannot be written, DamagedStoreError if the store is damaged
 */
export async function backUp(from: string, to: string, replaces: boolean): Promise<StoreFindings> {
  if (!replaces && existsSync(to)) throw isThere(to);
  const source = openReadOnly(from);
  const unnamed = `${to}.${process.pid}.new`;
  try {
    // Creates the file privately, and therefore follows no link of another user.
    closeSync(openSync(unnamed, "wx", 0o600));
  } catch (error) {
    source.close();
    throw new StorageError(`Cannot write "${to}": ${(error as Error).message}`, { cause: error });
  }
  try {
    source.exec("BEGIN");
    // The first read fixes the snapshot. Without it, the copy would begin again at each commit of the front
    // end.
    withStoreErrors(from, () => source.prepare("SELECT count(*) FROM sqlite_schema").get());
    const isLogged = source.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal";
    await backup(source, unnamed, { rate: isLogged ? PAGES_AT_ONCE : ALL_PAGES });
    const findings = finish(from, unnamed);
    if (replaces) renameSync(unnamed, to);
    else nameOnce(unnamed, to);
    syncPath(dirname(to));
    return findings;
  } catch (error) {
    throw fileError(to, storeError(from, error));
  } finally {
    source.close();
    for (const part of ["", "-journal"]) rmSync(`${unnamed}${part}`, { force: true });
  }
}

/** Makes the copy a single file, checks it, and syncs it to disk. */
function finish(from: string, path: string): StoreFindings {
  const copy = withStoreErrors(path, () => new DatabaseSync(path));
  let report: ReturnType<typeof checkStore>;
  try {
    withStoreErrors(path, () => copy.exec("PRAGMA journal_mode = DELETE"));
    report = checkStore(path, copy);
  } finally {
    copy.close();
  }
  const { findings, problems } = report;
  if (findings === undefined || problems.length > 0) {
    throw damagedStore(from, `${problems[0]}; no backup was made of it`);
  }
  syncPath(path);
  return findings;
}

/** Gives the copy its name, unless a file of that name exists by now. */
function nameOnce(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || existsSync(name)) throw isThere(name);
    // The file system has no hard links.
    renameSync(path, name);
  }
}

function isThere(path: string): StorageError {
  return new StorageError(`Cannot write "${basename(path)}": the file exists already; --force replaces it`);
}
