/**
 * One attempt as the conductor sees it.
 *
 *   launching   the shim was started; it claims the attempt, its job waits at the gate and is put into its groups
 *   running     the job was let through in the first slot of its row; stopped and continued from then on
 *   stopping    asked to end: it runs, whatever the row, until it has ended or its grace time is over, then it is killed
 *   ended       the shim has ended, no process of the gang is left, `end` tells how it went
 *
 * Whatever the conductor forgot can be read from the attempt's folder, so a restarted one goes on from there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { AttemptEnd, AttemptState, EndReason, LaunchSpec, ProcessIdentity } from "../protocol.ts";
import { type Claim, claimForNobody, readClaim, readIdentity } from "./claim.ts";
import { monotonicMs } from "./clock.ts";
import type { Containment } from "./freezers/choose.ts";
import { kernelNumber } from "./kernel.ts";
import { bootId, identityOf, isAlive, readStat, runsAs, signal } from "./processes.ts";
import { GangShares } from "./shares.ts";
import { closeGate, isAtGate, openGate, readExit, readLost, startShim } from "./shim.ts";
import type { SavedAttempt } from "./state-file.ts";
import { OWN_ENVIRONMENT } from "./surroundings.ts";
import { gangName } from "./wire.ts";

/** After so long processes that do not die, since the kernel holds them, no longer delay the news of the end. */
const KILL_PATIENCE_MS = 10_000;
/** A shim that lives so long after its job was killed has been stopped, which a job can do to it. */
const SHIM_PATIENCE_MS = 5000;

/** What all attempts of a conductor share. */
export interface Machine {
  readonly containment: Containment;
  readonly shares: GangShares;
  /** Path of setpriv, if there is one. */
  readonly setpriv: string | undefined;
}

export function makeMachine(containment: Containment, setpriv: string | undefined): Machine {
  return { containment, shares: new GangShares(containment.groups, containment.freezer), setpriv };
}

export class Attempt {
  readonly name: string;
  readonly spec: Omit<LaunchSpec, "env">;
  phase: AttemptState["phase"] = "launching";
  shim: ProcessIdentity | undefined;
  /** Let through its gate. */
  begun = false;
  /** In the row whose slot it is, since when; undefined when not. */
  onSinceMs: number | undefined;
  startedAtMs = 0;
  reason: EndReason = "none";
  killed = false;
  end: AttemptEnd | undefined;
  frozen = false;
  /** Runs outside the turns, since the front end's store does not know it. */
  kept = false;
  readonly #machine: Machine;
  #child: ChildProcess | undefined;
  #childIdentity: ProcessIdentity | undefined;
  #childEnded = false;
  /** Our shim was killed. */
  #childKilled = false;
  #startError: string | undefined;
  /** Why no shim was started. */
  #neverStarted: string | undefined;
  #job: ProcessIdentity | undefined;
  /** The job is on its way into its groups, or in them. */
  #contained: "no" | "joining" | "yes" = "no";
  #cpus: readonly number[] = [];
  #ranMs = 0;
  #killAtMs = Number.POSITIVE_INFINITY;
  #killedAtMs: number | undefined;
  #gaveUpAtMs: number | undefined;

  constructor(machine: Machine, spec: Omit<LaunchSpec, "env">) {
    this.#machine = machine;
    this.spec = spec;
    this.name = gangName(spec);
  }

  /** Goes on with an attempt of an earlier conductor; undefined when it was never claimed, so that it is safe to launch. */
  static adopt(machine: Machine, saved: SavedAttempt): Attempt | undefined {
    const { env: _, ...spec } = { env: {}, ...saved.spec };
    const attempt = new Attempt(machine, spec);
    attempt.startedAtMs = saved.startedAtMs;
    attempt.#ranMs = saved.ranMs;
    attempt.reason = saved.reason;
    attempt.killed = saved.killed;
    attempt.kept = saved.kept === true;
    if (saved.end !== undefined) {
      attempt.end = saved.end;
      attempt.phase = "ended";
      return attempt;
    }
    attempt.shim = saved.shim ?? shimOf(attempt.#readClaim());
    if (attempt.shim === undefined) return undefined;
    if (saved.begun) attempt.#begins();
    attempt.#join(saved.job);
    attempt.#noticeBegun();
    if (saved.reason !== "none") attempt.stop(saved.reason, saved.killed);
    return attempt;
  }

  get isOver(): boolean {
    return this.phase === "ended";
  }

  /** Whether it is stopped and continued with its row. */
  get turns(): boolean {
    return this.phase === "running" && this.begun && !this.kept;
  }

  /** Whether the next step is due within milliseconds. */
  get isHurried(): boolean {
    return (
      (this.phase === "launching" && (this.#contained !== "yes" || this.onSinceMs !== undefined)) ||
      (this.phase !== "ended" && (this.killed || this.#gaveUpAtMs !== undefined) && !this.#isStubborn())
    );
  }

  /** Running time so far. */
  ranMs(nowMs = monotonicMs()): number {
    return this.#ranMs + (this.begun && this.onSinceMs !== undefined ? nowMs - this.onSinceMs : 0);
  }

  /** Starts the shim. What goes wrong comes out of `advance` as an end. */
  launch(spec: LaunchSpec): void {
    const { containment, setpriv } = this.#machine;
    // Our script would take the place of another attempt's, which may be about to be read.
    if (["another", "stranger"].includes(this.#readClaim().kind)) return;
    if (containment.groups.pids(this.name).length > 0) {
      this.#neverStarted = `Cannot start job ${this.name}: processes of an earlier job of that number are still there, expected none; the command never ran`;
      return;
    }
    try {
      this.#child = startShim(spec, `${containment.marks}${this.name}`, setpriv);
      this.#childIdentity = this.#child.pid === undefined ? undefined : identityOf(this.#child.pid);
      this.#child.once("error", (error) => this.#shimFailed(error.message));
      this.#child.once("exit", (_, signal) => {
        this.#childEnded = true;
        this.#childKilled = signal !== null;
      });
      this.#child.unref();
    } catch (error) {
      this.#shimFailed((error as Error).message);
    }
  }

  #shimFailed(message: string): void {
    this.#startError = message;
    this.#childEnded = true;
  }

  /** Called when the shim's process ends, if it is a child of ours. */
  onShimEnd(listener: () => void): void {
    this.#child?.once("exit", listener);
  }

  /** Takes the next step of its life, if it can be taken. @returns what happened, for the front end */
  advance(nowMs: number): "launched" | "ended" | undefined {
    if (this.phase === "ended") return undefined;
    if (this.#shimIsGone()) return this.#finish(nowMs) ? "ended" : undefined;
    if (this.#contained === "no") this.#join();
    if (this.phase === "launching") return this.#tryToBegin(nowMs) ? "launched" : undefined;
    if (this.phase === "running") this.#keepLimits(nowMs);
    else if (this.killed || nowMs >= this.#killAtMs) this.#kill();
    return undefined;
  }

  /** Lets the job through its gate when its row has the slot. */
  #tryToBegin(nowMs: number): boolean {
    if (this.#contained !== "yes" || this.onSinceMs === undefined) return false;
    if (openGate(this.spec, this.#cpusForGate())) this.#begins();
    else this.#noticeBegun();
    if (!this.begun) return false;
    this.onSinceMs = nowMs;
    this.startedAtMs = Date.now();
    this.#machine.shares.slotBegins(this.name);
    return true;
  }

  /** An earlier conductor may have opened the gate: then the shell that waited there is no more, or is the command by now. */
  #noticeBegun(): void {
    if (this.#job === undefined || (isAlive(this.#job) && isAtGate(this.#job.pid))) return;
    this.#begins();
  }

  #begins(): void {
    this.begun = true;
    if (this.phase === "launching") this.phase = "running";
  }

  /** The row has its slot from now on. */
  slotBegins(nowMs: number): void {
    this.onSinceMs = nowMs;
    if (this.begun) this.#machine.shares.slotBegins(this.name);
  }

  /** The slot of its row is over. */
  slotEnds(nowMs: number): void {
    if (this.onSinceMs === undefined) return;
    const ranMs = nowMs - this.onSinceMs;
    this.onSinceMs = undefined;
    if (!this.begun) return;
    this.#ranMs += ranMs;
    this.#machine.shares.slotEnds(this.name, ranMs, this.#cpus.length);
  }

  /** From now on it runs whatever the rows are, on the CPUs that it has. */
  keep(): void {
    if (this.isOver) return;
    this.kept = true;
    this.thaw();
    this.#machine.shares.weigh(this.name, false);
  }

  thaw(): void {
    this.#machine.containment.freezer.thaw(this.name);
    this.frozen = false;
  }

  /** Gives it other CPUs; threads that run are moved at once. */
  pin(cpus: readonly number[]): void {
    // A row may name another attempt with the same number.
    if (this.kept || cpus.join() === this.#cpus.join()) return;
    this.#cpus = cpus;
    if (this.#contained !== "no") this.#applyCpus();
  }

  /** TERM now and KILL after the grace time, or KILL now. Said twice, the first reason stays and the harder way wins. */
  stop(reason: EndReason, kill: boolean): void {
    if (this.phase === "ended") return;
    const isNew = this.phase !== "stopping";
    if (isNew) {
      if (this.reason === "none") this.reason = reason;
      this.slotEnds(monotonicMs());
      this.phase = "stopping";
      this.#killAtMs = monotonicMs() + this.spec.graceMs;
    }
    if (kill || !this.begun) this.#kill();
    else if (isNew) {
      this.thaw();
      // Nor is its grace time spent waiting behind other gangs.
      this.#machine.shares.weigh(this.name, false);
      this.#machine.containment.freezer.signalAll(this.name, "SIGTERM");
    }
  }

  state(): AttemptState {
    return {
      job: this.spec.job,
      attempt: this.spec.attempt,
      ...identityIn(this.spec),
      about: this.#about(),
      phase: this.phase,
      ranMs: Math.round(this.ranMs()),
      ...(this.shim === undefined ? {} : { shim: this.shim }),
      ...(this.end === undefined ? {} : { end: this.end }),
    };
  }

  #about(): NonNullable<AttemptState["about"]> {
    const { uid, command, cwd, folder } = this.spec;
    return {
      ...(uid === undefined ? {} : { uid }),
      command,
      cwd,
      folder,
      ...(this.begun && { startedAtMs: this.startedAtMs }),
    };
  }

  saved(): SavedAttempt {
    return {
      spec: this.spec,
      begun: this.begun,
      startedAtMs: this.startedAtMs,
      ranMs: Math.round(this.ranMs()),
      reason: this.reason,
      killed: this.killed,
      ...(this.shim === undefined ? {} : { shim: this.shim }),
      ...(this.#job === undefined ? {} : { job: this.#job }),
      ...(this.kept && { kept: true }),
      ...(this.end === undefined ? {} : { end: this.end }),
    };
  }

  #shimIsGone(): boolean {
    this.shim ??= shimOf(this.#readClaim());
    if (this.shim === undefined) return this.#childEnded || this.#child === undefined;
    // Another shim than our child may have claimed the attempt first.
    return this.shim.pid === this.#child?.pid ? this.#childEnded : !isAlive(this.shim);
  }

  #readClaim(): Claim {
    return readClaim(this.spec, this.#childIdentity);
  }

  #isOfUser(pid: number): boolean {
    const { uid } = this.spec;
    return uid === undefined || uid === process.getuid!() || runsAs(pid, uid);
  }

  /** Puts the job, which waits at its gate, into its groups. */
  #join(known?: ProcessIdentity): void {
    const { containment } = this.#machine;
    const job = known ?? readIdentity(this.spec, "job");
    if (this.shim === undefined || job === undefined) return;
    const stat = readStat(job.pid);
    const isGone = stat === undefined || stat.startTicks !== job.startTicks;
    // Here too: only a child of the shim is believed, or what was seen to be one.
    const isBelieved = known !== undefined || stat?.parent === this.shim.pid;
    if (!isGone && !(isBelieved && this.#isOfUser(job.pid))) return;
    this.#job = job;
    try {
      containment.groups.make(this.name);
      this.#limit();
      this.#applyCpus();
      containment.freezer.enter(this.name, this.shim, job);
    } catch (error) {
      this.#notContained(job, (error as Error).message);
      return;
    }
    this.#contained = isGone ? "yes" : "joining";
    if (isGone) return;
    const unneeded = this.spec.memoryBytes === undefined ? (["memory"] as const) : [];
    void containment.groups.join(this.name, job.pid, unneeded).then((joined) => {
      this.#contained = "yes";
      if (!joined && isAlive(job)) this.#notContained(job, "a control group refused it");
    });
  }

  #notContained(job: ProcessIdentity, problem: string): void {
    this.#contained = "yes";
    this.#startError = `Cannot contain job ${this.spec.job}: ${problem}`;
    if (isAlive(job)) signal(job.pid, "SIGKILL");
  }

  #limit(): void {
    const { groups } = this.#machine.containment;
    // Half of all that there can be: a fork bomb does not take the machine with it.
    const most = Math.min(...["pid_max", "threads-max"].map(kernelNumber)) / 2;
    groups.write("pids", this.name, "pids.max", String(Math.floor(most)));
    const bytes = this.spec.memoryBytes;
    if (bytes === undefined) return;
    if (groups.of("memory")?.version === 1) {
      groups.write("memory", this.name, "memory.limit_in_bytes", String(bytes));
      groups.write("memory", this.name, "memory.memsw.limit_in_bytes", String(bytes));
    } else {
      groups.write("memory", this.name, "memory.max", String(bytes));
      groups.write("memory", this.name, "memory.swap.max", "0");
      groups.write("memory", this.name, "memory.oom.group", "1");
    }
  }

  #applyCpus(): void {
    const { groups, freezer } = this.#machine.containment;
    if (this.#cpus.length === 0) return;
    const list = this.#cpus.join(",");
    if (groups.of("cpuset") !== undefined) {
      if (groups.setCpus(this.name, list)) return;
      console.error(`Cannot pin job ${this.name} to CPUs ${list}: refused, expected CPUs that are on line`);
    } else if (this.begun) {
      const pids = freezer.pids(this.name).map(String);
      const script = 'list=$1; shift; for pid; do taskset -apc "$list" "$pid"; done';
      spawn("/bin/sh", ["-c", script, "sh", list, ...pids], { env: OWN_ENVIRONMENT, stdio: "ignore" }).on(
        "error",
        () => {},
      );
    }
  }

  /** Where no cpuset does it, the job pins itself before it becomes the command. */
  #cpusForGate(): string {
    return this.#machine.containment.groups.of("cpuset") === undefined ? this.#cpus.join(",") : "";
  }

  #keepLimits(nowMs: number): void {
    const { limitMs, memoryBytes } = this.spec;
    if (limitMs !== undefined && this.ranMs(nowMs) >= limitMs) this.stop("time-limit", false);
    else if (memoryBytes !== undefined && this.#memoryKills() > 0) this.stop("memory-limit", true);
  }

  /** How many processes the kernel has killed since the gang was above its memory limit. */
  #memoryKills(): number {
    const { groups } = this.#machine.containment;
    const file = groups.of("memory")?.version === 1 ? "memory.oom_control" : "memory.events";
    return Number(/oom_kill (\d+)/.exec(groups.read("memory", this.name, file) ?? "")?.[1] ?? 0);
  }

  #kill(): void {
    this.killed = true;
    this.#killedAtMs ??= monotonicMs();
    const { freezer } = this.#machine.containment;
    // At its gate it is in no group that signals can see.
    this.#killOne(this.#job);
    if (this.#contained !== "no") freezer.kill(this.name);
    if (monotonicMs() - this.#killedAtMs <= SHIM_PATIENCE_MS) return;
    this.#killOne(this.shim);
    // It may have been stopped before it claimed the attempt.
    this.#child?.kill("SIGKILL");
  }

  /** It should have ended long ago: no more hurry. */
  #isStubborn(): boolean {
    return this.#killedAtMs !== undefined && monotonicMs() - this.#killedAtMs > KILL_PATIENCE_MS;
  }

  #killOne(identity: ProcessIdentity | undefined): void {
    if (identity === undefined || !isAlive(identity) || !this.#isOfUser(identity.pid)) return;
    signal(identity.pid, "SIGKILL");
  }

  /** Makes an end of it once nothing of it is left. */
  #finish(nowMs: number): boolean {
    const { freezer, groups } = this.#machine.containment;
    if (this.shim === undefined) {
      // One of an earlier conductor may still come.
      claimForNobody(this.spec);
      const claim = this.#readClaim();
      this.shim = shimOf(claim);
      if (this.shim !== undefined || claim.kind === "unclear") return false;
    }
    this.slotEnds(nowMs);
    this.#gaveUpAtMs ??= nowMs + KILL_PATIENCE_MS;
    if (this.#contained === "joining") return false;
    if (this.#contained === "no" && this.shim !== undefined && this.#isInherited) {
      // An earlier conductor may have let it begin, and with its shim gone nobody can be seen to be its child.
      freezer.enter(this.name, this.shim, this.shim);
      this.#contained = "yes";
    }
    if (this.#contained === "yes" && !freezer.kill(this.name) && nowMs < this.#gaveUpAtMs) return false;
    if (this.shim !== undefined || this.#readClaim().kind !== "another") closeGate(this.spec);
    const cpuMs = this.#machine.shares.cpuMs(this.name);
    this.end = {
      job: this.spec.job,
      attempt: this.spec.attempt,
      ...identityIn(this.spec),
      ...this.#outcome(),
      endedAtMs: Date.now(),
      ranMs: Math.round(this.#ranMs),
      ...(cpuMs === undefined ? {} : { cpuMs: Math.round(cpuMs) }),
    };
    this.phase = "ended";
    groups.remove(this.name);
    freezer.leave(this.name);
    this.#machine.shares.forget(this.name);
    return true;
  }

  #outcome(): Pick<AttemptEnd, "code" | "signal" | "lost" | "neverBegan" | "reason"> {
    const { reason } = this;
    if (this.#startError !== undefined) return { lost: this.#startError, reason };
    if (this.shim === undefined) return { ...this.#notClaimed(), reason };
    const lost = readLost(this.spec);
    if (lost !== undefined) return { lost, reason };
    const exit = readExit(this.spec);
    if (exit === undefined) {
      if (this.killed) return { signal: "SIGKILL", reason };
      const message = `The shim of job ${this.name} ended without leaving an exit status: it was killed, or the machine went down`;
      return { lost: message, reason, ...(this.#neverBegan() && { neverBegan: true }) };
    }
    const outOfMemory = this.spec.memoryBytes !== undefined && exit.code !== 0 && this.#memoryKills() > 0;
    return { ...exit, reason: reason === "none" && outOfMemory ? "memory-limit" : reason };
  }

  /** How an attempt ends that no shim of its own has claimed: its command has not run. */
  #notClaimed(): Pick<AttemptEnd, "signal" | "lost" | "neverBegan"> {
    const { folder } = this.spec;
    if (this.#neverStarted !== undefined) return { lost: this.#neverStarted, neverBegan: true };
    const claim = this.#readClaim();
    if (claim.kind === "another") {
      const lost = `Cannot start in "${folder}": it holds the files of another attempt, expected a folder of its own; the command never ran`;
      return { lost, neverBegan: true };
    }
    if (this.killed) return { signal: "SIGKILL" };
    if (claim.kind === "stranger") {
      // Nobody but the job's user can have written that, so no further attempt is granted for it.
      const lost = `Cannot start in "${folder}": it was claimed for process ${claim.pid}, which is not the shim of this attempt; the command never ran`;
      return { lost };
    }
    const lost = `Cannot start in "${folder}": the shim could not claim the attempt, expected a folder that the job's user may write`;
    return { lost, ...(this.#childKilled && claimForNobody(this.spec) && { neverBegan: true }) };
  }

  /** Its shim is an earlier conductor's, which may have done more than it could write down. */
  get #isInherited(): boolean {
    return this.shim?.pid !== this.#child?.pid;
  }

  /** Whether its shim was killed before anybody can have let the command begin. */
  #neverBegan(): boolean {
    if (this.begun) return false;
    if (!this.#isInherited) return true;
    // Before the machine was started anew more may have happened than reached the disk.
    return this.shim?.bootId === bootId() && readIdentity(this.spec, "job") === undefined;
  }
}

function shimOf(claim: Claim): ProcessIdentity | undefined {
  return claim.kind === "shim" ? claim.shim : undefined;
}

/** To be spread into what tells of the attempt. */
export function identityIn({
  identity,
}: {
  readonly identity?: string | undefined;
}): Pick<LaunchSpec, "identity"> {
  return identity === undefined ? {} : { identity };
}
