/**
 * Strays: attempts that the conductor runs and the store does not know, because the store is older than they are (a backup was put back,
 * files were lost or removed). Nobody but a person can say what is to become of them, so they run on, beside the gangs and outside the
 * turns, until they end or are cancelled. The conductor tells of them whenever it is connected to, so they are kept in memory only.
 */
import { basename } from "node:path";
import { userNameOf } from "../../host/passwd.ts";
import type { AttemptKey, AttemptState, JobNumber } from "../../protocol/attempts.ts";
import type { Stray as StrayInfo } from "../../protocol/schema.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";

/** An attempt and what distinguishes it from others of its number. */
export interface NamedAttempt extends AttemptKey {
  readonly identity?: string | undefined;
}

export interface Stray extends NamedAttempt, Pick<StrayInfo, "uid" | "user" | "command" | "cwd" | "folder"> {
  readonly startedAtMs: number | undefined;
  /** Running time at `seenMs` on the monotonic clock. */
  readonly ranMs: number;
  readonly seenMs: number;
  /** Someone has cancelled it. */
  readonly isEnding: boolean;
  /** False: a conductor of the first release has it, which stops what is in no row. */
  readonly runs: boolean;
}

export class Strays {
  #byName: ReadonlyMap<string, Stray> = new Map();
  /** Those before the cycle, for `rollback`. */
  #before: ReadonlyMap<string, Stray> | undefined;

  get count(): number {
    return this.#byName.size;
  }

  /** The conductor has told what it has. Returns those that were not known before. */
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
    const left = new Map(this.#byName);
    left.delete(nameOf(stray));
    this.#change(left);
  }

  /** Those that a user may see and end. */
  seenBy(caller: Caller, nowMs: number): StrayInfo[] {
    return [...this.#byName.values()]
      .filter(({ uid }) => caller.isAdministrator || caller.uid === uid)
      .map((stray) => ({
        job: stray.job,
        attempt: stray.attempt,
        uid: stray.uid,
        user: stray.user,
        state: stray.isEnding
          ? ("ending" as const)
          : stray.runs
            ? ("running" as const)
            : ("stopped" as const),
        command: stray.command,
        cwd: stray.cwd,
        folder: stray.folder,
        ...(stray.startedAtMs !== undefined && { startedAtMs: stray.startedAtMs }),
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

/** @param runs whether the conductor lets it run outside the rows */
export function strayOf(state: AttemptState, nowMs: number, runs: boolean): Stray {
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
    startedAtMs: about?.startedAtMs,
    ranMs,
    seenMs: nowMs,
    isEnding: phase === "stopping",
    runs,
  };
}

/** A stray as a job, to answer who has cancelled it. */
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

function ranMsOf({ ranMs, seenMs, runs }: Stray, nowMs: number): number {
  return runs ? ranMs + Math.max(0, nowMs - seenMs) : ranMs;
}

export function nameOf({ job, attempt, identity = "" }: NamedAttempt): string {
  return `${job}/${attempt}/${identity}`;
}
