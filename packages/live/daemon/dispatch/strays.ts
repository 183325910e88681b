/**
 * Keeps track of strays: attempts that the conductor runs but the store does not know. They occur if the
 * store is older than the attempts, because a backup was restored, or files were lost or removed. Only a
 * person can decide about them. So they keep running next to the gangs, in every slot, until they end or are
 * cancelled. The conductor lists them whenever it connects, so they are kept only in memory.
 */

import { userNameOf } from "@tutti/host/passwd.ts";
import { basename } from "@tutti/host/ports/path.ts";
import type { AttemptKey, AttemptState, JobNumber } from "@tutti/protocol/attempts.ts";
import type { Stray as StrayInfo } from "@tutti/protocol/schema.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";

/** An attempt and the identity that distinguishes it from others with the same number. */
export interface NamedAttempt extends AttemptKey {
  readonly identity?: string | undefined;
}

export interface Stray extends NamedAttempt, Pick<StrayInfo, "uid" | "user" | "command" | "cwd" | "folder"> {
  readonly startedAtMs: number | undefined;
  readonly nodes: readonly string[] | undefined;
  /** Running time at `seenMs` on the monotonic clock. */
  readonly ranMs: number;
  readonly seenMs: number;
  /** Whether it was cancelled. */
  readonly isEnding: boolean;
}

export class Strays {
  #byName: ReadonlyMap<string, Stray> = new Map();
  /** The strays before the cycle, for `rollback`. */
  #before: ReadonlyMap<string, Stray> | undefined;

  get count(): number {
    return this.#byName.size;
  }

  /** Replaces all strays when the conductor has listed its attempts. Returns the new ones. */
  replace(strays: readonly Stray[]): Stray[] {
    const known = this.#byName;
    this.#change(new Map(strays.map((stray) => [nameOf(stray), stray])));
    return strays.filter((stray) => !known.has(nameOf(stray)));
  }

  find(key: AttemptKey, identity: string | undefined): Stray | undefined {
    return this.#byName.get(nameOf({ ...key, identity }));
  }

  jobs(): JobNumber[] {
    return [...this.#byName.values()].map(({ job }) => job);
  }

  of(job: JobNumber): Stray[] {
    return [...this.#byName.values()].filter((stray) => stray.job === job);
  }

  ending(stray: Stray): void {
    this.#change(new Map(this.#byName).set(nameOf(stray), { ...stray, isEnding: true }));
  }

  remove(stray: Stray): void {
    const remaining = new Map(this.#byName);
    remaining.delete(nameOf(stray));
    this.#change(remaining);
  }

  /** The strays that a user may see and end. */
  seenBy(caller: Caller, nowMs: number): StrayInfo[] {
    return [...this.#byName.values()]
      .filter(({ uid }) => caller.isAdministrator || caller.uid === uid)
      .map((stray) => ({
        job: stray.job,
        attempt: stray.attempt,
        uid: stray.uid,
        user: stray.user,
        state: stray.isEnding ? ("ending" as const) : ("running" as const),
        command: stray.command,
        cwd: stray.cwd,
        folder: stray.folder,
        nodes: stray.nodes,
        startedAtMs: stray.startedAtMs,
        ranMs: Math.round(ranMsOf(stray, nowMs)),
      }));
  }

  commit(): void {
    this.#before = undefined;
  }

  rollback(): void {
    this.#byName = this.#before ?? this.#byName;
    this.#before = undefined;
  }

  #change(strays: ReadonlyMap<string, Stray>): void {
    this.#before ??= this.#byName;
    this.#byName = strays;
  }
}

export function strayOf(state: AttemptState, nowMs: number): Stray {
  const { job, attempt, identity, about, ranMs, phase } = state;
  const uid = about?.uid ?? process.getuid?.() ?? 0;
  return {
    job,
    attempt,
    identity,
    uid,
    user: userNameOf(uid),
    command: about?.command ?? [],
    cwd: about?.cwd ?? "",
    folder: about?.folder ?? "",
    nodes: about?.nodes,
    startedAtMs: about?.startedAtMs,
    ranMs,
    seenMs: nowMs,
    isEnding: phase === "stopping",
  };
}

/** A stray as a job, for the answer to the user who cancelled it. */
export function recordOfStray(stray: Stray, nowMs: number): JobRecord {
  const { job, uid, user, command, cwd, attempt, startedAtMs } = stray;
  return {
    job,
    uid,
    user,
    command,
    cwd,
    attempt,
    startedAtMs,
    name: basename(command[0] ?? "") || "(stray)",
    queue: "",
    state: "ending",
    ending: stray.isEnding ? "cancelled" : undefined,
    tasks: 1,
    priority: 0,
    estimateMs: 0,
    stdout: "",
    stderr: "",
    after: [],
    retries: 0,
    environment: 0,
    submittedAtMs: startedAtMs ?? 0,
    queueRank: 0,
    nodes: [],
    ranMs: ranMsOf(stray, nowMs),
    reason: "the store does not know it",
  };
}

function ranMsOf({ ranMs, seenMs }: Stray, nowMs: number): number {
  return ranMs + Math.max(0, nowMs - seenMs);
}

export function nameOf({ job, attempt, identity = "" }: NamedAttempt): string {
  return `${job}/${attempt}/${identity}`;
}
