/**
 * Limits the number of connections. A connection belongs to a stranger until it has shown a token. Strangers
 * have a limit in total; above it, the oldest of their connections is closed. So a flood of connections
 * closes itself, but a client that sends its request immediately still gets an answer. Each user has a limit,
 * too. If all users together have too many connections, one connection of the user with the most is closed to
 * make room for a user with fewer. Administrators are counted, but always admitted.
 */
import { readFileSync } from "node:fs";
import { refuse } from "@tutti/protocol/refusal.ts";
import type { Caller } from "../../../daemon/contract/service.ts";
import type { ApiRefusal } from "../refusal.ts";

export interface ConnectionLimits {
  readonly strangers: number;
  /** For one user. */
  readonly ofUser: number;
  /** For all users together, except administrators. */
  readonly ofUsers: number;
}

const MAX_STRANGERS = 1024;
/** Somewhat more than a user's limit of open requests, so that users get a refusal with a message first. */
const MAX_OF_USER = 576;
const MAX_OF_USERS = 3072;
/** File descriptors for the store, the conductor, the listeners and Node itself. */
const OWN_DESCRIPTORS = 40;

/** Limits for a process that may open `maxOpenFiles` files. A followed log needs a second descriptor. */
export function limitsFor(maxOpenFiles: number): ConnectionLimits {
  const share = Math.min(
    1,
    Math.max(0.002, (maxOpenFiles / 2 - OWN_DESCRIPTORS) / (MAX_STRANGERS + MAX_OF_USERS)),
  );
  const part = (most: number) => Math.max(4, Math.floor(most * share));
  return {
    strangers: part(MAX_STRANGERS),
    ofUser: Math.min(MAX_OF_USER, part(MAX_OF_USERS)),
    ofUsers: part(MAX_OF_USERS),
  };
}

/** Maximum number of files that this process may open. Node has raised the soft limit to the hard one. */
export function maxOpenFiles(): number {
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

  /** Adds a connection of a stranger. */
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

  /** Assigns the connection to a user who has proven their identity, or refuses if there are too many. */
  identified(connection: Connection, caller: Caller): ApiRefusal | undefined {
    const { uid, user, isAdministrator } = caller;
    if (this.#owners.get(connection)?.uid === uid) return undefined;
    if (!isAdministrator) {
      if (this.ofUser(uid) >= this.#limits.ofUser) {
        return refuse(
          "full",
          `Cannot accept the connection: user ${user} has ${this.ofUser(uid)} connections, which is the maximum; close some`,
        );
      }
      if (this.#ofUsers >= this.#limits.ofUsers && !this.#makeRoom(this.ofUser(uid) + 1)) {
        return refuse(
          "full",
          `Cannot accept the connection: all users together have ${this.#ofUsers} connections, which is the maximum; try again`,
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

  /** Removes a closed connection. */
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

  /** Closes the newest connection of the user who has the most, if that user has more than `count`. */
  #makeRoom(count: number): boolean {
    let largest: readonly Connection[] = [];
    for (const own of this.#ofUser.values()) {
      const [first] = own;
      if (first === undefined || this.#owners.get(first)!.isAdministrator) continue;
      if (own.size > Math.max(count, largest.length)) largest = [...own];
    }
    const newest = largest.at(-1);
    if (newest === undefined) return false;
    this.remove(newest);
    newest.destroy();
    return true;
  }
}
