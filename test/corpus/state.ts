/**
 * Recorded live states: what a front end finds when it starts at some instant, and the file that keeps
 * many of them. Each state has a copy of the store as a real front end wrote it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import type { Connected } from "@tutti/live/daemon/executor/executor.ts";

export interface StateFacts {
  readonly name: string;
  /** The configuration file as JSON. */
  readonly config: object;
  /** The instant, by each of the clocks, in ms. */
  readonly nowMs: number;
  readonly unixMs: number;
  readonly bootMs: number;
  readonly bootId: string;
  readonly nodes: readonly NodeCpus[];
  readonly memoryBytes: number;
  /** What the conductor says; left out: it is away. */
  readonly connected?: Connected;
}

export interface RecordedState extends StateFacts {
  /** The SQLite file. */
  readonly store: Uint8Array;
}

/** Reaches over the whole file, so that what two states have in common is kept once. */
const WINDOW_LOG = 27;
const LENGTH_BYTES = 4;

/** Facts as a line of JSON each, with the length of the store, an empty line, then the stores. */
export function writeStates(file: string, states: readonly RecordedState[]): void {
  const lines = states.map(({ store, ...facts }) => JSON.stringify({ ...facts, bytes: store.length }));
  const head = Buffer.from(lines.join("\n"));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  writePacked(file, Buffer.concat([length, head, ...states.map(({ store }) => store)]));
}

export function readStates(file: string): RecordedState[] {
  const bytes = readPacked(file);
  let at = LENGTH_BYTES + bytes.readUInt32LE();
  const lines = bytes.subarray(LENGTH_BYTES, at).toString().split("\n");
  return lines.map((line) => {
    const { bytes: length, ...facts } = JSON.parse(line) as StateFacts & { readonly bytes: number };
    at += length;
    return { ...facts, store: bytes.subarray(at - length, at) };
  });
}

export function writePacked(file: string, bytes: Uint8Array): void {
  const params = {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_windowLog]: WINDOW_LOG,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  };
  writeFileSync(file, zstdCompressSync(bytes, { params }));
}

export function readPacked(file: string): Buffer {
  return zstdDecompressSync(readFileSync(file), {
    params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
  });
}
