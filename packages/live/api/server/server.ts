/** Serves the API on its two listeners: a Unix socket, and HTTP on the loopback address. */
import { existsSync, unwatchFile, watchFile } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { monotonicMs } from "@tutti/host/clock.ts";
import { DIST } from "@tutti/host/programs.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Caller } from "../../daemon/contract/service.ts";
import {
  checkRuntimeDir,
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
import { type ConnectionLimits, Connections, limitsFor, maxOpenFiles } from "./connections/connections.ts";
import { makeHttpReader } from "./connections/http.ts";
import {
  checkSocketPath,
  closed,
  isAnswered,
  listenOnLoopback,
  makeListener,
} from "./connections/listening.ts";
import { SocketKeeper, type WantedSocket } from "./connections/socket-keeper.ts";
import type { Entrance } from "./guard.ts";
import { type LocalUser, people } from "./people.ts";
import { makeToken } from "./tokens.ts";
import { Links, linkTo } from "./web/links.ts";
import { WebFiles } from "./web/web-files.ts";

export interface ApiOptions extends Omit<AppSetup, "credentials" | "web"> {
  readonly places: RuntimeDir;
  /** The user who started the front end. */
  readonly owner: Caller;
  /** True: all users of the machine may use the front end, each with a token. For a front end run by root. */
  readonly isShared: boolean;
  /** Ports of 127.0.0.1 to try in order, 0 for any free one; empty: no HTTP. */
  readonly ports: readonly number[];
  /** The setting `web`; default: the page may not submit jobs. */
  readonly web?: { readonly submit: boolean };
  /** The users of a shared front end; default: the people in /etc/passwd, read again when it changes. */
  readonly users?: () => LocalUser[];
  /** Default: as many as the files allow that this process may open. */
  readonly connections?: ConnectionLimits;
  /** Receives notes for the administrator, one sentence each. */
  readonly onNote?: (text: string) => void;
}

export interface Api {
  readonly socket: string;
  /** Such as http://127.0.0.1:7448/ */
  readonly http?: string;
  /** The owner's token. */
  readonly token: string;
  /** The page with a code for a session of the owner; undefined without HTTP. */
  readonly linkToPage: () => string | undefined;
  /** Resolves when no request has come for `idleMs`, or after `maxMs`. */
  quiet(idleMs: number, maxMs: number): Promise<void>;
  close(): Promise<void>;
}

const WEB_FOLDER = new URL("web/", DIST);
const PASSWD = "/etc/passwd";
const PASSWD_LOOK_MS = 10_000;
/** Each socket takes a file descriptor. Further users have to use the shared socket. */
const MAX_USER_SOCKETS = 256;

/**
 * Checks whether `startApi` could listen, and changes nothing.
 * @throws InputError if another front end listens there already, the folder cannot be trusted, or no port is
 *   free
 */
export async function checkApi({ places, ports }: Pick<ApiOptions, "places" | "ports">): Promise<void> {
  checkSocketPath(places.socket);
  checkRuntimeDir(places);
  await checkFree(places.socket);
  if (ports.length === 0) return;
  const probe = createServer();
  await listenOnLoopback(probe, ports);
  await closed(probe);
}

/** Starts listening. @throws InputError like `checkApi` */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { places, owner, isShared } = options;
  await checkApi(options);
  makeRuntimeDir(places);
  const key = readOrMakeKey(places);
  const users = giveTokens(options, key);
  let port: number | undefined;
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  const links = new Links();
  const answer = makeApp({
    ...options,
    credentials: { key, owner, userOf: (uid) => users.nameOf(uid), port: () => port },
    web: { files: new WebFiles(WEB_FOLDER), links, maySubmit: options.web?.submit ?? false },
  });
  const app: App = (request, arrival) => {
    lastRequestMs = monotonicMs();
    return answer(request, arrival);
  };
  const reader = makeHttpReader(app, new Connections(options.connections ?? limitsFor(maxOpenFiles())));
  const listener = (entrance: Entrance) => makeListener((socket) => reader.take(socket, entrance));
  const everybodys: WantedSocket = {
    path: places.socket,
    rights: { mode: isShared ? 0o666 : 0o600 },
    makeListener: () =>
      listener(isShared ? { transport: "shared-socket" } : { transport: "private-socket", owner }),
  };
  /**
   * Only its user can open this socket, so it proves who connects. Other users cannot fill its connection
   * queue.
   */
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
    reader.close();
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
    // An open listener would keep the process alive.
    await close();
    throw error;
  }
  const http = port === undefined ? undefined : `http://127.0.0.1:${port}/`;
  return {
    socket: places.socket,
    http,
    token: makeToken(key, owner.uid),
    linkToPage: () => (http === undefined ? undefined : linkTo(http, links.make(owner.uid))),
    quiet: async (idleMs, maxMs) => {
      const untilMs = monotonicMs() + maxMs;
      for (;;) {
        const now = monotonicMs();
        const leftMs = Math.min(Math.max(lastRequestMs, untilMs - maxMs) + idleMs, untilMs) - now;
        if (leftMs <= 0) return;
        await sleep(leftMs);
      }
    },
    close,
  };
}

/** @throws InputError if another front end listens there */
async function checkFree(socket: string): Promise<void> {
  if (!(await isAnswered(socket))) return;
  throw new InputError(
    `Cannot listen on "${socket}": a scheduler is running there already; tutti status shows it, tutti down ends it`,
  );
}

/** Writes the token files, and updates them when the machine's list of users changes. */
function giveTokens({ places, owner, isShared, users = people }: ApiOptions, key: Buffer) {
  let current = new Map<number, string>();
  const allHolders = () => new Set([owner.uid, ...current.keys()]);
  const write = (uids: Iterable<number>) => {
    for (const uid of uids) writeToken(places, uid, makeToken(key, uid));
  };
  const update = () => {
    const before = allHolders();
    current = new Map((isShared ? users() : []).map(({ uid, user }) => [uid, user]));
    const holders = allHolders();
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
    count: () => allHolders().size,
    /** Writes missing token files. */
    restore: () => write([...allHolders()].filter((uid) => !existsSync(join(places.tokens, String(uid))))),
    stop: () => {
      if (isShared) unwatchFile(PASSWD, update);
    },
  };
}
