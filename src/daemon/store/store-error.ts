/** What goes wrong with the store's file, in words that say what to do. */
import { InputError, StorageError } from "../../core/errors.ts";

/** What the store's file holds is not what was written there. */
export class DamagedStoreError extends InputError {
  override name = "DamagedStoreError";
}

/** Result codes of SQLite, without what is added to them in the upper bits. */
const BUSY = 5;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NO_DATABASE = 26;

const ADVICE: Readonly<Record<number, string>> = {
  [BUSY]: "another program holds it locked, expected none",
  [READ_ONLY]:
    "expected a file system that can be written; it may have become read-only after an error of the disk, of which the kernel's log tells",
  [IO_ERROR]: "expected a disk that works; the kernel's log tells more",
  [FULL]: "make room on the disk and try again",
  [CANNOT_OPEN]:
    "expected a file of ours on a file system that can be written; it may have become read-only after an error of the disk, of which the kernel's log tells",
};

/** An error of SQLite about this file as one for people; any other error as it is. */
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

/** @param found what is wrong, in the words of SQLite */
export function damagedStore(path: string, found: string, cause?: unknown): DamagedStoreError {
  return new DamagedStoreError(
    `Cannot use "${path}": ${found.replaceAll("\n", " ")}, expected a database that Tutti has written. It is damaged: \`tutti check\` shows where, and the administrators' guide (Backups) says how to put a backup in its place. Keep the damaged file: most of it can be recovered`,
    { cause },
  );
}

/** Runs something that uses the file. @throws as `storeError` says */
export function inWords<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw storeError(path, error);
  }
}

/** An error of the file system for which nobody's input is to blame, as one for people; any other error as it is. */
export function fileError(path: string, error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  const advice = {
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
