/**
 * Follows one task of a gang whose tasks the cluster starts: a shim that the conductor has not started claims
 * its folder (taskFolder), and its command waits at the gate there, as that of any attempt (attempt.ts).
 */

import { makeFolder } from "@tutti/host/make-folders.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { dirname, join } from "@tutti/host/ports/path.ts";
import { isAlive, type ProcessIdentity, sessionOf, signal } from "@tutti/host/processes.ts";
import type { AttemptEnd, EndReason } from "@tutti/protocol/attempts.ts";
import type { MemberSpec } from "@tutti/protocol/conductor.ts";
import { type AttemptFolder, blockClaims, type Claim, readClaim } from "./claim.ts";
import { GangEntry } from "./gang-entry.ts";
import type { GangLimits } from "./gang-limits.ts";
import type { Machine } from "./gang-part.ts";
import { outcomeOf } from "./outcome.ts";
import { closeGate, isAtGate, openGate } from "./shim.ts";

/** What the next conductor must know about a task. */
export interface SavedTask {
  readonly rank: number;
  readonly shim?: ProcessIdentity;
  readonly job?: ProcessIdentity;
  readonly begun: boolean;
}

type TaskEnd = Pick<AttemptEnd, "code" | "signal" | "lost" | "neverBegan">;

/** Where the conductor makes folders for a user, none of them is in one that the user can change. */
export function taskFolder(
  { folder, ownFolder }: Pick<MemberSpec, "folder" | "ownFolder">,
  rank: number,
): string {
  return join(ownFolder === undefined ? folder : dirname(folder), "tasks", String(rank));
}

/**
 * Makes the folder of a task in that of its attempt, which the front end has made. On a network file system,
 * this node could otherwise remember for a while that there is none.
 * @throws Error if the job's folder is missing, for example because the state folder was moved away
 */
export function makeTaskFolder(folder: string): void {
  for (const part of [dirname(dirname(folder)), dirname(folder), folder]) makeFolder(part, 0o700);
}

export class Task {
  readonly rank: number;
  shim: ProcessIdentity | undefined;
  /** Whether its command has gone through the gate. */
  begun = false;
  end: TaskEnd | undefined;
  readonly #spec: MemberSpec;
  readonly #machine: Machine;
  readonly #entry: GangEntry;
  /** An earlier conductor may have opened the gate without being able to save that. */
  #mayHaveBegun = false;
  /** It had ended when this conductor took it over. */
  #endedBefore = false;

  constructor(machine: Machine, limits: GangLimits, member: MemberSpec, rank: number) {
    this.rank = rank;
    this.#spec = { ...member, folder: taskFolder(member, rank) };
    this.#machine = machine;
    this.#entry = new GangEntry(machine.containment, this.#spec, limits);
  }

  /** Takes over a task that an earlier conductor has followed. */
  adopt({ shim, job, begun }: SavedTask): void {
    this.shim = shim ?? shimOf(this.#claim());
    this.begun = begun;
    this.#entry.join(this.shim, begun, job);
    this.#noticeBegun();
    this.#endedBefore = this.shim !== undefined && !isAlive(this.shim);
    this.#mayHaveBegun = this.job === undefined && this.#endedBefore;
  }

  get folder(): AttemptFolder {
    return this.#spec;
  }

  get job(): ProcessIdentity | undefined {
    return this.#entry.job;
  }

  get isAtGate(): boolean {
    return this.#entry.state === "yes" && !this.begun && this.end === undefined;
  }

  get saved(): SavedTask {
    const { rank, shim, job, begun } = this;
    return { rank, begun, shim, job };
  }

  /** Notices what has happened. @param reason why Tutti ends the gang, and whether it has killed it */
  look(reason: EndReason, killed: boolean): void {
    if (this.end !== undefined) return;
    this.shim ??= shimOf(this.#claim());
    if (this.shim === undefined) return;
    if (isAlive(this.shim)) {
      if (this.#entry.state === "no") this.#entry.join(this.shim, this.begun);
    } else if (this.#entry.state !== "joining") this.#finish(reason, killed);
  }

  /** Lets the command begin, if it waits at its gate. @param cpus a list for taskset; empty: no pinning */
  begin(cpus: string): void {
    if (!this.isAtGate) return;
    if (openGate(this.#spec, cpus)) this.begun = true;
    else this.#noticeBegun();
  }

  /** From now on, no shim can claim it. A task that is not claimed has ended then. */
  block(reason: EndReason): void {
    if (this.end !== undefined || this.shim !== undefined) return;
    const isBlocked = blockClaims(this.#spec);
    this.shim = shimOf(this.#claim());
    // Without a folder, nothing can be claimed.
    if (this.shim === undefined && (isBlocked || !existsSync(this.#spec.folder))) {
      this.end = { signal: "SIGKILL", neverBegan: true };
    } else if (this.shim === undefined) this.#finish(reason, true);
  }

  /** Kills a command that waits at its gate, which has no mark yet. */
  killAtGate(): void {
    if (this.#entry.job !== undefined && !this.begun) killOne(this.#entry.job);
  }

  /** Kills a shim that does not notice that its command was killed, perhaps because it is stopped. */
  killShim(): void {
    if (this.shim === undefined || !isAlive(this.shim)) return;
    for (const { pid } of sessionOf(this.shim.pid, this.#spec.uid)) signal(pid, "SIGKILL");
    killOne(this.shim);
  }

  #claim(): Claim {
    return readClaim(this.#spec);
  }

  #noticeBegun(): void {
    const { job } = this;
    if (job !== undefined && !(isAlive(job) && isAtGate(job.pid))) this.begun = true;
  }

  #finish(reason: EndReason, killed: boolean): void {
    closeGate(this.#spec);
    const { reason: _, ...outcome } = outcomeOf({
      spec: this.#spec,
      shim: this.shim,
      claim: this.#claim(),
      isInherited: true,
      begun: this.begun,
      reason,
      killed,
      mayClaimAgain: false,
      lost: this.#entry.problem,
      lostBeforeBegin: false,
      isOutOfMemory: false,
      whyAllEnd: () => this.#machine.whyAllEnd(this.#endedBefore),
    });
    const neverBegan = !this.begun && !this.#mayHaveBegun;
    this.end = { ...outcome, ...(neverBegan && { neverBegan }) };
  }
}

function shimOf(claim: Claim): ProcessIdentity | undefined {
  return claim.kind === "shim" ? claim.shim : undefined;
}

function killOne(identity: ProcessIdentity): void {
  if (isAlive(identity)) signal(identity.pid, "SIGKILL");
}
