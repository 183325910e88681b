/**
 * Writing results: a file appears whole or not at all. The text goes to a temporary file in the same folder, is
 * flushed to the disk and then renamed; an existing file is replaced. Devices and pipes are written to directly.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A result cannot be written. The message names the file and the reason. */
export class OutputError extends Error {
  override name = "OutputError";
}

/**
 * Writes a file, whole or not at all.
 * @throws OutputError when the folder is missing or full, or may not be written to
 */
export function writeOutput(path: string, parts: Iterable<string | Uint8Array>): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isDirectory()) {
    throw new OutputError(`Cannot write "${path}": it is a directory, expected the name of a file`);
  }
  const isSpecial = existing !== undefined && !existing.isFile();
  const target = isSpecial ? path : join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  const interrupted = () => {
    if (!isSpecial) rmSync(target, { force: true });
    process.exit(130);
  };
  process.on("SIGINT", interrupted);
  try {
    writeAll(target, parts, isSpecial);
    if (!isSpecial) renameSync(target, path);
  } catch (error) {
    if (!isSpecial) rmSync(target, { force: true });
    throw outputError(path, error);
  } finally {
    process.off("SIGINT", interrupted);
  }
}

function writeAll(target: string, parts: Iterable<string | Uint8Array>, isSpecial: boolean): void {
  const file = openSync(target, isSpecial ? "w" : "wx");
  try {
    for (const part of parts) {
      const bytes = typeof part === "string" ? Buffer.from(part) : part;
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    }
    if (!isSpecial) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** One line for people instead of a system error. */
export function outputError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const states: Readonly<Record<string, string>> = {
    ENOSPC: "no space is left on the device, expected room for the result",
    EDQUOT: "the disk quota is used up, expected room for the result",
    ENOENT: `there is no folder "${dirname(name)}", expected an existing one`,
    EACCES: "permission is denied, expected a folder that may be written to",
    EPERM: "permission is denied, expected a folder that may be written to",
    EROFS: "the file system is read-only, expected a folder that may be written to",
  };
  return new OutputError(`Cannot write "${name}": ${states[String(error.code)] ?? error.message}`, {
    cause: error,
  });
}
