/** Sends requests as a hostile client would: to any socket, with any token, or as raw bytes. */
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The parsed answer; undefined if it is not JSON. */
  readonly json: unknown;
}

export interface Question {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Where the API is: a path of a socket, or a port of this machine. */
export type Where = { readonly socketPath: string } | { readonly host: "127.0.0.1"; readonly port: number };

/** Sends one request on a new connection. @throws if there is no answer */
export function ask(
  where: Where,
  token: string | undefined,
  path: string,
  question: Question = {},
): Promise<Answer> {
  const { method = "GET", body, headers, signal } = question;
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const host = "port" in where ? `${where.host}:${where.port}` : "localhost";
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        ...where,
        agent: false,
        path,
        method,
        ...(signal !== undefined && { signal }),
        headers: {
          host,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(text !== undefined && { "content-type": "application/json", "content-length": text.length }),
          ...headers,
        },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (piece) => parts.push(piece));
        answer.on("error", reject);
        answer.on("end", () => resolve(answerOf(answer.statusCode ?? 0, Buffer.concat(parts).toString())));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}

/** Opens a connection and sends nothing. */
export function open(where: Where): Socket {
  const socket = "port" in where ? connect(where.port, where.host) : connect(where.socketPath);
  socket.on("error", () => {});
  return socket;
}

export function answerOf(status: number, text: string): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return { status, text, json };
}
