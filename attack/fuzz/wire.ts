/** Sends bytes and reads the answers with its own HTTP/1.1 reader, because a library might hide mistakes. */
import { open, type Where } from "../http.ts";

export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** False if the connection closed or the time ran out before the end of the answer. */
  readonly isComplete: boolean;
}

export interface Exchange {
  readonly answers: readonly WireAnswer[];
  /** The rest, which could not be read as HTTP. */
  readonly rest: Buffer;
  readonly isClosed: boolean;
}

/** A stream of events never ends; this much of it is enough. */
const STREAM_MS = 100;
/** Maximum time for one answer. */
const MAX_MS = 60_000;

/**
 * Sends, and reads until the connection closes.
 * @param patienceMs gives up after this time without a byte
 */
export function exchange(where: Where, bytes: Buffer, method: string, patienceMs: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = open(where);
    const parts: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    const last = setTimeout(() => finish(false), MAX_MS);
    const finish = (isClosed: boolean) => {
      clearTimeout(timer);
      clearTimeout(last);
      socket.destroy();
      resolve({ ...readAnswers(Buffer.concat(parts), method), isClosed });
    };
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(finish, ms, false);
    };
    socket.on("data", (piece: Buffer) => {
      parts.push(piece);
      wait(
        /\r\ncontent-type: text\/event-stream/i.test(Buffer.concat(parts.slice(0, 3)).toString("latin1"))
          ? STREAM_MS
          : patienceMs,
      );
    });
    socket.on("close", () => finish(true));
    wait(patienceMs);
    socket.write(bytes);
  });
}

/** All answers in the bytes of a connection. */
export function readAnswers(bytes: Buffer, method: string): Omit<Exchange, "isClosed"> {
  const answers: WireAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    const [line = "", ...lines] = rest.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
    const [, status] = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(line) ?? [];
    if (end < 0 || status === undefined) break;
    const headers = new Map(
      lines.map((one) => [
        one.slice(0, one.indexOf(":")).toLowerCase(),
        one.slice(one.indexOf(":") + 1).trim(),
      ]),
    );
    const after = rest.subarray(end + 4);
    const isEmpty = method === "HEAD" || status.startsWith("1") || status === "204" || status === "304";
    const { body, length, isComplete } = isEmpty ? EMPTY : readBody(after, headers);
    answers.push({ status: Number(status), headers, body, isComplete });
    rest = after.subarray(length);
    if (!isComplete) break;
  }
  return { answers, rest };
}

const EMPTY = { body: Buffer.alloc(0), length: 0, isComplete: true };

function readBody(bytes: Buffer, headers: ReadonlyMap<string, string>) {
  const stated = headers.get("content-length");
  if (stated !== undefined) {
    const length = Number(stated);
    return { body: bytes.subarray(0, length), length, isComplete: bytes.length >= length };
  }
  if (headers.get("transfer-encoding") !== "chunked")
    return { body: bytes, length: bytes.length, isComplete: true };
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (end < 0 || Number.isNaN(size) || bytes.length < end + 4 + size) {
      return { body: Buffer.concat(parts), length: bytes.length, isComplete: false };
    }
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
    if (size === 0) return { body: Buffer.concat(parts), length: at, isComplete: true };
  }
}
