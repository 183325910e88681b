/**
 * Makes and checks tokens, which authenticate users. A token is a user id, signed with the key of the front
 * end, so tokens need not be stored, and each is valid as long as the key exists. Node cannot ask the kernel
 * which user is at the other end of a socket. A token in a file that only one user can read proves the same.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** `1000.…`: user id, then 43 characters of signature. */
export function makeToken(key: Buffer, uid: number): string {
  return `${uid}.${signature(key, uid).toString("base64url")}`;
}

/** The user id of a valid token, else undefined. Takes the same time for every wrong signature. */
export function ownerOfToken(key: Buffer, token: string): number | undefined {
  const [, digits, given = ""] = /^(\d{1,10})\.([\w-]{43})$/.exec(token) ?? [];
  if (digits === undefined) return undefined;
  const uid = Number(digits);
  const bytes = Buffer.from(given, "base64url");
  const expected = signature(key, uid);
  // Several texts can encode the same bytes; only the one that makeToken() writes is valid.
  const isCanonical = bytes.toString("base64url") === given && String(uid) === digits;
  return bytes.length === expected.length && timingSafeEqual(bytes, expected) && isCanonical
    ? uid
    : undefined;
}

function signature(key: Buffer, uid: number): Buffer {
  return createHmac("sha256", key).update(`tutti token for user ${uid}`).digest();
}
