/**
 * Sends the output of jobs. The front end may be root while the job's folder belongs to the job's user, so
 * nothing in the folder is trusted. Each part of the path is opened relative to the previous part, without
 * following links, as openat does (through /proc/self/fd, because Node has no openat). A job can move files
 * from any other folder of its user into its own folder, even files that the user may not read. So a file is
 * read only if it is a plain file, belongs to that user and has no second name (hard link).
 */
import { closeSync, constants, fstatSync, openSync, read } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { promisify } from "node:util";
import { isPlainFileOf } from "@tutti/host/files.ts";
import { sleep } from "@tutti/host/sleep.ts";

const readAt = promisify(read);
const CHUNK_BYTES = 64 * 1024;
const POLL_MS = 100;

/** First byte and maximum number of bytes. */
interface ByteRange {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Opens a file below a folder for reading. The caller closes it.
 * @param root a folder that only we can write to
 * @param uid the user who must own the file
 * @returns undefined if there is no such file, if links lead to it, or if it is not a plain file of that user
 */
export function openInside(root: string, file: string, uid: number): number | undefined {
  const parts = partsInside(root, file);
  if (parts === undefined) return undefined;
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let at: number | undefined;
  try {
    at = openSync(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    for (const [i, part] of parts.entries()) {
      const flags = i === parts.length - 1 ? O_NONBLOCK : O_DIRECTORY;
      const next = openSync(`/proc/self/fd/${at}/${part}`, O_RDONLY | O_NOFOLLOW | flags);
      closeSync(at);
      at = next;
    }
    if (isPlainFileOf(fstatSync(at), uid)) {
      const opened = at;
      at = undefined;
      return opened;
    }
  } catch (error) {
    const expected = ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO", "ENAMETOOLONG", "EINVAL"];
    if (!expected.includes(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    if (at !== undefined) closeSync(at);
  }
  return undefined;
}

/** Whether a path leads into a folder; checks only the text of the path. */
export function isInside(root: string, file: string): boolean {
  return partsInside(root, file) !== undefined;
}

/** The range of a header `Range: bytes=…`; undefined if a file of `size` bytes has no such range. */
export function parseRange(header: string, size: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") return Number(last) === 0 ? undefined : lastBytes(size, Number(last));
  const offset = Number(first);
  const end = last === "" ? size : Math.min(size, Number(last) + 1);
  return offset >= size || end <= offset ? undefined : { offset, limit: end - offset };
}

/** The last `bytes` bytes of a file. */
export function lastBytes(size: number, bytes: number): ByteRange {
  const limit = Math.min(bytes, size);
  return { offset: size - limit, limit };
}

/** Yields the bytes of an open file, then closes it. If no piece is ever requested, the file stays open. */
export async function* readPieces(file: number, range: ByteRange): AsyncGenerator<Uint8Array> {
  try {
    yield* piecesOf(file, range);
  } finally {
    closeSync(file);
  }
}

/** Yields the bytes of an open file in pieces of at most 64 KiB, which bounds the memory use. */
export async function* piecesOf(file: number, { offset, limit }: ByteRange): AsyncGenerator<Uint8Array> {
  let at = offset;
  let remaining = limit;
  while (remaining > 0) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, remaining));
    const { bytesRead } = await readAt(file, buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    remaining -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** State of a job whose output is followed. */
interface Followed {
  /** Current output file; a new attempt may write to another one. */
  readonly path: string;
  readonly hasEnded: boolean;
}

/**
 * Yields the bytes of a growing file until the job has ended and everything is read. Waits for the file to
 * appear.
 * @param look returns the state of the job; undefined ends the output
 * @param open opens the file; undefined if it does not exist
 * @param firstOffset where to begin, given the size at that time and the open file
 */
export async function* followPieces(
  look: () => Promise<Followed | undefined>,
  open: (path: string) => number | undefined,
  firstOffset: (size: number, file: number) => number | Promise<number>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let openPath: string | undefined;
  let file: number | undefined;
  let offset = 0;
  try {
    while (!signal.aborted) {
      // Asks for the state before it reads the file, so everything that was written before the job's end is
      // read.
      const job = await look();
      if (file !== undefined && openPath !== job?.path) {
        yield* piecesOf(file, { offset, limit: Number.POSITIVE_INFINITY });
        closeSync(file);
        file = undefined;
        offset = 0;
      }
      if (job === undefined) return;
      if (file === undefined) {
        file = open(job.path);
        if (file !== undefined) {
          if (openPath === undefined) offset = await firstOffset(fstatSync(file).size, file);
          openPath = job.path;
        }
      }
      if (file !== undefined) {
        // The file may have been truncated; new output is at its new end.
        offset = Math.min(offset, fstatSync(file).size);
        for await (const piece of piecesOf(file, { offset, limit: Number.POSITIVE_INFINITY })) {
          offset += piece.byteLength;
          yield piece;
          if (signal.aborted) return;
        }
      }
      if (job.hasEnded) return;
      await sleep(POLL_MS, signal);
    }
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function partsInside(root: string, file: string): string[] | undefined {
  if (!isAbsolute(file) || file.includes("\0") || !isAbsolute(root)) return undefined;
  const path = relative(root, file);
  const parts = path.split(sep);
  if (path === "" || isAbsolute(path) || parts.includes("..")) return undefined;
  // `relative` removes "..", so this also refuses a path that leaves the folder and comes back.
  return file.split(sep).some((part) => part === ".." || part === ".") ? undefined : parts;
}
