/**
 * How much each user keeps us busy with at a time. Whoever may use the scheduler may also send it many slow requests and read the answers slowly;
 * that must cost the others nothing.
 */
import type { Caller } from "../../../daemon/contract/service.ts";
import { refuse } from "../../../protocol/refusal.ts";
import type { ApiRefusal } from "../refusal.ts";
import { MAX_BODY_BYTES } from "../requests/body.ts";

/** Requests of one user that are open at a time; one with a body counts for as many more as it has such pieces. */
const MAX_OPEN = 512;
/** So the largest body counts for two thirds of what a user may have open: one such at a time. */
const PIECE_BYTES = 48 * 1024;
/** Of all users together, in such pieces of bodies. */
const MAX_PIECES = 1024;
/** Bytes of answers that are made and not yet read. */
const MAX_OF_USER_BYTES = 8 * 2 ** 20;
const MAX_OF_ALL_BYTES = 64 * 2 ** 20;
/** What a user may have while all together have too many: small answers still come. */
const MAX_WHEN_CROWDED_BYTES = 256 * 2 ** 10;

/** A request that was let in. */
export interface Ticket {
  /** A refusal while the user has too many bytes of answers unread; administrators get none. */
  refusal(): ApiRefusal | undefined;
  /** Resolves when there is room for the answer to what was done already. */
  room(isGone: () => boolean): Promise<void>;
  /** So many bytes of the answer are made; less than 0: have been read. */
  made(bytes: number): void;
  /** Gives back all that it took. */
  release(): void;
}

export class RequestQuota {
  readonly #open = new Map<number, number>();
  readonly #unread = new Unread();
  #pieces = 0;

  /**
   * Lets a request in, until it is released. Administrators are let in always.
   * @param weight for how many requests it counts
   */
  take(caller: Caller, request: Request, weight = 1): Ticket | ApiRefusal {
    const { uid, user, isAdministrator } = caller;
    const before = this.#open.get(uid) ?? 0;
    const pieces = Math.ceil(bodyBytes(request) / PIECE_BYTES);
    const after = before + weight + pieces;
    if (!isAdministrator && pieces > 1 && this.#pieces + pieces > MAX_PIECES) {
      return refuse("full", "Cannot read the body yet: too many large ones are on their way; try again");
    }
    if (after > MAX_OPEN && !isAdministrator) {
      return refuse(
        "full",
        `Cannot answer yet: user ${user} has too many requests open, expected at most ${MAX_OPEN}, fewer with large bodies or forecasts; wait for some to end`,
      );
    }
    this.#open.set(uid, after);
    this.#pieces += pieces;
    return this.#ticket(caller, after - before, pieces);
  }

  #ticket({ uid, user, isAdministrator }: Caller, weight: number, pieces: number): Ticket {
    let isTaken = true;
    let unreadBytes = 0;
    const made = (bytes: number) => {
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
              `Cannot answer yet: user ${user} has asked for answers and has not read them; read them or close their connections`,
            ),
      room: async (isGone) => {
        if (!isAdministrator) await this.#unread.room(uid, isGone);
      },
      made,
      release: () => {
        if (!isTaken) return;
        made(-unreadBytes);
        isTaken = false;
        this.#pieces -= pieces;
        const left = (this.#open.get(uid) ?? 0) - weight;
        if (left > 0) this.#open.set(uid, left);
        else this.#open.delete(uid);
      },
    };
  }
}

/** A body that does not say how long it is may be as long as any; without transfer-encoding there is none then. */
function bodyBytes({ method, headers }: Request): number {
  if (method === "GET" || method === "HEAD") return 0;
  const stated = headers.get("content-length");
  if (stated === null) return headers.has("transfer-encoding") ? MAX_BODY_BYTES : 0;
  return Math.min(Number(stated), MAX_BODY_BYTES);
}

/**
 * Bytes of answers that are made and not yet read by their clients. They are memory of ours that others decide about, so each user may
 * have a bounded number of them, and all users together too. A user who has more is refused before work is done; one answer may exceed the bound.
 */
class Unread {
  readonly #bytes = new Map<number, number>();
  #total = 0;
  #wakers: (() => void)[] = [];

  /** Counts bytes for a user; less than 0 when they have been read. */
  add(user: number, bytes: number): void {
    const left = (this.#bytes.get(user) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(user, left);
    else this.#bytes.delete(user);
    this.#total += bytes;
    if (bytes >= 0 || this.#wakers.length === 0) return;
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  isTooMuch(user: number): boolean {
    const most = this.#total > MAX_OF_ALL_BYTES ? MAX_WHEN_CROWDED_BYTES : MAX_OF_USER_BYTES;
    return (this.#bytes.get(user) ?? 0) > most;
  }

  /** Resolves when the user has read enough, or the client that waits has left. */
  async room(user: number, isGone: () => boolean): Promise<void> {
    while (this.isTooMuch(user) && !isGone()) {
      await new Promise<void>((wake) => this.#wakers.push(wake));
    }
  }
}
