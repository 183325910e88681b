/**
 * Runs Node's HTTP server on connections that the listeners pass on: one request per connection at a time, a
 * limit on connections, and refusals in the format of the API. No work is done for requests that a client
 * sends before it has the answer to the one before (pipelining).
 */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { refuse } from "@tutti/protocol/refusal.ts";
import { WholeAnswer } from "../answers/whole-answer.ts";
import { type App, SAFE_HEADERS } from "../app.ts";
import type { Entrance } from "../guard.ts";
import { type ApiRefusal, refusalParts, refusalResponse } from "../refusal.ts";
import type { Connections } from "./connections.ts";

/** Time limits for slow clients to send head and body. Answers may take any time. */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  // refusalOfHead() checks this, and answers with a body.
  requireHostHeader: false,
};
/** A connection is closed when its client has read nothing of an answer for this long. */
const STALLED_MS = 60_000;
/** The same until the client has shown a token: strangers share one quota. */
const STALLED_STRANGER_MS = 5_000;
/** Of more requests that come before the present answer is sent, the connection is closed at once. */
const MAX_EARLY = 8;

export function makeHttpReader(app: App, connections: Connections<Socket>) {
  const entrances = new WeakMap<Socket, Entrance>();
  const answer = async (request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> => {
    const made = await app(request, {
      ...entrances.get(incoming.socket)!,
      isGone: () => outgoing.destroyed || incoming.socket.destroyed,
      onceClosed: (then) => outgoing.once("close", then),
      cut: () => outgoing.destroy(),
      identified: (caller) => {
        incoming.socket.setTimeout(STALLED_MS);
        return connections.identified(incoming.socket, caller);
      },
    });
    if (!(made instanceof WholeAnswer)) return made;
    const { status, headers, text } = made;
    if (!outgoing.destroyed) outgoing.writeHead(status, headers).end(text);
    return RESPONSE_ALREADY_SENT;
  };
  const listener = getRequestListener((request, bindings) => answer(request, bindings as HttpBindings), {
    hostname: "localhost",
    overrideGlobalObjects: false,
    errorHandler: () => refusalResponse(refuse("invalid", "Cannot read the request's head")),
  });
  /** Connections with an unfinished answer; by them, how many further requests have come before its end. */
  const busy = new WeakMap<Socket, number>();
  const arrived = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const early = busy.get(socket);
    if (early !== undefined) {
      // The connection is closed after its present answer: HTTP lets clients send the others again.
      socket.pause();
      if (early >= MAX_EARLY) socket.destroy();
      busy.set(socket, early + 1);
      return;
    }
    busy.set(socket, 0);
    outgoing.once("close", () => {
      if (busy.get(socket) !== 0) socket.destroySoon();
      busy.delete(socket);
    });
    socket.setTimeout(STALLED_STRANGER_MS);
    const refusal = refusalOfHead(incoming);
    if (refusal === undefined) void listener(incoming, outgoing);
    else sendRefusal(outgoing, refusal);
  };
  const server = createServer(TIMES)
    .on("request", arrived)
    .on("checkExpectation", arrived)
    .on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      // A refusal must not be written into the middle of an answer.
      if (!socket.writable || busy.has(socket)) socket.destroy();
      else socket.end(refusalText(refusalOfParser(error)), () => socket.destroy());
    })
    .on("timeout", (socket) => {
      // The connection is idle, or its client does not read. A client that waits for an answer may wait
      // longer.
      if (socket.writableLength > 0 || !busy.has(socket)) socket.destroy();
    });
  server.timeout = STALLED_MS;
  // The server never listens itself; this event starts its timers for slow heads and bodies.
  server.emit("listening");
  return {
    /** Takes over a connection that was accepted. */
    take(socket: Socket, entrance: Entrance): void {
      entrances.set(socket, entrance);
      connections.add(socket);
      if (entrance.owner !== undefined) connections.identified(socket, entrance.owner);
      socket.once("close", () => connections.remove(socket));
      server.emit("connection", socket);
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Refuses heads that Node's parser accepts but HTTP does not allow. */
function refusalOfHead({ httpVersion, headers }: IncomingMessage): ApiRefusal | undefined {
  if (httpVersion === "1.1" && headers.host === undefined) {
    return refuse("invalid", "Cannot read the request: the Host header is missing");
  }
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    return {
      refused: "invalid",
      status: 417,
      message: `Cannot meet the expectation ${JSON.stringify(headers.expect)}: expected 100-continue or no Expect header`,
    };
  }
  return undefined;
}

/** The refusal for an error of Node's parser. */
function refusalOfParser({ code, message }: NodeJS.ErrnoException): ApiRefusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return {
      refused: "invalid",
      status: 408,
      message: `Cannot wait longer for the request: expected its head within ${TIMES.headersTimeout / 1000} s and the whole request within ${TIMES.requestTimeout / 1000} s`,
    };
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      refused: "too-large",
      status: 431,
      message: `Cannot read the request's head: it is longer than ${TIMES.maxHeaderSize} bytes; send shorter headers`,
    };
  }
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") {
    return refuse("too-large", "Cannot read the body: its chunk extensions are too long");
  }
  return refuse("invalid", `Cannot read the request: it is not HTTP (${message})`);
}

/** A refusal made outside the app, as the last answer of its connection. */
function lastParts(refusal: ApiRefusal) {
  const { status, headers, body } = refusalParts(refusal);
  return { status, headers: { ...SAFE_HEADERS, ...headers, connection: "close" }, body };
}

function sendRefusal(outgoing: ServerResponse, refusal: ApiRefusal): void {
  const { status, headers, body } = lastParts(refusal);
  outgoing.writeHead(status, headers).end(body);
}

/** The refusal as raw text, for a connection that has no ServerResponse. */
function refusalText(refusal: ApiRefusal): string {
  const { status, headers, body } = lastParts(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
