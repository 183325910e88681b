/** The output of a job on this terminal: from the scheduler, or, where the job writes to a file of the user's own, from that file. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { Client } from "../api/client.ts";
import type { Job } from "../api/contract.ts";
import { RefusedError } from "../api/errors.ts";
import { followPieces, lastBytes, readPieces } from "../api/logs.ts";
import { VisibleStream } from "./visible.ts";

export interface LogOptions {
  readonly stream: "stdout" | "stderr";
  readonly follow: boolean;
  /** Only the last so many bytes. */
  readonly tail?: number;
  /** Bytes as they are, also on a terminal. */
  readonly raw: boolean;
}

/** Copies the output of a job; resolves when it is all out. On a terminal escape sequences are shown as text. */
export async function copyLog(
  client: Client,
  job: Job,
  { stream, follow, tail, raw }: LogOptions,
  to: NodeJS.WriteStream,
  signal?: AbortSignal,
): Promise<void> {
  const query = [...(follow ? ["follow=1"] : []), ...(tail === undefined ? [] : [`tail=${tail}`])];
  const path = `/v1/jobs/${job.job}/logs/${stream}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  const answer = client.open(path, signal === undefined ? {} : { signal });
  const pieces = await answer
    .then((open) => client.pieces(open))
    .catch((error: unknown) => {
      if (error instanceof RefusedError && error.refused === "wrong-state") {
        return ownFile(client, job, { stream, follow, ...(tail === undefined ? {} : { tail }), raw }, signal);
      }
      throw error;
    });
  const shown = raw || !to.isTTY ? undefined : new VisibleStream();
  for await (const piece of pieces) {
    await write(to, shown === undefined ? piece : shown.next(piece));
  }
  if (shown !== undefined) await write(to, shown.end());
}

/** Read with the rights of who asks, not with those of the scheduler. */
async function* ownFile(
  client: Client,
  job: Job,
  { stream, follow, tail }: LogOptions,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Uint8Array> {
  const open = (path: string) => {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new RefusedError("not-yours", `Cannot read "${path}": ${(error as Error).message}`);
    }
  };
  const first = (size: number) => (tail === undefined ? 0 : lastBytes(size, tail).offset);
  if (follow) {
    const look = async () => {
      const { job: now } = await client.job(job.job);
      return { path: now[stream], hasEnded: ["done", "failed", "cancelled"].includes(now.state) };
    };
    yield* followPieces(look, open, first, signal);
    return;
  }
  const file = open(job[stream]);
  if (file === undefined) return;
  if (!fstatSync(file).isFile()) return closeSync(file);
  const { size } = fstatSync(file);
  const offset = first(size);
  yield* readPieces(file, { offset, limit: size - offset });
}

/** Waits where the reader is slow, so that little is held in memory. */
function write(to: NodeJS.WriteStream, chunk: string | Uint8Array): Promise<void> | undefined {
  if (chunk.length === 0 || to.write(chunk)) return undefined;
  return new Promise((resolve) => {
    to.once("drain", resolve);
  });
}
