/**
 * Copies a job's output to this terminal. If the job writes to one of the user's own files, that file is read
 * directly; otherwise the scheduler sends the output.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { followPieces, piecesOf as piecesOfFile, readPieces } from "@tutti/live/api/server/answers/logs.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { VisibleStream } from "@tutti/words/visible.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

interface LogOptions {
  readonly stream: "stdout" | "stderr";
  readonly follow: boolean;
  /** Number of lines from the end; undefined: all. */
  readonly tail?: number;
  /** First byte to show if the output is in one of the user's files. */
  readonly from?: number;
  /** Ends the copy. */
  readonly signal?: AbortSignal;
}

/**
 * Copies the output of a job, and resolves with the number of bytes when all are written. On a terminal,
 * escape sequences are shown as text.
 * @param options with `raw`, the bytes stay unchanged even on a terminal
 */
export async function copyLog(
  connection: ReconnectingClient,
  job: Job,
  options: LogOptions & { readonly raw: boolean },
  to: NodeJS.WriteStream,
): Promise<number> {
  let bytes = 0;
  const shown = options.raw || !to.isTTY ? undefined : new VisibleStream();
  for await (const piece of logPieces(connection, job, options)) {
    bytes += piece.byteLength;
    await write(to, shown === undefined ? piece : shown.next(piece));
  }
  if (shown !== undefined) await write(to, shown.end());
  return bytes;
}

/**
 * The output of a job as it arrives. If the scheduler goes away and comes back, it continues where it
 * stopped.
 */
export async function* logPieces(
  connection: ReconnectingClient,
  job: Job,
  options: LogOptions,
): AsyncGenerator<Uint8Array> {
  const { follow, tail, signal } = options;
  const path = `/v1/jobs/${job.job}/logs/${options.stream}`;
  try {
    if (follow) {
      yield* followed(connection, path, job, tail, signal);
      return;
    }
    const { client } = connection;
    const offset = tail === undefined ? 0 : await startOfTail(client, path, tail);
    yield* client.pieces(await client.open(`${path}?offset=${offset}`));
  } catch (error) {
    // The scheduler refuses before the first byte if the output is in one of the user's files.
    if (!(error instanceof RefusedError) || error.refused !== "wrong-state") throw error;
    yield* ownFile(connection, job, options);
  }
}

/** Asks by offset, so that nothing is lost or printed twice when the connection ends before the job. */
async function* followed(
  connection: ReconnectingClient,
  path: string,
  job: Job,
  tail: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let offset = tail === undefined ? 0 : await connection.retry((client) => startOfTail(client, path, tail));
  for (;;) {
    try {
      const { client } = connection;
      const answer = await client.open(`${path}?follow=1&offset=${offset}`, { signal });
      for await (const piece of client.pieces(answer)) {
        offset += piece.byteLength;
        yield piece;
      }
      const { job: now } = await client.job(job.job);
      if (isEnded(now.state)) return;
    } catch (error) {
      await connection.waitUntilBack(error);
    }
  }
}

/** The offset at which the last `tail` lines begin. */
async function startOfTail(client: Client, path: string, tail: number): Promise<number> {
  let answer: Awaited<ReturnType<Client["open"]>>;
  try {
    answer = await client.open(path, { headers: { range: "bytes=0-0" } });
  } catch (error) {
    // An empty file cannot satisfy any range.
    if (error instanceof RefusedError && error.refused === "failed") return 0;
    throw error;
  }
  for await (const _ of client.pieces(answer));
  const [, size = "0"] = /\/(\d+)$/.exec(answer.headers["content-range"] ?? "") ?? [];
  return startOfLastLines(Number(size), tail, async (offset, length) => {
    const pieces: Buffer[] = [];
    for await (const piece of client.pieces(await client.open(`${path}?offset=${offset}&limit=${length}`)))
      pieces.push(piece);
    return Buffer.concat(pieces);
  });
}

/** Reads the user's file with the user's own rights, not with those of the scheduler. */
async function* ownFile(
  connection: ReconnectingClient,
  job: Job,
  { stream, follow, tail, from = 0, signal = new AbortController().signal }: LogOptions,
): AsyncGenerator<Uint8Array> {
  const open = (path: string) => {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
      throw new RefusedError("not-yours", `Cannot read "${path}": ${(error as Error).message}`);
    }
  };
  const first = (size: number, file: number) => {
    if (tail === undefined) return Math.min(from, size);
    return startOfLastLines(size, tail, (offset, length) => readFrom(file, offset, length));
  };
  if (follow) {
    const currentFile = async () => {
      const { job: now } = await connection.retry((client) => client.job(job.job));
      return { path: now[stream], hasEnded: isEnded(now.state) };
    };
    yield* followPieces(currentFile, open, first, signal);
    return;
  }
  const file = open(job[stream]);
  if (file === undefined) return;
  if (!fstatSync(file).isFile()) return closeSync(file);
  const { size } = fstatSync(file);
  const offset = await first(size, file);
  yield* readPieces(file, { offset, limit: size - offset });
}

async function readFrom(file: number, offset: number, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOfFile(file, { offset, limit: length })) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Waits for a slow reader, so that little is held in memory. */
function write(to: NodeJS.WriteStream, chunk: string | Uint8Array): Promise<void> | undefined {
  if (chunk.length === 0 || to.write(chunk)) return undefined;
  return new Promise((resolve) => {
    to.once("drain", resolve);
  });
}

const PIECE_BYTES = 64 * 1024;
const LINE_FEED = 10;

/**
 * The offset at which the last `lines` lines begin; reads the text in pieces from its end. As in `tail -n`,
 * text after the last line feed is a line.
 * @param read returns bytes of the text; fewer than asked for only if the text became shorter
 */
export async function startOfLastLines(
  size: number,
  lines: number,
  read: (offset: number, length: number) => Promise<Uint8Array>,
): Promise<number> {
  if (lines === 0) return size;
  let found = 0;
  for (let end = size; end > 0; ) {
    const offset = Math.max(0, end - PIECE_BYTES);
    const piece = await read(offset, end - offset);
    for (let i = piece.length - 1; i >= 0; i--) {
      const at = offset + i;
      // The line feed at the very end belongs to the last line.
      if (piece[i] !== LINE_FEED || at === size - 1) continue;
      if (++found === lines) return at + 1;
    }
    end = offset;
  }
  return 0;
}
