/**
 * Opens a trace: plain or gzip, in any format of workload/traces/formats.ts. The first bytes, not the name,
 * decide the compression and the format. The user names a file, a trace in the folder TUTTI_TRACES, or `-`
 * for standard input. Decompression runs on another thread while the reader parses.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { tracesFolder } from "@tutti/host/traces-folder.ts";
import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { detectFormat, FORMAT_HEAD_BYTES, type TraceReader } from "@tutti/kernel/workload/traces/formats.ts";
import { parseSizeFrom } from "@tutti/kernel/workload/traces/size-from.ts";

const TRACE_FILE = /\.swf(\.gz)?$/;
const GZIP_MAGIC = 0x1f8b;
const CHUNK_BYTES = 1 << 18;
const UNPACKED_CHUNK_BYTES = 1 << 19;
/** Highest compression ratio of a trace; the usual one is six to ten. */
const HIGHEST_COMPRESSION = 20;

/**
 * Reads a trace in any of the formats.
 * @param name a path, a bare name such as `KTH-SP2` of a trace in the folder TUTTI_TRACES, or `-`
 * @param sizeFrom see `parseSizeFrom`
 * @throws InputError if the file cannot be read or is not a trace
 */
export async function readTrace(name: string, sizeFrom = "allocated"): Promise<Workload> {
  const place = parseSizeFrom(sizeFrom);
  const path = name === "-" ? undefined : findTrace(name);
  const shown = path === undefined ? "standard input" : path;
  // Opened only once: a named pipe gives its data to the first process that opens it.
  const opening = path === undefined ? undefined : open(path, "r");
  const file = await opening?.catch((error) => {
    throw readError(shown, error);
  });
  let hint = 0;
  const begin = (head: Buffer): TraceReader => {
    const format = detectFormat(head, shown);
    if (place !== undefined && !format.hasSizePlaces) {
      throw new InputError(
        `Cannot use --size-from ${sizeFrom} with "${shown}": it is ${format.title}, expected a trace in Standard Workload Format`,
      );
    }
    const reader = format.open(path === undefined ? "stdin" : basename(path), hint, place);
    reader.push(head);
    return reader;
  };
  const source: Readable =
    file === undefined ? process.stdin : file.createReadStream({ highWaterMark: CHUNK_BYTES });
  let head: Buffer = Buffer.alloc(0);
  let reader: TraceReader | undefined;
  try {
    if (file !== undefined) hint = await unpackedBytes(file);
    for await (const chunk of unpacked(source)) {
      if (reader !== undefined) reader.push(chunk);
      else {
        head = Buffer.concat([head, chunk]);
        if (head.length >= FORMAT_HEAD_BYTES) reader = begin(head);
      }
    }
  } catch (error) {
    throw readError(shown, error);
  } finally {
    await file?.close();
  }
  if (head.length === 0) throw new InputError(`Cannot read "${shown}": it is empty, expected a trace`);
  return (reader ?? begin(head)).end();
}

/** Passes plain bytes through, and gzip through the decompressor. */
async function* unpacked(source: Readable): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const bytes = headAndRest(head, chunks);
  if (head.length < 2 || head.readUInt16BE() !== GZIP_MAGIC) yield* bytes;
  else {
    // An error of the source also ends the decompressor, which then throws it here.
    yield* pipeline(bytes, createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES }), () => {});
  }
}

async function* headAndRest(head: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

/**
 * Guesses the length of a trace's text, which saves memory. Gzip ends with the length, but only of its last
 * part, and a damaged file may contain any number. Reads at positions, which leaves the file position
 * unchanged.
 */
async function unpackedBytes(file: FileHandle): Promise<number> {
  const state = await file.stat();
  if (!state.isFile()) return 0;
  const ends = Buffer.alloc(8);
  await file.read(ends, 0, 2, 0);
  if (ends.readUInt16BE() !== GZIP_MAGIC) return state.size;
  await file.read(ends, 4, 4, Math.max(0, state.size - 4));
  return Math.min(ends.readUInt32LE(4), state.size * HIGHEST_COMPRESSION);
}

/** Finds the path of a trace from a path, or from a name in the folder TUTTI_TRACES. */
export function findTrace(name: string): string {
  let isDirectory: boolean | undefined;
  try {
    isDirectory = statSync(name, { throwIfNoEntry: false })?.isDirectory();
  } catch (error) {
    throw readError(name, error);
  }
  if (isDirectory === false) return name;
  if (isDirectory === true) {
    throw new InputError(`Cannot read "${name}": it is a directory, expected a trace file (.swf or .swf.gz)`);
  }
  const refuse = (state: string, hint: string): never => {
    throw new InputError(`Cannot read "${name}": ${state}, expected a trace (.swf or .swf.gz)${hint}`);
  };
  if (name.includes("/")) return refuse("there is no such file", "");
  const folder = tracesFolder();
  const isThere = folder !== undefined && existsSync(folder);
  const files = isThere ? readdirSync(folder).filter((file) => TRACE_FILE.test(file)) : [];
  const names = files.map((file) => file.replace(TRACE_FILE, ""));
  const [word = ""] = name.split(":");
  const suggestion = closest(word, [...MODELS.map((model) => model.name), ...names]);
  if (!isThere) {
    return refuse(`there is no such file${suggestion}`, "; set TUTTI_TRACES to the folder of your traces");
  }
  const exact = files.filter((file, i) => names[i] === name || file === name);
  const matches = exact.length > 0 ? exact : files.filter((file) => file.startsWith(name));
  if (matches.length === 1) return join(folder, matches[0]);
  if (matches.length > 1) {
    return refuse(
      `more than one trace in ${folder} (TUTTI_TRACES) has a name that begins like this`,
      `: ${matches.join(", ")}`,
    );
  }
  return refuse(
    `there is no such file, and no trace in ${folder} (TUTTI_TRACES) has a name that begins like this${suggestion}`,
    files.length === 0 ? "" : `; the folder has ${files.join(", ")}`,
  );
}

/** A one-line message instead of a system error. */
function readError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  const state: Readonly<Record<string, string>> = {
    EACCES: "permission is denied, expected a file that you may read",
    ENOTDIR: "a part of its path is not a folder, expected a trace (.swf or .swf.gz)",
    ENAMETOOLONG: "the name is too long, expected a trace (.swf or .swf.gz)",
    EPERM: "permission is denied, expected a file that you may read",
    EISDIR: "it is a directory, expected a trace file (.swf or .swf.gz)",
    Z_BUF_ERROR:
      "the compressed data end too early, expected a complete gzip file; copy or download it again",
    Z_DATA_ERROR: "the compressed data are damaged, expected a complete gzip file; copy or download it again",
  };
  return new InputError(`Cannot read "${name}": ${state[code] ?? error.message}`, { cause: error });
}
