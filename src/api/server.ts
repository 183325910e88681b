/** The API on its two listeners, a Unix socket and loopback HTTP, from one app. */
import { lstatSync, rmSync, unwatchFile, watchFile } from "node:fs";
import type { Server } from "node:net";
import { InputError } from "../core/errors.ts";
import type { Caller } from "../daemon/service.ts";
import { type App, type AppSetup, makeApp } from "./app.ts";
import { Connections, limitsFor, mostFiles } from "./connections.ts";
import { type Entrance, makeHttpReader } from "./http.ts";
import { closed, isAnswered, listenOnLoopback, listenOnSocket, makeListener } from "./listening.ts";
import { makePlaces, openToAllUsers, type Places, readOrMakeKey, writeToken } from "./places.ts";
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
  const listeners: Server[] = [];
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
  const http = makeHttpReader(app, new Connections(limitsFor(mostFiles())));
  const listener = (entrance: Entrance) => {
    const server = makeListener((socket) => http.take(socket, entrance));
    listeners.push(server);
    return server;
  };

  let inode: number | undefined;
  const close = async () => {
    users.stop();
    const ends = listeners.map(closed);
    http.close();
    await Promise.all(ends);
    // Not one that another front end has put there since.
    if (inode !== undefined && lstatSync(places.socket, { throwIfNoEntry: false })?.ino === inode)
      rmSync(places.socket);
  };
  try {
    const entrance: Entrance = isShared
      ? { transport: "shared-socket" }
      : { transport: "private-socket", owner };
    inode = await listenOnSocket(listener(entrance), places.socket, { mode: isShared ? 0o666 : 0o600 });
    if (options.ports.length > 0) {
      port = await listenOnLoopback(listener({ transport: "http" }), options.ports);
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

/** @throws InputError when another front end listens there */
async function checkFree(socket: string): Promise<void> {
  if (!(await isAnswered(socket))) return;
  throw new InputError(
    `Cannot listen on "${socket}": a scheduler is running there already, expected none; see tutti status, or end it with tutti down`,
  );
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
