/** The API on its two listeners, a Unix socket and loopback HTTP, from one app. */
import { existsSync, unwatchFile, watchFile } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";
import type { Caller } from "../../daemon/contract/service.ts";
import { pause } from "../../host/pause.ts";
import {
  makeRuntimeDir,
  openToAllUsers,
  type RuntimeDir,
  readOrMakeKey,
  removeTokens,
  userSocket,
  writeKey,
  writeToken,
} from "../runtime-dir.ts";
import { type App, type AppSetup, makeApp } from "./app.ts";
import { Connections, limitsFor, mostFiles } from "./connections/connections.ts";
import { makeHttpReader } from "./connections/http.ts";
import { closed, isAnswered, listenOnLoopback, makeListener } from "./connections/listening.ts";
import { SocketKeeper, type WantedSocket } from "./connections/socket-keeper.ts";
import type { Entrance } from "./guard.ts";
import { type LocalUser, people } from "./people.ts";
import { makeToken } from "./tokens.ts";

export interface ApiOptions extends Omit<AppSetup, "credentials"> {
  readonly places: RuntimeDir;
  /** Who started the front end. */
  readonly owner: Caller;
  /** True: all users of the machine may use it, each with a token; for a front end run by root. */
  readonly isShared: boolean;
  /** Ports of 127.0.0.1 to try in turn, 0 for any free one; none: no HTTP. */
  readonly ports: readonly number[];
  /** Who gets a token when it is shared; default the people in /etc/passwd, looked at again when that changes. */
  readonly users?: () => LocalUser[];
  /** Told in a sentence of what whoever runs the machine should know. */
  readonly onNote?: (text: string) => void;
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
/** Each takes a descriptor. Users beyond have everybody's socket. */
const MAX_USER_SOCKETS = 256;

/**
 * Begins to listen.
 * @throws InputError when another front end listens there already, or the folder cannot be trusted
 */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { places, owner, isShared } = options;
  makeRuntimeDir(places);
  await checkFree(places.socket);
  const key = readOrMakeKey(places);
  const users = giveTokens(options, key);
  let port: number | undefined;
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  const answer = makeApp({
    ...options,
    credentials: { key, owner, userOf: (uid) => users.nameOf(uid), port: () => port },
  });
  const app: App = (request, arrival) => {
    lastRequestMs = performance.now();
    return answer(request, arrival);
  };
  const http = makeHttpReader(app, new Connections(limitsFor(mostFiles())));
  const listener = (entrance: Entrance) => makeListener((socket) => http.take(socket, entrance));
  const everybodys: WantedSocket = {
    path: places.socket,
    rights: { mode: isShared ? 0o666 : 0o600 },
    makeListener: () =>
      listener(isShared ? { transport: "shared-socket" } : { transport: "private-socket", owner }),
  };
  /** Its file is its user's alone, so it proves who asks, and its queue of connections is that user's too. */
  const ownSocket = (caller: Caller): WantedSocket => ({
    path: userSocket(places, caller.uid),
    rights: { mode: 0o600, uid: caller.uid },
    makeListener: () => listener({ transport: "user-socket", owner: caller }),
  });
  const keeper = new SocketKeeper({
    places,
    wanted: () => [
      everybodys,
      ...(isShared ? users.callers().slice(0, MAX_USER_SOCKETS).map(ownSocket) : []),
    ],
    restore: () => {
      makeRuntimeDir(places);
      if (!existsSync(places.key)) writeKey(places, key);
      users.restore();
      if (isShared) openToAllUsers(places);
    },
    tokenCount: () => users.count(),
    note: options.onNote ?? (() => {}),
  });
  let loopback: Server | undefined;
  const close = async () => {
    users.stop();
    const ends = [keeper.stop(), ...(loopback === undefined ? [] : [closed(loopback)])];
    http.close();
    await Promise.all(ends);
  };
  try {
    await keeper.start();
    if (options.ports.length > 0) {
      loopback = listener({ transport: "http" });
      port = await listenOnLoopback(loopback, options.ports);
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
        await pause(leftMs);
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
function giveTokens({ places, owner, isShared, users = people }: ApiOptions, key: Buffer) {
  let current = new Map<number, string>();
  const all = () => new Set([owner.uid, ...current.keys()]);
  const write = (uids: Iterable<number>) => {
    for (const uid of uids) writeToken(places, uid, makeToken(key, uid));
  };
  const update = () => {
    const before = all();
    current = new Map((isShared ? users() : []).map(({ uid, user }) => [uid, user]));
    const holders = all();
    write([...holders].filter((uid) => !before.has(uid)));
    removeTokens(places, (uid) => !holders.has(uid));
  };
  write([owner.uid]);
  update();
  if (isShared) watchFile(PASSWD, { interval: PASSWD_LOOK_MS, persistent: false }, update);
  return {
    nameOf: (uid: number) => current.get(uid),
    callers: (): Caller[] => {
      const others = [...current].filter(([uid]) => uid !== owner.uid);
      return [owner, ...others.map(([uid, user]) => ({ uid, user, isAdministrator: uid === 0 }))];
    },
    count: () => all().size,
    /** Writes those that are missing. */
    restore: () => write([...all()].filter((uid) => !existsSync(join(places.tokens, String(uid))))),
    stop: () => {
      if (isShared) unwatchFile(PASSWD, update);
    },
  };
}
