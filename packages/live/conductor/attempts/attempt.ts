/**
 * Follows one attempt (one start of a job) through its states:
 *
 *   launching   the shim was started and claims the attempt; its job waits at the gate and is put into its
 *               control groups
 *   running     the job went through the gate in the first slot of its row; from then on it is stopped and
 *               continued with its row
 *   stopping    the job was asked to end; it runs, whatever the row, until it ends or is killed after its
 *               grace time
 *   ended       the shim has ended, no process of the gang is left, and `end` has the outcome
 *
 * The gate is a named pipe (shim.ts). A restarted conductor reads everything that it does not know from the
 * attempt's folder, and continues from there.
 */

import { clocksNow, monotonicMs, systemClock, unixMs } from "@tutti/host/clock.ts";
import type { ChildProcess } from "@tutti/host/ports/child-process.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import { bootId, identityOf, isAlive, mayBelongTo, sessionOf, signal } from "@tutti/host/processes.ts";
import type { AttemptEnd, EndReason, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { GpuSums, type SavedGpuUse } from "../gpu-use.ts";
import { usageOf } from "../usage.ts";
import { type LastSeen, ranUnseenMs } from "./absence.ts";
import { blockClaims, type Claim, keyOf, readClaim } from "./claim.ts";
import { GangEntry } from "./gang-entry.ts";
import { GangPart, LOOK_MS, type Machine, PIN_AGAIN_MS } from "./gang-part.ts";
import { keepEnd, keptEnd } from "./kept-end.ts";
import { ObservedTime } from "./observed-time.ts";
import { outcomeOf } from "./outcome.ts";
import { closeGate, isAtGate, openGate, startShim, timeOf } from "./shim.ts";
import { ShimWatch, stoppedOf } from "./shim-watch.ts";

/** After this time, the end is reported even if the kernel still keeps killed processes alive. */
const KILL_PATIENCE_MS = 10_000;
/** A shim that lives this long after its job was killed has been stopped, perhaps by its job. */
const SHIM_PATIENCE_MS = 5000;
/**
 * The job must reach its gate within this time, and pass it within this time of its own slots; otherwise the
 * attempt is lost. Without this limit, a user could hold the CPUs forever by a false claim or by stopping the
 * shim, because time limits count only running time.
 */
const BEGIN_MS = 30_000;
/** Time between two looks at an attempt of which an event tells that it changes, or that is stopped. */
const REST_MS = 1000;
/** An attempt that has waited this long is checked less often. */
const HURRIED_BEGIN_MS = 2000;

/** What the next conductor must know about an attempt. */
export interface SavedAttempt {
  /** Without the environment, which only the launch needs. */
  readonly spec: Omit<LaunchSpec, "env">;
  readonly shim?: ProcessIdentity;
  /** First process of the job; saved because the job may later change what its folder says. */
  readonly job?: ProcessIdentity;
  /** The job was let through its gate. */
  readonly begun: boolean;
  /** If it has not begun, the time of this file: the attempt begins no earlier. */
  readonly startedAtMs: number;
  readonly ranMs: number;
  readonly reason: EndReason;
  /** When it was decided to end it for this reason, in Unix time in ms. */
  readonly endingAtMs?: number;
  readonly killed: boolean;
  /** It was given up for this reason. */
  readonly lost?: string;
  readonly end?: AttemptEnd;
  /** It takes no turns, because the front end's store does not know it. */
  readonly kept?: true;
  /** It was sent the signal before its limit. */
  readonly warned?: true;
  /** Its running time in ms at that moment; left out by earlier versions. */
  readonly warnedRanMs?: number;
  /** Left out: nothing was measured. */
  readonly gpuUse?: SavedGpuUse | undefined;
}

export class Attempt extends GangPart<Omit<LaunchSpec, "env">> {
  #child: ChildProcess | undefined;
  #childIdentity: ProcessIdentity | undefined;
  #childEnded = false;
  /** Whether the shim that this conductor started was killed. */
  #childKilled = false;
  /** Why the attempt could not start, or was given up. */
  #lost: string | undefined;
  /** With `#lost`: the command certainly never began. */
  #lostBeforeBegin = false;
  readonly #entry: GangEntry;
  readonly #beginning = new ObservedTime();
  readonly #shimWatch = new ShimWatch();
  #killedAtMs: number | undefined;
  /** It had ended when this conductor took it over. */
  #endedBefore = false;
  #gaveUpAtMs: number | undefined;
  /** Its folder was away with the conductor's when its processes had ended. */
  #wasAway = false;

  constructor(machine: Machine, spec: Omit<LaunchSpec, "env">) {
    super(machine, spec);
    this.#entry = new GangEntry(machine.containment, spec, this.limits);
  }

  /**
   * Takes over an attempt of an earlier conductor, which may have launched it without being able to save more
   * than that, or which has forgotten it. Undefined if it was never claimed, so that it is safe to launch it.
   * @param state in which the earlier conductor has saved it
   */
  static adopt(
    machine: Machine,
    known: Pick<SavedAttempt, "spec"> & Partial<SavedAttempt>,
    state?: LastSeen,
  ): Attempt | undefined {
    const saved = { begun: false, ranMs: 0, reason: "none", killed: false, ...known } as const;
    const { env: _, ...spec } = { env: {}, ...saved.spec };
    const attempt = new Attempt(machine, spec);
    attempt.startedAtMs = saved.startedAtMs ?? timeOf(spec, "job") ?? unixMs();
    attempt.ranBeforeMs = saved.ranMs;
    attempt.reason = saved.reason;
    attempt.endingAtMs = saved.endingAtMs;
    attempt.killed = saved.killed;
    attempt.kept = saved.kept === true;
    attempt.warnedRanMs = saved.warnedRanMs ?? (saved.warned ? 0 : undefined);
    attempt.gpuSums = new GpuSums(saved.gpuUse);
    attempt.end = saved.end ?? keptEnd(spec);
    if (attempt.end !== undefined) {
      attempt.phase = "ended";
      return attempt;
    }
    attempt.shim = saved.shim ?? shimOf(attempt.#readClaim());
    if (attempt.shim === undefined) return undefined;
    attempt.#endedBefore = !isAlive(attempt.shim);
    if (saved.begun) attempt.#begins();
    attempt.#entry.join(attempt.shim, attempt.begun, saved.job);
    attempt.#noticeBegun();
    if (state !== undefined) attempt.#ranUnseen(state);
    if (saved.lost !== undefined) attempt.abandon(saved.lost);
    else if (saved.reason !== "none") attempt.stop(saved.reason, saved.killed);
    return attempt;
  }

  #ranUnseen(state: LastSeen): void {
    if (!this.begun || this.reason !== "none" || this.pausedAtMs !== undefined) return;
    const endedAtMs = this.#endedBefore ? timeOf(this.spec, "exit") : undefined;
    // Without a result, nobody knows when it ended.
    if (this.#endedBefore && endedAtMs === undefined) return;
    this.ranBeforeMs += ranUnseenMs(state, this, endedAtMs);
  }

  /** First process of the job, once it is known. */
  get job(): ProcessIdentity | undefined {
    return this.#entry.job;
  }

  override get isReady(): boolean {
    return this.begun || (this.phase === "launching" && this.#entry.state === "yes");
  }

  protected override get firsts() {
    return this.#entry.job === undefined ? [] : [this.#entry.job];
  }

  protected override get canMove(): boolean {
    return this.#entry.state !== "no";
  }

  override get isHurried(): boolean {
    return (
      (this.phase === "launching" && this.#isAwaited && this.#beginning.ms < HURRIED_BEGIN_MS) ||
      (this.phase !== "ended" && (this.killed || this.#gaveUpAtMs !== undefined) && !this.#isStubborn())
    );
  }

  /** Whether the job should be at its gate or go through it soon. */
  get #isAwaited(): boolean {
    return this.#entry.state !== "yes" || this.onSinceMs !== undefined;
  }

  /** Starts the shim. If that fails, `advance` reports it as an end. */
  launch(spec: LaunchSpec): void {
    const { containment, setpriv } = this.machine;
    // Our script would replace the script of another attempt, whose shim may be about to read it.
    if (["another", "stranger"].includes(this.#readClaim().kind)) return;
    if (containment.groups.pids(this.name).length > 0) {
      this.#lostBeforeBegin = true;
      this.#lost = `Cannot start job ${this.name}: processes of an earlier job with that number are still running, expected none; the command never ran`;
      return;
    }
    try {
      const starter = containment.isOfCluster ? "node" : "machine";
      this.#child = startShim(spec, `${containment.marks}${this.name}`, setpriv, starter);
      this.#childIdentity = this.#child.pid === undefined ? undefined : identityOf(this.#child.pid);
      this.#child.once("error", (error) => this.#shimFailed(error.message));
      this.#child.once("exit", (_, signal) => {
        this.#childEnded = true;
        this.#childKilled = signal !== null;
        this.lookAtMs = Number.NEGATIVE_INFINITY;
      });
      this.#child.unref();
    } catch (error) {
      // Its folder was just moved away: nothing was started.
      this.#lostBeforeBegin = (error as NodeJS.ErrnoException).code === "ENOENT";
      this.#shimFailed((error as Error).message);
    }
  }

  #shimFailed(message: string): void {
    this.#lost = message;
    this.#childEnded = true;
  }

  /** Calls back when the shim ends, if this conductor started it. */
  onShimEnd(listener: () => void): void {
    this.#child?.once("exit", listener);
  }

  override advance(nowMs: number): "launched" | "warned" | "ended" | undefined {
    if (this.phase === "ended") return undefined;
    const isAwaited = this.phase === "launching" && this.#isAwaited && !this.machine.isHomeAway();
    const isLate = this.phase === "launching" && this.#beginning.add(nowMs, isAwaited) >= BEGIN_MS;
    if (this.#shimIsGone()) {
      if (this.#finish(nowMs)) return "ended";
      if (isLate) this.#giveUpBegin();
      return undefined;
    }
    if (this.#entry.state === "no") this.#entry.join(this.shim, this.begun);
    if (this.phase === "launching") {
      if (this.#tryToBegin(nowMs)) return "launched";
      if (isLate) this.#giveUpBegin();
    } else if (this.phase === "running") {
      const isWarned = this.warn(nowMs);
      this.#keepLimits(nowMs);
      const isStill = this.#isStill();
      if (!isStill) {
        this.#watchShim(nowMs);
        if (this.machine.containment.isOfCluster) this.pinNew(nowMs);
      }
      this.lookAtMs = this.#nextLookMs(nowMs, isStill);
      if (isWarned) return "warned";
    } else this.endStep(nowMs);
    return undefined;
  }

  /** Lets the job through its gate if its row has the slot. */
  #tryToBegin(nowMs: number): boolean {
    if (this.#entry.state !== "yes" || this.onSinceMs === undefined) return false;
    if (openGate(this.spec, this.limits.cpusForGate())) this.#begins();
    else this.#noticeBegun();
    if (!this.begun) return false;
    this.onSinceMs = nowMs;
    this.startedAtMs = unixMs();
    this.machine.shares.slotBegins(this.name);
    return true;
  }

  /**
   * An earlier conductor may have opened the gate. In that case, the shell that waited there has ended or has
   * become the command.
   */
  #noticeBegun(): void {
    if (this.#entry.job === undefined || (isAlive(this.#entry.job) && isAtGate(this.#entry.job.pid))) return;
    this.#begins();
  }

  #begins(): void {
    this.begun = true;
    if (this.phase === "launching") this.phase = "running";
  }

  override lose(why: string): void {
    this.#lost ??= why;
  }

  /** Why it is lost, however it ends. */
  get lost(): string | undefined {
    return this.#lost;
  }

  protected override get folders() {
    return [this.spec];
  }

  #shimIsGone(): boolean {
    this.shim ??= shimOf(this.#readClaim());
    if (this.shim === undefined) return this.#childEnded || this.#child === undefined;
    // A shim other than our child may have claimed the attempt first.
    return this.shim.pid === this.#child?.pid ? this.#childEnded : !isAlive(this.shim);
  }

  #readClaim(): Claim {
    return readClaim(this.spec, this.#childIdentity);
  }

  /** One that has ended by itself has kept its limit, also if this conductor hung and hears of it late. */
  #keepLimits(nowMs: number): void {
    if (this.ranMs(nowMs) >= this.limitMs && !this.#hasEnded) this.stop("time-limit", false);
    else if (this.limits.isOutOfMemory || this.limits.isOverMemory(nowMs)) this.stop("memory-limit", true);
  }

  get #hasEnded(): boolean {
    return this.#entry.job !== undefined && !isAlive(this.#entry.job);
  }

  /**
   * The command has not begun in time. Kills the processes that certainly belong to the attempt. If somebody
   * stopped one of them or made a false claim, that was on purpose, so there is no further attempt for it.
   */
  #giveUpBegin(): void {
    const { uid } = this.spec;
    const own = [this.shim, this.#childIdentity, this.#entry.job].filter(
      (identity) => identity !== undefined,
    );
    const [stopped] = own.flatMap((identity) => stoppedOf(identity, uid));
    const why =
      stopped !== undefined
        ? `process ${stopped.pid}, which should start it, is stopped by a signal`
        : existsSync(this.spec.folder)
          ? "the process that should start it is too slow (the machine may be too busy, or its disk too slow)"
          : `its folder "${this.spec.folder}" was removed`;
    this.#lost = `Cannot start job ${this.name}: it did not begin within ${BEGIN_MS / 1000} s because ${why}; the command never ran`;
    this.#lostBeforeBegin = stopped === undefined && this.#child !== undefined && !this.#isInherited;
    this.stop("none", true);
    this.#killShim();
  }

  /** Stopped with its first process there, a gang reaches no limit, and its shim has nothing to report. */
  #isStill(): boolean {
    const { job } = this.#entry;
    return this.frozen && this.phase === "running" && job !== undefined && isAlive(job);
  }

  /** The end of a shim that we started is an event; that of another, and a lack of memory, are not. */
  #nextLookMs(nowMs: number, isStill: boolean): number {
    const { memoryBytes, limitSignal } = this.spec;
    if (isStill) {
      // Its running time stands still, but not the time until its node is taken away.
      const isTaken = limitSignal !== undefined && Number.isFinite(this.machine.turnsUntilStopMs(nowMs));
      return this.#isInherited || isTaken ? nowMs + REST_MS : Number.POSITIVE_INFINITY;
    }
    const isSeen = this.#isInherited || memoryBytes !== undefined;
    if (isSeen || this.frozen || this.phase !== "running") return nowMs + LOOK_MS;
    const restMs = this.machine.containment.isOfCluster ? PIN_AGAIN_MS : REST_MS;
    return nowMs + Math.min(restMs, this.untilSignalMs(nowMs), this.limitMs - this.ranMs(nowMs));
  }

  #watchShim(nowMs: number): void {
    if (this.shim === undefined || this.#entry.job === undefined) return;
    if (!this.#shimWatch.isDue(nowMs) || this.machine.isHomeAway()) return;
    const why = this.#shimWatch.look(nowMs, this.shim, this.#entry.job, this.spec);
    if (why === undefined) return;
    this.#lost = `Cannot tell how job ${this.name} ended: ${why}`;
    this.#killShim();
  }

  protected override kill(): void {
    this.killed = true;
    this.#killedAtMs ??= monotonicMs();
    const { freezer } = this.machine.containment;
    // At its gate, the job may not be in its gang yet, so the freezer would miss it.
    this.#killOne(this.#entry.job);
    if (this.#entry.state !== "no") freezer.kill(this.name);
    if (monotonicMs() - this.#killedAtMs <= SHIM_PATIENCE_MS) return;
    this.#killShim();
  }

  /**
   * Kills the shim and the other processes of its session, even if they are stopped. The job has its own
   * session.
   */
  #killShim(): void {
    for (const identity of [this.shim, this.#childIdentity]) {
      if (identity === undefined || !isAlive(identity)) continue;
      for (const { pid } of sessionOf(identity.pid, this.spec.uid)) signal(pid, "SIGKILL");
      this.#killOne(identity);
    }
    // The child may not run as the job's user yet.
    this.#child?.kill("SIGKILL");
  }

  /** Whether it should have ended so long ago that frequent checks no longer help. */
  #isStubborn(): boolean {
    return this.#killedAtMs !== undefined && monotonicMs() - this.#killedAtMs > KILL_PATIENCE_MS;
  }

  #killOne(identity: ProcessIdentity | undefined): void {
    if (identity === undefined || !isAlive(identity)) return;
    if (mayBelongTo(identity.pid, this.spec.uid)) signal(identity.pid, "SIGKILL");
  }

  /** Sets `end` once no process is left. Returns whether it did. */
  #finish(nowMs: number): boolean {
    const { freezer, groups } = this.machine.containment;
    if (this.shim === undefined) {
      // A shim started by an earlier conductor may still claim it.
      blockClaims(this.spec);
      const claim = this.#readClaim();
      this.shim = shimOf(claim);
      if (this.shim !== undefined || (claim.kind === "unclear" && this.phase === "launching")) return false;
    }
    this.slotEnds(nowMs);
    this.#gaveUpAtMs ??= nowMs + KILL_PATIENCE_MS;
    if (this.#entry.state === "joining") return false;
    // An earlier conductor may have opened the gate.
    if (this.#entry.state === "no" && this.shim !== undefined && this.#isInherited) {
      this.#entry.enterWithout(this.shim);
    }
    if (this.#entry.state === "yes" && !freezer.kill(this.name) && nowMs < this.#gaveUpAtMs) return false;
    const isAway = () => this.machine.isHomeAway() && !existsSync(this.spec.folder);
    const wasAway = isAway();
    this.#wasAway ||= wasAway;
    if (this.shim !== undefined || this.#readClaim().kind !== "another") closeGate(this.spec);
    const { killed, begun, reason } = this;
    const outcome = outcomeOf({
      spec: this.spec,
      shim: this.shim,
      claim: this.#readClaim(),
      isInherited: this.#isInherited,
      begun,
      reason,
      killed,
      mayClaimAgain: this.#childKilled || this.#wasAway,
      lost: this.#lost ?? this.#entry.problem,
      lostBeforeBegin: this.#lostBeforeBegin,
      isOutOfMemory: this.limits.isOutOfMemory,
      whyAllEnd: () => this.machine.whyAllEnd(this.#endedBefore),
    });
    // What its shim has written is known when the folder is back that was moved away with the conductor's,
    // perhaps just now, while this was reading.
    this.waitsForHome = !killed && outcome.lost !== undefined && (wasAway || isAway());
    if (this.waitsForHome) return false;
    const endedAtMs = this.#endedAtMs;
    this.end = {
      ...keyOf(this.spec),
      ...outcome,
      ...(begun && !outcome.neverBegan && { startedAtMs: this.startedAtMs }),
      endedAtMs,
      ...(!this.#endedBefore && { clocks: clocksNow(bootId(), systemClock, endedAtMs) }),
      ranMs: Math.round(this.ranBeforeMs),
      ...usageOf(groups, this.name),
      ...this.gpuSums.use,
    };
    // Of one that has not begun, the folder may be one that no job was given.
    if (begun) keepEnd(this.spec, this.end);
    this.phase = "ended";
    groups.remove(this.name);
    freezer.leave(this.name);
    this.machine.shares.forget(this.name);
    return true;
  }

  get #endedAtMs(): number {
    const nowMs = unixMs();
    const exitMs = this.#endedBefore ? timeOf(this.spec, "exit") : undefined;
    return exitMs === undefined ? nowMs : Math.min(nowMs, Math.max(this.startedAtMs, exitMs));
  }

  /** Whether an earlier conductor started its shim. That conductor may have done more than it could save. */
  get #isInherited(): boolean {
    return this.shim?.pid !== this.#child?.pid;
  }
}

function shimOf(claim: Claim): ProcessIdentity | undefined {
  return claim.kind === "shim" ? claim.shim : undefined;
}
