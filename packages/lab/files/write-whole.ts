/**
 * Writes results so that a file appears completely or not at all. The text goes to a temporary file in the
 * same folder, is flushed to the disk and then renamed. An existing file is replaced and keeps its mode; a
 * link is followed. Devices and pipes are written to directly. No call blocks for long, so an interruption is
 * noticed in time to delete the temporary file.
 */
import {
  fstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";

/** A result cannot be written. The message names the file and the reason. */
export class OutputError extends Error {
  override name = "OutputError";
}

/** The content in pieces; an error while producing them leaves no file. */
type Parts = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CHUNK_BYTES = 1 << 18;
const STDOUT = 1;

/**
 * Writes a file, completely or not at all.
 * @throws OutputError if the folder is missing, full or not writable
 */
export async function writeOutput(path: string, parts: Parts): Promise<void> {
  let temporary: string | undefined;
  const interrupted = (signal: NodeJS.Signals) => {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    stopListening();
    // A thread that is blocked by a pipe would delay an exit.
    process.kill(process.pid, signal);
  };
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, interrupted);
  };
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isDirectory()) {
      throw new OutputError(`Cannot write "${path}": it is a directory, expected the name of a file`);
    }
    if (existing !== undefined && (!existing.isFile() || isStdout(existing)))
      return await writeDirectly(path, parts, existing);
    const target = destination(path);
    // Unique enough: an existing file is refused. node:crypto would cost every command 9 ms.
    const instant = process.hrtime.bigint().toString(36);
    temporary = join(dirname(target), `.tutti-${process.pid}-${instant}.tmp`);
    await writeWhole(temporary, parts, existing);
    renameSync(temporary, target);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    throw outputError(path, error);
  } finally {
    stopListening();
  }
}

/**
 * Whether two paths mean the same file, also through links; devices and pipes may be used twice.
 * @throws OutputError if a path leads nowhere
 */
export function isSameFile(a: string, b: string): boolean {
  const [first, second] = [a, b].map((path) => {
    try {
      const state = statSync(path, { throwIfNoEntry: false });
      return { state, file: state === undefined ? destination(path) : path };
    } catch (error) {
      throw outputError(path, error);
    }
  });
  if (first.state === undefined || second.state === undefined)
    return first.state === second.state && first.file === second.file;
  return first.state.isFile() && first.state.ino === second.state.ino && first.state.dev === second.state.dev;
}

/** The file to which the links lead, whether or not it exists. */
function destination(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) return resolve(path);
  const folder = realpathSync(dirname(path));
  const file = join(folder, basename(path));
  let link: string;
  try {
    link = readlinkSync(file);
  } catch {
    return file;
  }
  return destination(resolve(folder, link));
}

/**
 * Whether this is standard output, redirected to a file: it must not be replaced, since later output goes
 * there, too.
 */
function isStdout({ dev, ino }: Stats): boolean {
  try {
    const stdout = fstatSync(STDOUT);
    return stdout.dev === dev && stdout.ino === ino;
  } catch {
    return false; // it is closed
  }
}

async function writeWhole(temporary: string, parts: Parts, existing: Stats | undefined): Promise<void> {
  const file = await open(temporary, "wx");
  try {
    if (existing !== undefined) await file.chmod(existing.mode & 0o7777);
    await writeAll(async (chunk, from) => (await file.write(chunk, from)).bytesWritten, parts);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeDirectly(path: string, parts: Parts, existing: Stats): Promise<void> {
  // Opening the file of standard output a second time would overwrite it from its beginning.
  if (existing.isFile()) return writeAll((chunk, from) => writeSync(STDOUT, chunk, from), parts);
  const file = await open(path, "w");
  try {
    await writeAll(async (chunk, from) => (await file.write(chunk, from)).bytesWritten, parts);
  } catch (error) {
    // A reader that closed its end (`| head`) has all it wanted.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  } finally {
    await file.close();
  }
}

/** Writes a chunk from a position; returns the number of bytes written. */
type Write = (chunk: Uint8Array, from: number) => number | Promise<number>;

async function writeAll(write: Write, parts: Parts): Promise<void> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  const flush = async () => {
    const chunk = Buffer.concat(gathered);
    for (let done = 0; done < chunk.length; ) done += await write(chunk, done);
    gathered = [];
    bytes = 0;
    await setImmediate();
  };
  for await (const part of parts) {
    const piece = typeof part === "string" ? Buffer.from(part) : part;
    gathered.push(piece);
    bytes += piece.length;
    if (bytes >= CHUNK_BYTES) await flush();
  }
  await flush();
}

/** A one-line message instead of a system error. */
function outputError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const states: Readonly<Record<string, string>> = {
    ENOSPC: "no space is left on the device, expected room for the result",
    EDQUOT: "the disk quota is used up, expected room for the result",
    ENOENT: `there is no folder "${dirname(name)}", expected an existing folder`,
    ENOTDIR: "a part of its path is not a folder, expected an existing folder",
    ENAMETOOLONG: "the name is too long, expected a shorter one",
    ELOOP: "it is a symbolic link that leads to itself, expected a file",
    EACCES: "permission is denied, expected a folder that you may write to",
    EPERM: "permission is denied, expected a folder that you may write to",
    EROFS: "the file system is read-only, expected a folder that you may write to",
  };
  return new OutputError(`Cannot write "${name}": ${states[String(error.code)] ?? error.message}`, {
    cause: error,
  });
}
