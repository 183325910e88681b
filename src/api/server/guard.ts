/**
 * Checks a request before anything else is read: Is it meant for us? Does it come from one of our own pages,
 * or from no page? Who sends it? Browsers on this machine run scripts from strangers, which can send requests
 * to 127.0.0.1 and can make their own host name point to our address (DNS rebinding).
 */
import type { Caller } from "../../daemon/contract/service.ts";
import { refuse } from "../../protocol/refusal.ts";
import type { ApiRefusal } from "./refusal.ts";
import { ownerOfToken } from "./tokens.ts";

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

/** The user who sends the request, as proven by the socket or by the token. */
export function authenticate(
  request: Request,
  { transport, owner }: Entrance,
  credentials: Credentials,
): Caller | ApiRefusal {
  if (transport === "private-socket") return credentials.owner;
  if (owner !== undefined) return owner;
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) {
    return refuse(
      "no-token",
      "Cannot identify you: the request has no token, expected the header Authorization: Bearer TOKEN with the token from your token file; see tutti help serve",
    );
  }
  const uid = ownerOfToken(credentials.key, token);
  if (uid === credentials.owner.uid) return credentials.owner;
  const user = uid === undefined ? undefined : credentials.userOf(uid);
  if (uid === undefined || user === undefined) {
    return refuse(
      "no-token",
      "Cannot accept the token: this scheduler did not issue it, expected the token from your token file",
    );
  }
  return { uid, user, isAdministrator: uid === 0 };
}

function allowedHosts(transport: Transport, port: number | undefined): string[] {
  if (transport !== "http") return ["localhost"];
  const names = ["127.0.0.1", "localhost", "[::1]"];
  return names.map((name) => `${name}:${port}`);
}
