/**
 * Follows the part of a gang on a node whose conductor does not start the gang's command:
 *
 *   without ranks   the command runs once, on another node. Whatever it starts here by srun or mpirun carries
 *                   the gang's mark. Nothing may run here yet, so the part ends only when it is stopped.
 *   with ranks      the cluster starts the tasks, each under a shim (task.ts). All wait at their gates, which
 *                   open together in the first slot of the gang's row; the part ends with its last task.
 */
import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { isAlive } from "@tutti/host/processes.ts";
import type { AttemptEnd, EndReason } from "@tutti/protocol/attempts.ts";
import type { MemberSpec } from "@tutti/protocol/conductor.ts";
import { GpuSums, type SavedGpuUse } from "../gpu-use.ts";
import { type LastSeen, ranUnseenMs } from "./absence.ts";
import { keyOf } from "./claim.ts";
import { GangPart, type Machine } from "./gang-part.ts";
import { ObservedTime } from "./observed-time.ts";
import { type SavedStep, Step } from "./step.ts";
import { makeTaskFolder, type SavedTask, Task } from "./task.ts";

/** Once the gang has its slots, its tasks must begin within this time of these slots. */
const BEGIN_MS = 30_000;
/** As in attempt.ts. */
const KILL_PATIENCE_MS = 10_000;
const SHIM_PATIENCE_MS = 5000;

/** What the next conductor must know about a member. */
export interface SavedMember {
  readonly member: MemberSpec;
  readonly tasks: readonly SavedTask[];
  readonly startedAtMs: number;
  readonly ranMs: number;
  readonly reason: EndReason;
  readonly endingAtMs?: number;
  readonly killed: boolean;
  readonly lost?: string;
  readonly kept?: true;
  readonly end?: AttemptEnd;
  readonly step?: SavedStep;
  /** Its running time in ms when it was sent the signal before its end. */
  readonly warnedRanMs?: number | undefined;
  /** As in `SavedAttempt`. */
  readonly gpuUse?: SavedGpuUse | undefined;
}

export class Member extends GangPart<MemberSpec> {
  /** The command that starts the tasks of all nodes, if this node runs it. */
  step: Step | undefined;
  readonly tasks: readonly Task[];
  #lost: string | undefined;
  readonly #beginning = new ObservedTime();
  #killedAtMs: number | undefined;

  constructor(machine: Machine, spec: MemberSpec) {
    super(machine, spec);
    this.tasks = spec.ranks.map((rank) => new Task(machine, this.limits, spec, rank));
    machine.containment.freezer.enter(this.name);
    if (this.tasks.length > 0) return;
    this.phase = "running";
    this.begun = true;
    this.startedAtMs = unixMs();
  }

  /** @param state in which an earlier conductor has saved it */
  static adopt(machine: Machine, saved: SavedMember, state: LastSeen): Member {
    const member = new Member(machine, saved.member);
    member.startedAtMs = saved.startedAtMs;
    member.ranBeforeMs = saved.ranMs;
    member.reason = saved.reason;
    member.endingAtMs = saved.endingAtMs;
    member.killed = saved.killed;
    member.kept = saved.kept === true;
    member.warnedRanMs = saved.warnedRanMs;
    member.gpuSums = new GpuSums(saved.gpuUse);
    member.step = saved.step && Step.adopt(saved.step);
    member.#lost = saved.lost;
    if (saved.end !== undefined) {
      member.end = saved.end;
      member.phase = "ended";
      return member;
    }
    for (const task of member.tasks) {
      const known = saved.tasks.find(({ rank }) => rank === task.rank);
      if (known !== undefined) task.adopt(known);
    }
    member.#noticeBegun();
    // When tasks ended that have ended since, other nodes know.
    const runs = member.tasks.length === 0 || member.tasks.some(({ shim }) => shim && isAlive(shim));
    if (member.begun && saved.reason === "none" && member.pausedAtMs === undefined && runs) {
      member.ranBeforeMs += ranUnseenMs(state, member);
    }
    if (saved.lost !== undefined) member.abandon(saved.lost);
    else if (saved.reason !== "none" || saved.killed) member.stop(saved.reason, saved.killed);
    return member;
  }

  get saved(): SavedMember {
    const { reason, endingAtMs, killed, end, step, warnedRanMs } = this;
    return {
      member: this.spec,
      tasks: this.tasks.map((task) => task.saved),
      startedAtMs: this.startToSaveMs,
      ranMs: Math.round(this.ranMs()),
      reason,
      endingAtMs,
      killed,
      lost: this.#lost,
      ...(this.kept && { kept: true }),
      end,
      step: step?.saved,
      warnedRanMs,
      gpuUse: this.gpuSums.saved,
    };
  }

  override get isReady(): boolean {
    return this.tasks.every((task) => task.isAtGate || task.begun);
  }

  /** Also in the moment in which only some of its tasks have begun. */
  override get turns(): boolean {
    return (this.phase === "running" || this.phase === "launching") && this.begun && !this.kept;
  }

  override get isHurried(): boolean {
    const isBeginning = this.phase === "launching" && this.onSinceMs !== undefined && this.isReady;
    const killedForMs = monotonicMs() - (this.#killedAtMs ?? Number.NEGATIVE_INFINITY);
    return isBeginning || (!this.isOver && this.killed && killedForMs < KILL_PATIENCE_MS);
  }

  protected override get firsts() {
    return this.tasks.flatMap(({ job }) => job ?? []);
  }

  protected override get canMove(): boolean {
    return true;
  }

  /** Makes the folders of its tasks, for the shims. @throws Error if the disk refuses */
  makeFolders(): void {
    if (this.spec.ownFolder === undefined) for (const { folder } of this.tasks) makeTaskFolder(folder.folder);
  }

  override advance(nowMs: number): "launched" | "warned" | "ended" | undefined {
    if (this.isOver) return undefined;
    for (const task of this.tasks) task.look(this.reason, this.killed);
    this.shim ??= this.tasks[0]?.shim;
    const failure = this.killed ? undefined : this.step?.failure(nowMs);
    if (failure !== undefined) this.abandon(failure);
    if (this.#isLeft()) {
      if (this.phase === "launching" && this.onSinceMs !== undefined) return this.#begin(nowMs);
      if (this.phase === "running" && this.warn(nowMs)) return "warned";
      if (this.phase === "running") this.#keepLimit(nowMs);
      else if (this.phase === "stopping") this.endStep(nowMs);
      return undefined;
    }
    return this.#finish() ? "ended" : undefined;
  }

  override lose(why: string): void {
    this.#lost ??= why;
  }

  protected override get folders() {
    return this.tasks.map(({ folder }) => folder);
  }

  override forgotten(): void {
    this.step?.kill();
    this.machine.containment.freezer.leave(this.name);
  }

  protected override kill(): void {
    this.killed = true;
    this.#killedAtMs ??= monotonicMs();
    for (const task of this.tasks) {
      task.block(this.reason);
      task.killAtGate();
    }
    // If it has started a task here, it goes on until the task has written how it ended.
    if (this.tasks.every(({ shim }) => shim === undefined)) this.step?.kill();
    this.machine.containment.freezer.kill(this.name);
    if (monotonicMs() - this.#killedAtMs <= SHIM_PATIENCE_MS) return;
    for (const task of this.tasks) task.killShim();
  }

  /** Whether it has tasks that may run, or may be given processes. */
  #isLeft(): boolean {
    if (this.tasks.length > 0) return this.tasks.some(({ end }) => end === undefined);
    return this.phase !== "stopping" || this.machine.containment.freezer.pids(this.name).length > 0;
  }

  /** Opens the gates. */
  #begin(nowMs: number): "launched" | undefined {
    for (const task of this.tasks) task.begin(this.limits.cpusForGate());
    const hadBegun = this.begun;
    this.#noticeBegun();
    if (this.begun && !hadBegun) {
      this.onSinceMs = nowMs;
      this.startedAtMs = unixMs();
      this.machine.shares.slotBegins(this.name);
    }
    // It has become running.
    if (!this.#isLaunching()) return "launched";
    const failed = this.tasks.find(({ begun, end }) => !begun && end !== undefined);
    if (failed !== undefined) this.abandon(this.#lossOf(failed));
    else if (this.#beginning.add(nowMs, true) >= BEGIN_MS) {
      const late = this.tasks.filter(({ begun }) => !begun).map(({ rank }) => rank);
      this.abandon(
        `Cannot start job ${this.name}: its tasks ${late.slice(0, 8).join(", ")} on this node did not begin within ${BEGIN_MS / 1000} s of its slots, expected all ${this.tasks.length}`,
      );
    }
    return undefined;
  }

  #noticeBegun(): void {
    if (this.tasks.some(({ begun }) => begun)) this.begun = true;
    if (this.phase === "launching" && this.tasks.every(({ begun }) => begun)) this.phase = "running";
  }

  #isLaunching(): boolean {
    return this.phase === "launching";
  }

  #keepLimit(nowMs: number): void {
    if (this.limits.isOverMemory(nowMs)) this.stop("memory-limit", true);
    else if (this.tasks.length > 0 && this.ranMs(nowMs) >= this.limitMs) {
      this.stop("time-limit", false);
    } else if (this.tasks.length === 0) this.pinNew(nowMs);
  }

  /** Sets `end` once no process is left. */
  #finish(): boolean {
    const { freezer } = this.machine.containment;
    this.slotEnds(monotonicMs());
    this.#killedAtMs ??= monotonicMs();
    const isPatient = monotonicMs() - this.#killedAtMs < KILL_PATIENCE_MS;
    if (!freezer.kill(this.name) && isPatient) return false;
    if (this.killed) this.step?.kill();
    this.end = {
      ...keyOf(this.spec),
      ...this.#outcome(),
      ...(this.begun && { startedAtMs: this.startedAtMs }),
      reason: this.reason,
      endedAtMs: unixMs(),
      ranMs: Math.round(this.ranBeforeMs),
      ...this.gpuSums.use,
    };
    this.phase = "ended";
    this.machine.shares.forget(this.name);
    return true;
  }

  /** Of all tasks here: the highest exit code, as srun has it, or else a signal that ended one of them. */
  #outcome(): Pick<AttemptEnd, "code" | "signal" | "lost" | "neverBegan"> {
    const { tasks } = this;
    if (tasks.length === 0) return { lost: this.#lost };
    const neverBegan = tasks.every(({ end }) => end?.neverBegan === true) || undefined;
    const lostTask = tasks.find(({ end }) => end?.lost !== undefined);
    const lost = this.#lost ?? (lostTask && this.#lossOf(lostTask));
    if (lost !== undefined) return { lost, neverBegan };
    const code = Math.max(0, ...tasks.map(({ end }) => end?.code ?? 0));
    const signal = tasks.find(({ end }) => end?.signal !== undefined)?.end?.signal;
    return { ...(signal === undefined || code > 0 ? { code } : { signal }), neverBegan };
  }

  #lossOf({ rank, end }: Task): string {
    return `Task ${rank}: ${end?.lost ?? "it ended before its command began, expected it to wait at its gate"}`;
  }
}
