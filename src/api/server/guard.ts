/**
 * The door of the API, before anything is read: is this request meant for us, does it come from one of our own pages or from no page at
 * all, and who asks? Browsers on this machine run the scripts of strangers, who may send requests to 127.0.0.1
 * and may give their own name our address (DNS rebinding).
 */
import type { Caller } from "../../daemon/contract/service.ts";
import { refuse } from "../../protocol/refusal.ts";
import type { ApiRefusal } from "./refusal.ts";
import { ownerOfToken } from "./tokens.ts";

/**
 * How a request came in. The private socket lies in a folder that only its owner can enter, and a user's socket can be written to by
 * that user only (and by root), so these prove who asks.
 */
export type Transport = "private-socket" | "user-socket" | "shared-socket" | "http";

/** Where a connection came in. */
export interface Entrance {
  readonly transport: Transport;
  /** Whose it is, when the socket itself proves that. */
  readonly owner?: Caller | undefined;
}

export interface Credentials {
  readonly key: Buffer;
  /** Who started the front end. */
  readonly owner: Caller;
  /** The user of a number, or undefined when jobs of that user are not taken. */
  readonly userOf: (uid: number) => string | undefined;
  /** Port of the HTTP listener, or undefined before it listens or without one. */
  readonly port: () => number | undefined;
}

/** A refusal when the request may not come in at all, whoever asks. */
export function checkOrigin(
  request: Request,
  transport: Transport,
  credentials: Credentials,
): ApiRefusal | undefined {
  const host = request.headers.get("host") ?? "localhost";
  const hosts = allowedHosts(transport, credentials.port());
  if (!hosts.includes(host.toLowerCase())) {
    return refuse("forbidden", `Cannot answer for the host "${host}": this API is known as ${hosts[0]} only`);
  }
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== `http://${host}`) {
    return refuse(
      "forbidden",
      `Cannot serve a page of "${origin}": only pages of this API itself may use it`,
    );
  }
  const site = request.headers.get("sec-fetch-site");
  const isNavigation = request.headers.get("sec-fetch-mode") === "navigate";
  const changes = request.method !== "GET" && request.method !== "HEAD";
  if (site !== null && site !== "same-origin" && site !== "none" && (changes || !isNavigation)) {
    return refuse("forbidden", `Cannot serve a ${site} request: only pages of this API itself may use it`);
  }
  return undefined;
}

/** Who asks, by the socket or by the token. */
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
      "Cannot tell who asks: there is no token, expected the header Authorization: Bearer TOKEN with the token in your file, see tutti help serve",
    );
  }
  const uid = ownerOfToken(credentials.key, token);
  if (uid === credentials.owner.uid) return credentials.owner;
  const user = uid === undefined ? undefined : credentials.userOf(uid);
  if (uid === undefined || user === undefined) {
    return refuse(
      "no-token",
      "Cannot accept the token: it is not one of this scheduler's, expected the one in your token file",
    );
  }
  return { uid, user, isAdministrator: uid === 0 };
}

function allowedHosts(transport: Transport, port: number | undefined): string[] {
  if (transport !== "http") return ["localhost"];
  const names = ["127.0.0.1", "localhost", "[::1]"];
  return names.map((name) => `${name}:${port}`);
}
