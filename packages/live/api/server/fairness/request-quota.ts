/**
 * Limits the open requests and unread answers of each user, so a user who sends many slow requests or reads
 * answers slowly does not slow down others.
 */

import { MAX_SUBMIT_BYTES } from "@tutti/protocol/limits.ts";
import { refuse } from "@tutti/protocol/refusal.ts";
import type { Caller } from "../../../daemon/contract/service.ts";
import type { ApiRefusal } from "../refusal.ts";

/** Open requests of one user at a time. Each piece of a body counts as one more. */
const MAX_OPEN = 512;
/** With this size, the largest body counts for two thirds of MAX_OPEN, so a user can send one at a time. */
const PIECE_BYTES = 48 * 1024;
/** Pieces of bodies of all users together. */
const MAX_PIECES = 1024;
/** Bytes of answers that are made but not read yet. */
const MAX_OF_USER_BYTES = 8 * 2 ** 20;
const MAX_OF_ALL_BYTES = 64 * 2 ** 20;
/** Limit of one user while all users together have too many: small answers still get through. */
const MAX_WHEN_CROWDED_BYTES = 256 * 2 ** 10;

/** An admitted request. */
export interface Ticket {
  /** A refusal if the user has too many unread bytes of answers; administrators are never refused. */
  refusal(): ApiRefusal | undefined;
  /** Resolves when there is room for the answer of a request that is done. */
  room(isGone: () => boolean): Promise<void>;
  /** Counts bytes of the answer: positive when they are made, negative when the client has read them. */
  count(bytes: number): void;
  /** Returns everything that the request took from the quota. */
  release(): void;
}

export class RequestQuota {
  readonly #open = new Map<number, number>();
  readonly #unread = new Unread();
  #pieces = 0;

  /**
   * Admits a request until its ticket is released. Administrators are always admitted.
   * @param weight number of requests that it counts as
   */
  take(caller: Caller, request: Request, weight = 1): Ticket | ApiRefusal {
    const { uid, user, isAdministrator } = caller;
    const before = this.#open.get(uid) ?? 0;
    const pieces = Math.ceil(bodyBytes(request) / PIECE_BYTES);
    const after = before + weight + pieces;
    if (!isAdministrator && pieces > 1 && this.#pieces + pieces > MAX_PIECES) {
      return refuse(
        "full",
        "Cannot read the body yet: the scheduler is reading too many large bodies; try again",
      );
    }
    if (after > MAX_OPEN && !isAdministrator) {
      return refuse(
        "full",
        `Cannot answer yet: user ${user} has too many open requests, expected at most ${MAX_OPEN} (large bodies and forecasts count as several); wait for some to end`,
      );
    }
    this.#open.set(uid, after);
    this.#pieces += pieces;
    return this.#ticket(caller, after - before, pieces);
  }

  #ticket({ uid, user, isAdministrator }: Caller, weight: number, pieces: number): Ticket {
    let isTaken = true;
    let unreadBytes = 0;
    const count = (bytes: number) => {
      if (!isTaken) return;
      unreadBytes += bytes;
      this.#unread.add(uid, bytes);
    };
    return {
      refusal: () =>
        isAdministrator || !this.#unread.isTooMuch(uid)
          ? undefined
          : refuse(
              "full",
              `Cannot answer yet: user ${user} has too many unread answers; read them or close their connections`,
            ),
      room: async (isGone) => {
        if (!isAdministrator) await this.#unread.room(uid, isGone);
      },
      count,
      release: () => {
        if (!isTaken) return;
        count(-unreadBytes);
        isTaken = false;
        this.#pieces -= pieces;
        const open = (this.#open.get(uid) ?? 0) - weight;
        if (open > 0) this.#open.set(uid, open);
        else this.#open.delete(uid);
      },
    };
  }
}

/** A body of unknown length counts as the largest. No length, no transfer-encoding: no body. */
function bodyBytes({ method, headers }: Request): number {
  if (method === "GET" || method === "HEAD") return 0;
  const stated = headers.get("content-length");
  if (stated === null) return headers.has("transfer-encoding") ? MAX_SUBMIT_BYTES : 0;
  return Math.min(Number(stated), MAX_SUBMIT_BYTES);
}

/**
 * Bytes of answers that clients have not read yet. They take our memory for as long as clients like, so there
 * is a limit for each user and one for all users together. Users over the limit are refused before any work
 * is done. A single answer may exceed the limit.
 */
class Unread {
  readonly #bytes = new Map<number, number>();
  #total = 0;
  #wakers: (() => void)[] = [];

  /** Counts bytes for a user; negative when they have been read. */
  add(user: number, bytes: number): void {
    const unread = (this.#bytes.get(user) ?? 0) + bytes;
    if (unread > 0) this.#bytes.set(user, unread);
    else this.#bytes.delete(user);
    this.#total += bytes;
    if (bytes >= 0 || this.#wakers.length === 0) return;
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  isTooMuch(user: number): boolean {
    const limit = this.#total > MAX_OF_ALL_BYTES ? MAX_WHEN_CROWDED_BYTES : MAX_OF_USER_BYTES;
    return (this.#bytes.get(user) ?? 0) > limit;
  }

  /** Resolves when the user has read enough, or the waiting client has left. */
  async room(user: number, isGone: () => boolean): Promise<void> {
    while (this.isTooMuch(user) && !isGone()) {
      await new Promise<void>((wake) => this.#wakers.push(wake));
    }
  }
}
