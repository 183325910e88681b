/**
 * Who has how many connections. One that has shown no token belongs to a stranger; strangers have a share of their own, and when it is taken,
 * the oldest of them is closed: so a flood of them closes its own, and who sends a request at once is answered. A user has a bounded number, and
 * when all users together have too many, the one with the most gives one up for one who has fewer. Administrators are counted and always let in.
 */
import { readFileSync } from "node:fs";
import type { Caller } from "../../../daemon/contract/service.ts";
import { refuse } from "../../../protocol/refusal.ts";
import type { ApiRefusal } from "../refusal.ts";

interface ConnectionLimits {
  readonly strangers: number;
  /** Of one user. */
  readonly ofUser: number;
  /** Of all users that are not administrators. */
  readonly ofUsers: number;
}

const MAX_STRANGERS = 1024;
/** Somewhat more than requests of a user may be open, so that what is too much is refused in words. */
const MAX_OF_USER = 576;
const MAX_OF_USERS = 3072;
/** Descriptors for the store, the conductor, the listeners and for Node itself. */
const OWN_DESCRIPTORS = 40;

/** Limits for a process that may open so many files: a log that is followed takes a second descriptor. */
export function limitsFor(mostFiles: number): ConnectionLimits {
  const share = Math.min(
    1,
    Math.max(0.002, (mostFiles / 2 - OWN_DESCRIPTORS) / (MAX_STRANGERS + MAX_OF_USERS)),
  );
  const part = (most: number) => Math.max(4, Math.floor(most * share));
  return {
    strangers: part(MAX_STRANGERS),
    ofUser: Math.min(MAX_OF_USER, part(MAX_OF_USERS)),
    ofUsers: part(MAX_OF_USERS),
  };
}

/** Files that this process may open. Node has raised the soft limit to the hard one. */
export function mostFiles(): number {
  const [, soft = "1024"] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

export class Connections<Connection extends { destroy(): unknown }> {
  readonly #limits: ConnectionLimits;
  /** Oldest first. */
  readonly #strangers = new Set<Connection>();
  readonly #owners = new Map<Connection, Caller>();
  readonly #ofUser = new Map<number, Set<Connection>>();
  #ofUsers = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get strangers(): number {
    return this.#strangers.size;
  }

  ofUser(uid: number): number {
    return this.#ofUser.get(uid)?.size ?? 0;
  }

  /** A connection of a stranger. */
  add(connection: Connection): void {
    if (this.#strangers.size >= this.#limits.strangers) {
      const [oldest] = this.#strangers;
      if (oldest !== undefined) {
        this.remove(oldest);
        oldest.destroy();
      }
    }
    this.#strangers.add(connection);
  }

  /** The connection has shown whose it is; a refusal when there is no room for it. */
  identified(connection: Connection, caller: Caller): ApiRefusal | undefined {
    const { uid, user, isAdministrator } = caller;
    if (this.#owners.get(connection)?.uid === uid) return undefined;
    if (!isAdministrator) {
      if (this.ofUser(uid) >= this.#limits.ofUser) {
        return refuse(
          "full",
          `Cannot take the connection: user ${user} has ${this.ofUser(uid)} already, expected fewer; close some`,
        );
      }
      if (this.#ofUsers >= this.#limits.ofUsers && !this.#makeRoom(this.ofUser(uid) + 1)) {
        return refuse(
          "full",
          `Cannot take the connection: all users together have ${this.#ofUsers}, expected fewer; try again`,
        );
      }
    }
    this.remove(connection);
    this.#owners.set(connection, caller);
    const own = this.#ofUser.get(uid) ?? new Set();
    this.#ofUser.set(uid, own.add(connection));
    if (!isAdministrator) this.#ofUsers++;
    return undefined;
  }

  /** The connection is closed. */
  remove(connection: Connection): void {
    this.#strangers.delete(connection);
    const owner = this.#owners.get(connection);
    if (owner === undefined) return;
    this.#owners.delete(connection);
    const own = this.#ofUser.get(owner.uid)!;
    own.delete(connection);
    if (own.size === 0) this.#ofUser.delete(owner.uid);
    if (!owner.isAdministrator) this.#ofUsers--;
  }

  /** Closes the newest connection of the user who has most, if these are more than `count`. */
  #makeRoom(count: number): boolean {
    let most: readonly Connection[] = [];
    for (const own of this.#ofUser.values()) {
      const [first] = own;
      if (first === undefined || this.#owners.get(first)!.isAdministrator) continue;
      if (own.size > Math.max(count, most.length)) most = [...own];
    }
    const newest = most.at(-1);
    if (newest === undefined) return false;
    this.remove(newest);
    newest.destroy();
    return true;
  }
}
