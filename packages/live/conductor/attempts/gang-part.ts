/**
 * What the conductor does with every part of a gang on its node, whether it starts the gang's command itself
 * (attempt.ts) or not (member.ts): the part takes its turns, and it is ended with grace.
 */
import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { isAlive, type ProcessIdentity, readStat, signal } from "@tutti/host/processes.ts";
import type {
  AttemptEnd,
  AttemptState,
  EndReason,
  LaunchSpec,
  SignalTarget,
} from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import { isKeeper, isLauncher } from "../freezers/freezer.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { GpuSums } from "../gpu-use.ts";
import type { GangShares } from "../shares.ts";
import type { AttemptFolder } from "./claim.ts";
import { GangLimits } from "./gang-limits.ts";
import { noteAsked } from "./shim.ts";

/** Time between two looks at a gang that may change at any moment without telling anybody. */
export const LOOK_MS = 50;
/** A look at a slot's beginning may come so early, because the conductor is awake then anyway. */
const EARLY_MS = 25;
/** A script that requeues itself still gets to what it does next, as under Slurm, which is slower. */
const AFTER_REQUEUE_MS = 300;
export const PIN_AGAIN_MS = 500;

/** What all gangs of a conductor share. */
export interface Machine {
  readonly containment: Containment;
  readonly shares: GangShares;
  /** Path of setpriv, if there is one. */
  readonly setpriv: string | undefined;
  /** Calls back when what all gangs intend is in the state file. */
  readonly note: (act: () => void) => void;
  /** Whether the conductor's folder is away, perhaps with all that shims have written. */
  readonly isHomeAway: () => boolean;
  /**
   * Why the cluster ends all processes of this node, perhaps before this conductor: the keeper has ended.
   * Undefined: it does not.
   * @param endedBefore whether this is asked for what ended before this conductor began
   */
  readonly whyAllEnd: (endedBefore: boolean) => string | undefined;
  /** How long a gang of one row still runs until the node is taken away; infinite: it stays. */
  readonly turnsUntilStopMs: (nowMs: number) => number;
}

type PartSpec = Pick<
  LaunchSpec,
  | "job"
  | "attempt"
  | "identity"
  | "folder"
  | "uid"
  | "user"
  | "ownFolder"
  | "graceMs"
  | "memoryBytes"
  | "limitMs"
  | "limitSignal"
  | "gpus"
>;

export abstract class GangPart<Spec extends PartSpec = PartSpec> {
  readonly name: string;
  readonly spec: Spec;
  phase: AttemptState["phase"] = "launching";
  /** The shim that started it; of several, the first. */
  shim: ProcessIdentity | undefined;
  /** Whether the job has gone through its gate. */
  begun = false;
  /** When the present slot of its row began; undefined if its row does not have the slot. */
  onSinceMs: number | undefined;
  startedAtMs = 0;
  reason: EndReason = "none";
  /** When it was decided to end it. */
  endingAtMs: number | undefined;
  /** It was killed, or is about to be. */
  killed = false;
  end: AttemptEnd | undefined;
  /** When it needs a look again, unless it is hurried. */
  lookAtMs = Number.NEGATIVE_INFINITY;
  /** Nothing of it runs, and its end is unknown until a folder is back. */
  waitsForHome = false;
  /** It runs all the time instead of taking turns, because the front end's store does not know it. */
  kept = false;
  /** Its running time when it was sent the signal before its end; undefined: it was not. */
  warnedRanMs: number | undefined;
  /** What it uses of its GPUs. */
  gpuSums = new GpuSums();
  protected readonly machine: Machine;
  protected readonly limits: GangLimits;
  #frozen = false;
  #pinnedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Running time in earlier slots. */
  protected ranBeforeMs = 0;
  /** From then on it is killed. Infinite until it is noted why it ends. */
  #killAtMs = Number.POSITIVE_INFINITY;
  #termAtMs = Number.POSITIVE_INFINITY;

  constructor(machine: Machine, spec: Spec) {
    this.machine = machine;
    this.spec = spec;
    this.name = gangName(spec);
    this.limits = new GangLimits(machine.containment, this.name, spec);
  }

  get isOver(): boolean {
    return this.phase === "ended";
  }

  /** Whether it is stopped and continued together with its row. */
  get turns(): boolean {
    return this.phase === "running" && this.begun && !this.kept;
  }

  /** Whether the next step is due within milliseconds. */
  abstract get isHurried(): boolean;

  /** Whether all processes that this node starts for it wait at their gates, or have gone through them. */
  abstract get isReady(): boolean;

  get frozen(): boolean {
    return this.#frozen;
  }

  set frozen(frozen: boolean) {
    if (frozen === this.#frozen) return;
    this.#frozen = frozen;
    this.lookAtMs = Math.min(this.lookAtMs, this.#lookedAtMs + LOOK_MS);
  }

  /** Lets it advance, if it needs a look. @returns what happened */
  look(nowMs: number): ReturnType<typeof this.advance> {
    if (nowMs < this.lookAtMs - EARLY_MS && !this.isHurried) return undefined;
    this.#lookedAtMs = nowMs;
    this.lookAtMs = nowMs + LOOK_MS;
    return this.advance(nowMs);
  }

  /** Takes the next step, if possible. @returns what happened */
  abstract advance(nowMs: number): "launched" | "warned" | "ended" | undefined;

  /** However it ends, it is lost for this reason. */
  abstract lose(why: string): void;

  protected abstract kill(): void;
  /** Folders of its shims here. */
  protected abstract get folders(): readonly AttemptFolder[];
  /** The first processes of its commands here. */
  protected abstract get firsts(): readonly ProcessIdentity[];
  /** Its processes may be moved to other CPUs. */
  protected abstract get canMove(): boolean;

  /**
   * Its start; if it has not begun, now. The state is saved each second, so this is hardly too early if the
   * conductor dies just when it has opened the gate.
   */
  get startToSaveMs(): number {
    return this.begun ? this.startedAtMs : unixMs();
  }

  /** Since when it is paused, in Unix time in ms; undefined: it is not. */
  get pausedAtMs(): number | undefined {
    return this.machine.containment.paused.sinceMs(this.name);
  }

  /** As in `SlotStatistics`. */
  get memoryShare(): number | undefined {
    return this.limits.memoryShare;
  }

  /** Running time so far. */
  ranMs(nowMs = monotonicMs()): number {
    return this.ranBeforeMs + (this.begun && this.onSinceMs !== undefined ? nowMs - this.onSinceMs : 0);
  }

  /** A job that was sent its signal late, because the conductor hung, has its time all the same. */
  protected get limitMs(): number {
    const { limitMs = Number.POSITIVE_INFINITY, limitSignal } = this.spec;
    if (limitSignal === undefined || this.warnedRanMs === undefined) return limitMs;
    return Math.max(limitMs, this.warnedRanMs + limitSignal.beforeMs);
  }

  /** Running time until its signal is due; infinite: it gets none any longer. */
  protected untilSignalMs(nowMs: number): number {
    const { limitMs = Number.POSITIVE_INFINITY, limitSignal } = this.spec;
    if (limitSignal === undefined || this.warnedRanMs !== undefined) return Number.POSITIVE_INFINITY;
    const leftMs = Math.min(limitMs - this.ranMs(nowMs), this.machine.turnsUntilStopMs(nowMs));
    return leftMs - limitSignal.beforeMs;
  }

  /** Sends the signal before its end, once. Running time stands still while the gang is stopped. */
  protected warn(nowMs: number): boolean {
    const { limitSignal } = this.spec;
    if (limitSignal === undefined || this.untilSignalMs(nowMs) > 0) return false;
    this.warnedRanMs = this.ranMs(nowMs);
    this.signal(limitSignal.name, limitSignal.to);
    return true;
  }

  /** Sends a signal to its processes here. If it is stopped, they take the signal in its next slot. */
  signal(name: NodeJS.Signals, to: SignalTarget): void {
    if (this.phase !== "running" || !this.begun) return;
    const firsts = this.firsts.filter(isAlive).map(({ pid }) => pid);
    const all = new Set([...firsts, ...this.machine.containment.freezer.pids(this.name)]);
    const outer = firsts.map(stepOf);
    for (const pid of to === "first" ? firsts : all) {
      if (to === "others" && firsts.includes(pid)) continue;
      if (to === "steps" && [undefined, ...outer].includes(stepOf(pid))) continue;
      // What has started tasks passes the signal on to them, and they get it here.
      const process = readStat(pid);
      if (!isLauncher(process) && !isKeeper(process)) signal(pid, name);
    }
  }

  /** The row has its slot from now on. */
  slotBegins(nowMs: number): void {
    this.onSinceMs = nowMs;
    if (this.begun) this.machine.shares.slotBegins(this.name);
  }

  /** The slot of its row has ended. */
  slotEnds(nowMs: number): void {
    if (this.onSinceMs === undefined) return;
    const ranMs = nowMs - this.onSinceMs;
    this.onSinceMs = undefined;
    if (!this.begun) return;
    this.ranBeforeMs += ranMs;
    this.machine.shares.slotEnds(this.name, ranMs, this.limits.cpuCount);
  }

  /** From now on it runs all the time on its present CPUs, whatever the rows are. */
  keep(): void {
    if (this.isOver) return;
    this.kept = true;
    this.thaw();
    this.machine.shares.weigh(this.name, false);
  }

  thaw(): void {
    this.machine.containment.freezer.thaw(this.name);
    this.frozen = false;
  }

  /** Gives it other CPUs. Running threads move at once. */
  pin(cpus: readonly number[]): void {
    // A row may refer to another attempt with the same number.
    if (this.kept || !this.limits.setCpus(cpus)) return;
    if (this.canMove) this.limits.applyCpus(this.begun);
  }

  /** Now and then, pins what srun has started here for the gang: that does not descend from its command. */
  protected pinNew(nowMs: number): void {
    if (nowMs < this.#pinnedAtMs + PIN_AGAIN_MS) return;
    this.#pinnedAtMs = nowMs;
    this.limits.pinNew();
  }

  /** Kills it. However it ends, it is lost for this reason. */
  abandon(why: string): void {
    if (this.isOver) return;
    this.lose(why);
    this.stop("none", true);
  }

  /**
   * Sends TERM and after the grace time KILL, or KILL at once, but first notes why. A second call can still
   * kill, but does not change the reason.
   */
  stop(reason: EndReason, kill: boolean): void {
    if (this.phase === "ended") return;
    const isNew = this.phase !== "stopping";
    if (isNew) {
      if (this.reason === "none") this.reason = reason;
      this.endingAtMs ??= unixMs();
      this.slotEnds(monotonicMs());
      this.phase = "stopping";
    }
    this.killed ||= kill || !this.begun;
    this.lookAtMs = Number.NEGATIVE_INFINITY;
    this.machine.note(() => this.#sendSignal(isNew));
  }

  #sendSignal(isFirst: boolean): void {
    if (this.isOver) return;
    if (this.machine.containment.isOfCluster) for (const folder of this.folders) noteAsked(folder);
    if (this.killed) {
      this.#killAtMs = Number.NEGATIVE_INFINITY;
      this.kill();
    } else if (isFirst) {
      const { graceMs } = this.spec;
      const nowMs = monotonicMs();
      this.#killAtMs = nowMs + graceMs;
      this.thaw();
      // During its grace time, it does not wait for other gangs.
      this.machine.shares.weigh(this.name, false);
      this.#termAtMs = nowMs + (this.reason === "requeued" ? Math.min(AFTER_REQUEUE_MS, graceMs) : 0);
      this.endStep(nowMs);
    }
  }

  /** While it is stopping, does what is due. */
  protected endStep(nowMs: number): void {
    if (nowMs >= this.#termAtMs) {
      this.#termAtMs = Number.POSITIVE_INFINITY;
      for (const pid of this.machine.containment.freezer.pids(this.name))
        if (!isKeeper(readStat(pid))) signal(pid, "SIGTERM");
    }
    if (nowMs >= this.#killAtMs) this.kill();
  }

  /** The end is in the front end's store. */
  forgotten(): void {}
}

/** The number of the step in which srun has started a process; undefined: it has not. */
function stepOf(pid: number): string | undefined {
  const environment = `\0${readText(`/proc/${pid}/environ`, "latin1") ?? ""}`;
  return /\0SLURM_STEP_ID=([^\0]*)/.exec(environment)?.[1];
}
