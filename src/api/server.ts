/** The API on its two listeners, a Unix socket and loopback HTTP, from one app. */
import { chmodSync, lstatSync, renameSync, rmSync, unwatchFile, watchFile } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { InputError } from "../core/errors.ts";
import type { Caller } from "../daemon/service.ts";
import { type App, type AppSetup, makeApp } from "./app.ts";
import type { Transport } from "./guard.ts";
import { makePlaces, openToAllUsers, type Places, readOrMakeKey, withUmask, writeToken } from "./places.ts";
import { refusalResponse } from "./refusal.ts";
import { type LocalUser, localUsers, makeToken } from "./tokens.ts";

export interface ApiOptions extends Omit<AppSetup, "door"> {
  readonly places: Places;
  /** Who started the front end. */
  readonly owner: Caller;
  /** True: all users of the machine may use it, each with a token; for a front end run by root. */
  readonly isShared: boolean;
  /** Ports of 127.0.0.1 to try in turn, 0 for any free one; none: no HTTP. */
  readonly ports: readonly number[];
  /** Who gets a token when it is shared; default the people in /etc/passwd, looked at again when that changes. */
  readonly users?: () => LocalUser[];
}

export interface Api {
  readonly socket: string;
  /** Such as http://127.0.0.1:7448/ */
  readonly http?: string;
  /** The owner's token. */
  readonly token: string;
  /** Resolves when nobody has asked anything for `idleMs`, or after `mostMs`. */
  quiet(idleMs: number, mostMs: number): Promise<void>;
  close(): Promise<void>;
}

const PASSWD = "/etc/passwd";
const PASSWD_LOOK_MS = 10_000;
const MOST_CONNECTIONS = 4096;
/** Bytes of sun_path, less the NUL. */
const LONGEST_SOCKET = 107;
/** Slow clients: head and body must have arrived by then. Answers may take as long as they like. */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
};

/**
 * Begins to listen.
 * @throws InputError when another front end listens there already, or the folder cannot be trusted
 */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { places, owner, isShared } = options;
  makePlaces(places);
  await checkFree(places.socket);
  const key = readOrMakeKey(places);
  const users = giveTokens(options, key);
  const servers: Server[] = [];
  let port: number | undefined;
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  const answer = makeApp({
    ...options,
    door: { key, owner, userOf: (uid) => users.current.get(uid), port: () => port },
  });
  const app: App = (request, arrival) => {
    lastRequestMs = performance.now();
    return answer(request, arrival);
  };

  let inode: number | undefined;
  const close = async () => {
    users.stop();
    await Promise.all(servers.map(closeServer));
    // Not one that another front end has put there since.
    if (inode !== undefined && lstatSync(places.socket, { throwIfNoEntry: false })?.ino === inode)
      rmSync(places.socket);
  };
  try {
    const socketServer = makeServer(app, isShared ? "shared-socket" : "private-socket");
    servers.push(socketServer);
    await listenOnSocket(socketServer, places, isShared);
    inode = lstatSync(places.socket).ino;
    if (options.ports.length > 0) {
      const httpServer = makeServer(app, "http");
      servers.push(httpServer);
      port = await listenOnLoopback(httpServer, options.ports);
    }
    if (isShared) openToAllUsers(places);
  } catch (error) {
    // What listens already would keep the process alive.
    await close();
    throw error;
  }
  return {
    socket: places.socket,
    ...(port === undefined ? {} : { http: `http://127.0.0.1:${port}/` }),
    token: makeToken(key, owner.uid),
    quiet: async (idleMs, mostMs) => {
      const untilMs = performance.now() + mostMs;
      for (;;) {
        const now = performance.now();
        const leftMs = Math.min(Math.max(lastRequestMs, untilMs - mostMs) + idleMs, untilMs) - now;
        if (leftMs <= 0) return;
        await new Promise((resolve) => setTimeout(resolve, leftMs));
      }
    },
    close,
  };
}

function makeServer(app: App, transport: Transport): Server {
  const listener = getRequestListener(
    (request, { outgoing }) => app(request, { transport, isGone: () => outgoing.destroyed }),
    {
      hostname: "localhost",
      overrideGlobalObjects: false,
      errorHandler: () => refusalResponse({ refused: "invalid", message: "Cannot read the request's head" }),
    },
  );
  const server = createServer(TIMES, (incoming, outgoing) => void listener(incoming, outgoing));
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

/**
 * The socket has its final mode when it appears: bind makes it under the umask, with another name, and it is renamed. So it also takes the
 * place of one that was left behind, and Node, which takes away the name it bound, cannot take that of a later front end.
 */
async function listenOnSocket(server: Server, { socket }: Places, isShared: boolean): Promise<void> {
  const bound = `${socket}.${process.pid}`;
  if (Buffer.byteLength(bound) > LONGEST_SOCKET) {
    throw new InputError(
      `Cannot listen on "${socket}": the path is too long for a socket, expected at most ${LONGEST_SOCKET - 9} bytes; set TUTTI_SOCKET`,
    );
  }
  rmSync(bound, { force: true });
  await listening(server, () => {
    withUmask(0o177, () => server.listen({ path: bound, backlog: 1024 }));
  });
  if (isShared) chmodSync(bound, 0o666);
  renameSync(bound, socket);
}

async function listenOnLoopback(server: Server, ports: readonly number[]): Promise<number> {
  for (const [i, port] of ports.entries()) {
    try {
      await listening(server, () => server.listen({ host: "127.0.0.1", port, backlog: 1024 }));
      return (server.address() as AddressInfo).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      if (i === ports.length - 1) {
        throw new InputError(
          `Cannot listen on port ${port} of 127.0.0.1: another program does, expected a free one; choose another with --port, or 0 for any`,
        );
      }
    }
  }
  throw new Error("Broken invariant: there is no port to listen on");
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      server.off("listening", onListening);
      reject(error);
    };
    const onListening = () => {
      server.off("error", onError);
      resolve();
    };
    server.once("error", onError).once("listening", onListening);
    listen();
  });
}

/** A socket that nobody answers at was left by a front end that was killed. */
async function checkFree(socket: string): Promise<void> {
  const isAnswered = await new Promise<boolean>((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.on("error", () => resolve(false));
  });
  if (isAnswered) {
    throw new InputError(
      `Cannot listen on "${socket}": a scheduler is running there already, expected none; see tutti status, or end it with tutti down`,
    );
  }
}

/** Writes the token files; the users are looked up again when the machine's list changes. */
function giveTokens({ places, owner, isShared, users = localUsers }: ApiOptions, key: Buffer) {
  const state = { current: new Map<number, string>(), stop: () => {} };
  const update = () => {
    const all = isShared ? users() : [];
    const before = state.current;
    state.current = new Map(all.map(({ uid, user }) => [uid, user]));
    for (const { uid } of [owner, ...all]) {
      if (!before.has(uid)) writeToken(places, uid, makeToken(key, uid));
    }
  };
  update();
  if (isShared) {
    watchFile(PASSWD, { interval: PASSWD_LOOK_MS, persistent: false }, update);
    state.stop = () => unwatchFile(PASSWD, update);
  }
  return state;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
