/**
 * Makes and checks the tokens of page sessions. Like a token from a file (tokens.ts), such a token is signed
 * and not stored, so it survives a crash of the front end. Unlike it, it expires, and it may do less
 * (`forPages` in routes.ts): a page keeps it where the browser's extensions and its profile can read it.
 *
 * A page must also be able to recognize the scheduler. When the scheduler has ended, any user may listen on
 * its port, and would receive the token with the page's next request. So each session has a proof key, which
 * the page gets once and never sends. Before the page reconnects, it asks for a proof: the signature of its
 * random text and of the port. A process that passes the question on to a scheduler on another port gets the
 * signature of that port.
 */
import { randomBytes } from "node:crypto";
import { unixMs } from "@tutti/host/clock.ts";
import { isSigned, sign } from "../tokens.ts";

const SESSION_MS = 12 * 3_600_000;
const ID_BYTES = 16;

interface Session {
  readonly id: string;
  readonly uid: number;
  readonly expiresAtMs: number;
}

/** 22 characters, which nobody can guess: names a proof key. */
export function newProofId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** A session that begins now. */
export function newSession(uid: number): Session {
  return { id: newProofId(), uid, expiresAtMs: unixMs() + SESSION_MS };
}

/** `page.1000.1795384800000.…`: user id, Unix time in ms, 22 characters of id, 43 characters of signature. */
export function sessionToken(key: Buffer, { id, uid, expiresAtMs }: Session): string {
  const claims = `${uid}.${expiresAtMs}.${id}`;
  return `page.${claims}.${sign(key, about(claims))}`;
}

/** Whether a token claims to be a session's. */
export function isSessionToken(token: string): boolean {
  return token.startsWith("page.");
}

/**
 * The session of a token that this scheduler made, even if it has expired; else undefined. Takes the same
 * time for every wrong signature.
 */
export function sessionOf(key: Buffer, token: string): Session | undefined {
  const [, claims, uid, expiresAtMs, id = "", given = ""] =
    /^page\.((\d{1,10})\.(\d{1,15})\.([\w-]{22}))\.([\w-]{43})$/.exec(token) ?? [];
  if (!isSigned(key, about(claims), given)) return undefined;
  return { id, uid: Number(uid), expiresAtMs: Number(expiresAtMs) };
}

/** 43 characters, the key of `proofOf` for one session. */
export function proofKeyOf(key: Buffer, id: string): string {
  return sign(key, `tutti proof key of page session ${id}`);
}

/** HMAC-SHA-256 with the bytes of the proof key. */
export function proofOf(proofKey: string, nonce: string, port: number | undefined): string {
  return sign(Buffer.from(proofKey, "base64url"), `tutti on port ${port} of 127.0.0.1: ${nonce}`);
}

const about = (claims: string) => `tutti page session ${claims}`;
