/**
 * A backup of the store while the front end uses it, or while none runs: one moment of it, copied in pieces of some MB by SQLite. The
 * reader holds that moment; in WAL mode that keeps no writer waiting. The copy is checked before it gets its name.
 */
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { StorageError } from "../../core/errors.ts";
import { syncPath } from "../../host/files.ts";
import { checkStore, type StoreFindings } from "./check.ts";
import { openReadOnly } from "./read-only.ts";
import { damagedStore, fileError, inWords, storeError } from "./store-error.ts";

const PAGES_AT_ONCE = 1000;

/**
 * @param replaces whether a file that is there is replaced
 * @throws StorageError when the file cannot be written or is there, DamagedStoreError when the store is damaged
 */
export async function backUp(from: string, to: string, replaces: boolean): Promise<StoreFindings> {
  if (!replaces && existsSync(to)) throw isThere(to);
  const source = openReadOnly(from);
  const unnamed = `${to}.${process.pid}.new`;
  try {
    // Made by us, for us alone: no link of someone else's is followed.
    closeSync(openSync(unnamed, "wx", 0o600));
  } catch (error) {
    source.close();
    throw new StorageError(`Cannot write "${to}": ${(error as Error).message}`, { cause: error });
  }
  try {
    source.exec("BEGIN");
    // Only with the first look is the moment held; else the copy would begin from the start at each commit of the front end.
    inWords(from, () => source.prepare("SELECT count(*) FROM sqlite_schema").get());
    await backup(source, unnamed, { rate: PAGES_AT_ONCE });
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

/** Makes it one plain file, looks whether it is sound, and forces it to disk. */
function finish(from: string, path: string): StoreFindings {
  const copy = inWords(path, () => new DatabaseSync(path));
  let report: ReturnType<typeof checkStore>;
  try {
    inWords(path, () => copy.exec("PRAGMA journal_mode = DELETE"));
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

/** Gives it its name unless something has that by now. */
function nameOnce(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || existsSync(name)) throw isThere(name);
    // A file system without hard links.
    renameSync(path, name);
  }
}

function isThere(path: string): StorageError {
  return new StorageError(
    `Cannot write "${basename(path)}": it is there already, expected no such file; --force replaces it`,
  );
}
