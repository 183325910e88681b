/**
 * Opening traces: plain or gzip, in any format of workload/traces/formats.ts (both told by the first bytes, not by the name), from a file, from the folder named by
 * TUTTI_TRACES, or from standard input as `-`. Decompression runs on another thread while the reader parses.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { closest } from "../../core/did-you-mean.ts";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { tracesFolder } from "../../host/traces-folder.ts";
import { MODELS } from "../../workload/models/registry.ts";
import { detectFormat, FORMAT_HEAD_BYTES, type TraceReader } from "../../workload/traces/formats.ts";

const TRACE_FILE = /\.swf(\.gz)?$/;
const GZIP_MAGIC = 0x1f8b;
const CHUNK_BYTES = 1 << 18;
const UNPACKED_CHUNK_BYTES = 1 << 19;
/** Of traces; they are compressed six- to tenfold. */
const HIGHEST_COMPRESSION = 20;

/**
 * Reads a trace in any of the formats.
 * @param name a path, a bare name such as `KTH-SP2` of a trace in the folder TUTTI_TRACES, or `-`
 * @throws InputError when the file cannot be read or holds no trace
 */
export async function readTrace(name: string): Promise<Workload> {
  const path = name === "-" ? undefined : findTrace(name);
  const shown = path === undefined ? "standard input" : path;
  // Opened once: a named pipe gives what it has to whoever opens it first.
  const opening = path === undefined ? undefined : open(path, "r");
  const file = await opening?.catch((error) => {
    throw readError(shown, error);
  });
  let hint = 0;
  const begin = (head: Buffer): TraceReader => {
    const reader = detectFormat(head).open(path === undefined ? "stdin" : basename(path), hint);
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

/** Passes plain bytes through and gzip through the decompressor. */
async function* unpacked(source: Readable): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = headAndRest(head, chunks);
  if (head.length < 2 || head.readUInt16BE() !== GZIP_MAGIC) yield* all;
  else {
    // An error of the source ends the decompressor too, which then throws it here.
    yield* pipeline(all, createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES }), () => {});
  }
}

async function* headAndRest(head: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

/**
 * Length of a trace's text, a guess that saves memory: gzip ends with the length, but of its last part only, and a
 * damaged file may say anything. Reads at positions, which leaves the file where it is.
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

/** The path of a trace by its path or by its name in the folder TUTTI_TRACES. */
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
    return refuse(
      `there is no such file${suggestion}`,
      "; set TUTTI_TRACES to name the folder of your traces",
    );
  }
  const exact = files.filter((file, i) => names[i] === name || file === name);
  const found = exact.length > 0 ? exact : files.filter((file) => file.startsWith(name));
  if (found.length === 1) return join(folder, found[0]);
  if (found.length > 1) {
    return refuse(
      `more than one trace in ${folder} (TUTTI_TRACES) has a name that begins so`,
      `: ${found.join(", ")}`,
    );
  }
  return refuse(
    `there is no such file, and no trace in ${folder} (TUTTI_TRACES) has a name that begins so${suggestion}`,
    files.length === 0 ? "" : `; there are ${files.join(", ")}`,
  );
}

/** One line for people instead of a system error. */
function readError(name: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  const state: Readonly<Record<string, string>> = {
    EACCES: "permission is denied, expected a file that may be read",
    ENOTDIR: "a part of its path is no folder, expected a trace (.swf or .swf.gz)",
    ENAMETOOLONG: "the name is too long, expected a trace (.swf or .swf.gz)",
    EPERM: "permission is denied, expected a file that may be read",
    EISDIR: "it is a directory, expected a trace file (.swf or .swf.gz)",
    Z_BUF_ERROR: "the compressed data end too early, expected a whole gzip file; copy or download it again",
    Z_DATA_ERROR: "the compressed data are damaged, expected a whole gzip file; copy or download it again",
  };
  return new InputError(`Cannot read "${name}": ${state[code] ?? error.message}`, { cause: error });
}
