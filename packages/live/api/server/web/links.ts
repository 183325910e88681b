/**
 * Keeps the codes of links to the page. A code can be used once, within a minute, and only in memory: a
 * restart of the front end voids it.
 */
import { createHash, randomBytes } from "node:crypto";
import { monotonicMs } from "@tutti/host/clock.ts";

export const LINK_MS = 60_000;
const CODE_BYTES = 24;
/** For each user. Above it, the oldest code is void. */
const MAX_OF_USER = 16;

interface Link {
  readonly uid: number;
  readonly untilMs: number;
}

export class Links {
  /**
   * By the digest of the code, oldest first. So the time of a look-up depends on the digest of a guess,
   * which says nothing about the code.
   */
  readonly #links = new Map<string, Link>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => monotonicMs()) {
    this.#nowMs = nowMs;
  }

  /** A code, which nobody can guess, for a session of this user. */
  make(uid: number): string {
    const own: string[] = [];
    for (const [digest, link] of this.#links) {
      if (link.untilMs <= this.#nowMs()) this.#links.delete(digest);
      else if (link.uid === uid) own.push(digest);
    }
    if (own.length >= MAX_OF_USER) this.#links.delete(own[0]);
    const code = randomBytes(CODE_BYTES).toString("base64url");
    this.#links.set(digestOf(code), { uid, untilMs: this.#nowMs() + LINK_MS });
    return code;
  }

  /** The user id of a code, which is void from now on; undefined if it is wrong, used or too old. */
  use(code: string): number | undefined {
    const digest = digestOf(code);
    const link = this.#links.get(digest);
    this.#links.delete(digest);
    return link !== undefined && this.#nowMs() < link.untilMs ? link.uid : undefined;
  }
}

/** The page's address with a code. Browsers do not send the part after #, so no log has it. */
export function linkTo(address: string, code: string): string {
  return `${address}#login=${code}`;
}

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
