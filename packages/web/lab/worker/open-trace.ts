/**
 * Reads a trace in the page's worker: plain or gzip, in any format of workload/traces/formats.ts. The file is
 * read in pieces of several megabytes, because small pieces cost more than the parsing.
 */
import { InputError, messageOf } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { detectFormat, FORMAT_HEAD_BYTES, type TraceReader } from "@tutti/kernel/workload/traces/formats.ts";
import { parseSizeFrom } from "@tutti/kernel/workload/traces/size-from.ts";
import { requireJobs } from "@tutti/kernel/workload/traces/swf-rules.ts";

/** Largest text that a page reads; its columns then take about twice this memory. */
const MAX_TEXT_BYTES = 512 * 2 ** 20;
/** A file that is read at once, to be unpacked or to get its hash. */
const MAX_PACKED_BYTES = 256 * 2 ** 20;
const PIECE_BYTES = 4 * 2 ** 20;
/** The first piece is shorter, so that the first picture is there soon. */
const FIRST_PIECE_BYTES = 2 ** 20;
/** Highest compression ratio of a trace; the usual one is six to ten. */
const USUAL_COMPRESSION = 7;
const NEWLINE = 10;

interface Reading {
  /** Of the file, as it is on disk. */
  progress(bytesRead: number, bytes: number): void;
  /** The jobs at the beginning of the file, once, while the rest is still to be read. */
  beginning(workload: Workload): void;
}

/** @throws InputError if the file cannot be read or is not a trace */
export async function readTraceFile(file: File, sizeFrom: string, reading: Reading): Promise<Workload> {
  const place = parseSizeFrom(sizeFrom);
  const isPacked = await isGzip(file);
  requireReadable(file, isPacked);
  let reader: TraceReader | undefined;
  let textBytes = 0;
  for await (const piece of isPacked ? unpacked(file, reading) : plain(file, reading)) {
    textBytes += piece.length;
    if (textBytes > MAX_TEXT_BYTES) throw tooLarge(file, "unpacked, it has more than", MAX_TEXT_BYTES);
    if (reader === undefined) {
      const format = detectFormat(piece.subarray(0, FORMAT_HEAD_BYTES), file.name);
      if (place !== undefined && !format.hasSizePlaces) {
        throw new InputError(
          `Cannot use the sizes from ${sizeFrom} with "${file.name}": it is ${format.title}, expected a trace in Standard Workload Format`,
        );
      }
      const open = () => format.open(file.name, isPacked ? USUAL_COMPRESSION * file.size : file.size, place);
      reader = open();
      showBeginning(open, piece, file.size, reading);
    }
    reader.push(piece);
  }
  if (reader === undefined) throw new InputError(`Cannot read "${file.name}": it is empty, expected a trace`);
  return requireJobs(reader.end());
}

/** Reads the first piece by itself. A format that needs the whole text has no beginning. */
function showBeginning(
  open: () => TraceReader,
  piece: Uint8Array,
  fileBytes: number,
  { beginning }: Reading,
): void {
  if (piece.length >= fileBytes) return;
  const reader = open();
  try {
    reader.push(piece.subarray(0, piece.lastIndexOf(NEWLINE) + 1));
    beginning(reader.end());
  } catch (error) {
    // The reading of the whole text says what is wrong with it.
    if (!(error instanceof InputError)) throw error;
  }
}

async function isGzip(file: File): Promise<boolean> {
  const [first, second] = await bytesOf(file, 0, 2);
  return first === 0x1f && second === 0x8b;
}

function requireReadable(file: File, isPacked: boolean): void {
  const limit = isPacked ? MAX_PACKED_BYTES : MAX_TEXT_BYTES;
  if (file.size > limit) throw tooLarge(file, `it has ${megabytes(file.size)}, which is more than`, limit);
}

function tooLarge(file: File, fact: string, limit: number): InputError {
  return new InputError(
    `Cannot read "${file.name}" in a page: ${fact} ${megabytes(limit)}, expected at most that; use \`tutti compare\` on the command line, or a file with only a part of the jobs`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

async function* plain(file: File, { progress }: Reading): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < file.size; ) {
    const until = Math.min(from + (from === 0 ? FIRST_PIECE_BYTES : PIECE_BYTES), file.size);
    yield await bytesOf(file, from, until);
    from = until;
    progress(from, file.size);
  }
}

/** The unpacked text in pieces: the browser unpacks in much smaller ones. */
async function* unpacked(file: File, { progress }: Reading): AsyncGenerator<Uint8Array> {
  let packedBytes = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      packedBytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const reader = file.stream().pipeThrough(counted).pipeThrough(new DecompressionStream("gzip")).getReader();
  let piece = new Uint8Array(FIRST_PIECE_BYTES);
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw packedError(file, error);
    });
    if (done) break;
    for (let from = 0; from < value.length; ) {
      const part = value.subarray(from, from + piece.length - filled);
      piece.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < piece.length) continue;
      yield piece;
      progress(packedBytes, file.size);
      // Readers do not keep a piece.
      if (piece.length < PIECE_BYTES) piece = new Uint8Array(PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

/** The words of the command line for the same faults. */
function packedError(file: File, error: unknown): unknown {
  if (!(error instanceof TypeError)) return readError(file, error);
  const isCut = /truncat|unexpected end|end of/i.test(error.message);
  return new InputError(
    isCut
      ? `Cannot read "${file.name}": the compressed data end too early, expected a complete gzip file; copy or download it again`
      : `Cannot read "${file.name}": the compressed data are damaged, expected a complete gzip file; copy or download it again`,
    { cause: error },
  );
}

async function bytesOf(file: File, from: number, until: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(from, until).arrayBuffer());
  } catch (error) {
    throw readError(file, error);
  }
}

/** The browser reads the file only now, and it may have changed since the user chose it. */
function readError(file: File, error: unknown): unknown {
  return new InputError(
    `Cannot read "${file.name}": ${messageOf(error)}; expected a file that you may read and that has not changed since you chose it`,
    { cause: error },
  );
}

/** SHA-256 of the file as it is on disk, in hexadecimal digits; undefined where the browser offers none. */
export async function hashOfFile(file: File): Promise<string | undefined> {
  if (crypto.subtle === undefined || file.size > MAX_PACKED_BYTES) return undefined;
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
