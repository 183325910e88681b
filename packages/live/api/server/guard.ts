/**
 * Checks a request before anything else is read: Is it meant for us? Does it come from one of our own pages,
 * or from no page? Who sends it? Browsers on this machine run scripts from strangers, which can send requests
 * to 127.0.0.1 and can make their own host name point to our address (DNS rebinding).
 */

import { unixMs } from "@tutti/host/clock.ts";
import { refuse } from "@tutti/protocol/refusal.ts";
import type { Caller } from "../../daemon/contract/service.ts";
import type { ApiRefusal } from "./refusal.ts";
import { ownerOfToken } from "./tokens.ts";
import { isSessionToken, sessionOf } from "./web/session-tokens.ts";

/**
 * How a request came in. Only its owner can enter the folder of a private socket, and only that user (and
 * root) can write to a user's socket. So both kinds of socket prove who sends the request.
 */
export type Transport = "private-socket" | "user-socket" | "shared-socket" | "http";

/** How a connection came in. */
export interface Entrance {
  readonly transport: Transport;
  /** The user of the connection, if the socket itself proves who it is. */
  readonly owner?: Caller | undefined;
}

export interface Credentials {
  readonly key: Buffer;
  /** The user who started the front end. */
  readonly owner: Caller;
  /** Name of the user with this id; undefined if this user may not use the scheduler. */
  readonly userOf: (uid: number) => string | undefined;
  /** Port of the HTTP listener; undefined if there is no listener, or before it listens. */
  readonly port: () => number | undefined;
}

/** A refusal if the request is not allowed for any user. */
export function checkOrigin(
  request: Request,
  transport: Transport,
  credentials: Credentials,
): ApiRefusal | undefined {
  const host = request.headers.get("host") ?? "localhost";
  const hosts = allowedHosts(transport, credentials.port());
  if (!hosts.includes(host.toLowerCase())) {
    return refuse("forbidden", `Cannot answer for the host "${host}": this API answers only as ${hosts[0]}`);
  }
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== `http://${host}`) {
    return refuse("forbidden", `Cannot answer a page of "${origin}": only the API's own pages may use it`);
  }
  const site = request.headers.get("sec-fetch-site");
  const isNavigation = request.headers.get("sec-fetch-mode") === "navigate";
  const changes = request.method !== "GET" && request.method !== "HEAD";
  if (site !== null && site !== "same-origin" && site !== "none" && (changes || !isNavigation)) {
    return refuse("forbidden", `Cannot answer a ${site} request: only the API's own pages may use it`);
  }
  return undefined;
}

/** Who sends a request. */
export interface Sender {
  readonly caller: Caller;
  /** Whether the request comes from the page, with the token of a session. */
  readonly isPage: boolean;
}

/** The user who sends the request, as proven by the socket or by the token. */
export function authenticate(
  request: Request,
  { transport, owner }: Entrance,
  credentials: Credentials,
): Sender | ApiRefusal {
  if (transport === "private-socket") return { caller: credentials.owner, isPage: false };
  if (owner !== undefined) return { caller: owner, isPage: false };
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) {
    return refuse(
      "no-token",
      "Cannot identify you: the request has no token, expected the header Authorization: Bearer TOKEN with the token from your token file; see tutti help serve",
    );
  }
  if (isSessionToken(token)) return senderOfSession(request, token, transport, credentials);
  const uid = ownerOfToken(credentials.key, token);
  const caller = uid === undefined ? undefined : callerOf(uid, credentials);
  if (caller === undefined) {
    return refuse(
      "no-token",
      "Cannot accept the token: this scheduler did not issue it, expected the token from your token file",
    );
  }
  return { caller, isPage: false };
}

/** The user with this id; undefined if this user may not use the scheduler. */
export function callerOf(uid: number, { owner, userOf }: Credentials): Caller | undefined {
  if (uid === owner.uid) return owner;
  const user = userOf(uid);
  return user === undefined ? undefined : { uid, user, isAdministrator: uid === 0 };
}

/** Sessions exist only at the address where the page is served; see livePage(). */
function senderOfSession(
  request: Request,
  token: string,
  transport: Transport,
  credentials: Credentials,
): Sender | ApiRefusal {
  const session = sessionOf(credentials.key, token);
  const caller = session === undefined ? undefined : callerOf(session.uid, credentials);
  const isHere =
    transport === "http" && request.headers.get("host") === hostAt("127.0.0.1", credentials.port());
  if (session === undefined || caller === undefined || !isHere) {
    return refuse(
      "no-token",
      "Cannot accept the session: this scheduler did not begin it at this address; run tutti web for a new link to the page",
    );
  }
  if (session.expiresAtMs <= unixMs()) {
    return refuse(
      "no-token",
      "Cannot continue the session: it has expired; run tutti web for a new link to the page",
    );
  }
  return { caller, isPage: true };
}

function allowedHosts(transport: Transport, port: number | undefined): string[] {
  if (transport !== "http") return ["localhost"];
  const names = ["127.0.0.1", "localhost", "[::1]"];
  return names.map((name) => hostAt(name, port));
}

/** The Host header that clients send. */
function hostAt(name: string, port: number | undefined): string {
  return port === 80 ? name : `${name}:${port}`;
}
