/** Converts errors of the store's file into messages that say what to do. */
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";

/** The store's file is damaged. */
export class DamagedStoreError extends InputError {
  override name = "DamagedStoreError";
}

/** Primary result codes of SQLite, without the upper bits of extended codes. */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NO_DATABASE = 26;

const ADVICE: Readonly<Record<number, string>> = {
  [BUSY]: "another program has locked it; end that program and try again",
  [READ_ONLY]:
    "expected a writable file system; a disk error may have made it read-only, see the kernel's log",
  [IO_ERROR]: "expected a disk without errors; see the kernel's log",
  [FULL]: "make room on the disk and try again",
  [CANNOT_OPEN]:
    "expected a file that we may open on a writable file system; a disk error may have made it read-only, see the kernel's log",
};

/** Converts an error of SQLite about this file into one for people; returns any other error unchanged. */
export function storeError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  const text = (error as Error).message;
  if (code === CORRUPT || code === NO_DATABASE) {
    return damagedStore(path, text, error);
  }
  const advice = ADVICE[code];
  return advice === undefined
    ? error
    : new StorageError(`Cannot use "${path}": ${text}; ${advice}`, { cause: error });
}

/** @param found SQLite's description of the damage */
export function damagedStore(path: string, found: string, cause?: unknown): DamagedStoreError {
  return new DamagedStoreError(
    `Cannot use "${path}": ${found.replaceAll("\n", " ")}, expected a database that Tutti has written. The file is damaged: \`tutti store check\` shows where, and the administrators' guide (Backups) explains how to restore a backup. Keep the damaged file, because most of it can be recovered`,
    { cause },
  );
}

/** Runs code that uses the file. @throws errors converted by `storeError` */
export function withStoreErrors<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw storeError(path, error);
  }
}

/** Converts an error of the disk into one for people; returns any other error unchanged. */
export function fileError(path: string, error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  const advice = {
    EACCES: "expected files that the scheduler's user may read and write",
    EROFS: ADVICE[READ_ONLY],
    EIO: ADVICE[IO_ERROR],
    ENOSPC: ADVICE[FULL],
    EDQUOT: "make room within your quota and try again",
  }[code];
  if (advice === undefined) return error;
  return new StorageError(`Cannot keep the state in "${path}": ${(error as Error).message}; ${advice}`, {
    cause: error,
  });
}

function sqliteCode(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode & 0xff : undefined;
}
