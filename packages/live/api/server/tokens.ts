/**
 * Makes and checks tokens, which authenticate users. A token is a user id, signed with the key of the front
 * end, so tokens need not be stored, and each is valid as long as the key exists. Node cannot ask the kernel
 * which user is at the other end of a socket. A token in a file that only one user can read proves the same.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** `1000.…`: user id, then 43 characters of signature. */
export function makeToken(key: Buffer, uid: number): string {
  return `${uid}.${sign(key, subject(uid))}`;
}

/** The user id of a valid token, else undefined. Takes the same time for every wrong signature. */
export function ownerOfToken(key: Buffer, token: string): number | undefined {
  const [, digits, given = ""] = /^(\d{1,10})\.([\w-]{43})$/.exec(token) ?? [];
  const uid = Number(digits);
  return isSigned(key, subject(uid), given) && String(uid) === digits ? uid : undefined;
}

const subject = (uid: number) => `tutti token for user ${uid}`;

/** 43 characters. */
export function sign(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/**
 * Whether `sign` makes these characters: others that encode the same bytes are not valid. Takes the same
 * time for all of the right length.
 */
export function isSigned(key: Buffer, text: string, given: string): boolean {
  const expected = sign(key, text);
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
