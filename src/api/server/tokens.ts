/**
 * Tokens: who holds one is that user. A token is the user's number and its signature by the key of the front end, so nothing
 * has to be kept, and a token lives as long as the key. Node cannot ask the kernel who is at the other end of a socket;
 * a file that only one user can read proves the same.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** `1000.…`: number of the user, then 43 characters of signature. */
export function makeToken(key: Buffer, uid: number): string {
  return `${uid}.${signature(key, uid).toString("base64url")}`;
}

/** The user whose token this is, or undefined. Takes the same time whatever is wrong with the signature. */
export function ownerOfToken(key: Buffer, token: string): number | undefined {
  const [, digits, given = ""] = /^(\d{1,10})\.([\w-]{43})$/.exec(token) ?? [];
  if (digits === undefined) return undefined;
  const uid = Number(digits);
  const bytes = Buffer.from(given, "base64url");
  const expected = signature(key, uid);
  // Two texts may stand for the same bytes; only the one that we write is taken.
  const isCanonical = bytes.toString("base64url") === given && String(uid) === digits;
  return bytes.length === expected.length && timingSafeEqual(bytes, expected) && isCanonical
    ? uid
    : undefined;
}

function signature(key: Buffer, uid: number): Buffer {
  return createHmac("sha256", key).update(`tutti token for user ${uid}`).digest();
}
