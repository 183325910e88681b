/**
 * Launches and ends attempts, and runs the rows of the matrix in turn (round-robin.ts). The conductor does
 * not know queues or policies. It follows the last matrix, even while no front end is connected.
 */

import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { bootId, identityOf, type ProcessIdentity } from "@tutti/host/processes.ts";
import type { AttemptKey, EndReason, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix, FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { matrixProblem } from "@tutti/protocol/wire.ts";
import { SAVE_MS } from "./attempts/absence.ts";
import { Attempt } from "./attempts/attempt.ts";
import { savedOf } from "./attempts/attempt-report.ts";
import { type GangPart, LOOK_MS, type Machine } from "./attempts/gang-part.ts";
import { JobInputs } from "./attempts/job-inputs.ts";
import { LaunchQueue } from "./attempts/launch-queue.ts";
import { inOwnFolder, readOutput, removeOwnFolder, withUserHere } from "./attempts/own-folder.ts";
import { findSetpriv } from "./attempts/shim.ts";
import { SlotClock, SwitchRecord } from "./clock.ts";
import type { Containment } from "./freezers/open-containment.ts";
import { GangMembers } from "./gang-members.ts";
import { GpuWatch } from "./gpu-watch.ts";
import { Guardian, guardianDone } from "./guardian.ts";
import { Reports } from "./reports.ts";
import { EMPTY_MATRIX, RoundRobin } from "./round-robin.ts";
import { GangShares } from "./shares.ts";
import { type SavedState, StateFile } from "./state-file.ts";
import { Turning } from "./turning.ts";

const HURRIED_LOOK_MS = 3;
const MAX_LOOK_MS = 1000;

export class Conductor {
  readonly #machine: Machine;
  readonly #stateFile: StateFile;
  readonly #reports: Reports;
  /** Undefined: there are no other nodes. */
  readonly #members: GangMembers | undefined;
  readonly #inputs: JobInputs;
  readonly #guardian: Guardian;
  readonly #attempts = new Map<string, GangPart>();
  readonly #record: SwitchRecord;
  readonly #clock: SlotClock;
  readonly #launches: LaunchQueue;
  readonly #gpus: GpuWatch;
  readonly #groupRemoval: GroupRemoval;
  /**
   * Attempts that were kept for an earlier front end, until the present front end has said whether it knows
   * them.
   */
  readonly #keptBefore = new Set<GangPart>();
  #guardianIdentity: SavedState["guardian"];
  /** When the cluster takes the node away; undefined: it stays, or that is unknown. */
  #stopAtMs: number | undefined;
  readonly #roundRobin: RoundRobin;
  readonly #turning: Turning;
  #lookTimer: NodeJS.Timeout | undefined;
  #reportTimer: NodeJS.Timeout | undefined;
  #shutdown: (() => void) | undefined;
  #closed = false;
  #isAbandoned = false;
  readonly #keeper: number | undefined;
  /** Undefined also if it had ended before this conductor could look. */
  readonly #keeperIdentity: ProcessIdentity | undefined;
  /** The keeper of the last conductor; undefined: none, or ours. */
  #keeperBefore: number | undefined;

  /**
   * @param emit called with every message for the front end, even if none is connected
   * @param gpuPrograms full paths of the programs that read GPUs
   * @param keeper the process that started it, with which it ends; undefined: it ends alone
   */
  constructor(
    home: string,
    containment: Containment,
    emit: (message: FromConductor) => void,
    gpuPrograms: readonly string[] = [],
    keeper?: number,
  ) {
    const cluster = containment.isOfCluster;
    this.#keeper = keeper;
    this.#keeperIdentity = keeper === undefined ? undefined : identityOf(keeper);
    this.#machine = {
      containment,
      shares: new GangShares(containment.groups, containment.freezer),
      setpriv: process.getuid?.() === 0 ? findSetpriv() : undefined,
      note: (act) => this.#stateFile.save(act),
      isHomeAway: () => !existsSync(home),
      whyAllEnd: (endedBefore) => this.#whyAllEnd(endedBefore),
      turnsUntilStopMs: (nowMs) => this.#turnsUntilStopMs(nowMs),
    };
    this.#stateFile = new StateFile(join(home, "state.json"), () => this.#state());
    this.#groupRemoval = new GroupRemoval(containment, this.#attempts);
    this.#record = new SwitchRecord(cluster);
    this.#reports = new Reports(emit, cluster);
    this.#gpus = new GpuWatch(gpuPrograms, () => this.#attempts.values(), emit);
    if (cluster) {
      this.#members = new GangMembers({
        machine: this.#machine,
        attempts: this.#attempts,
        reports: this.#reports,
        onChange: () => this.#changed(),
      });
    }
    this.#inputs = new JobInputs((name, identity) => this.#readerOf(name, identity), emit);
    this.#guardian = new Guardian(containment, {
      onStart: (identity) => {
        this.#guardianIdentity = identity;
        this.#stateFile.save();
      },
      onContinued: () => this.#takeTurnsAgain(),
    });
    this.#roundRobin = new RoundRobin({
      machine: this.#machine,
      attempts: this.#attempts,
      awaitsLaunch: (gang) => this.#launches.find(gang) !== undefined,
      slot: () => {
        this.#turning.settle();
        return this.#clock.slot();
      },
      cluster,
    });
    this.#clock = new SlotClock(monotonicMs(), EMPTY_MATRIX.slotMs, (slot, lateMs, skipped) => {
      const startMs = monotonicMs();
      this.#roundRobin.turn(startMs);
      this.#record.record(slot, lateMs, (monotonicMs() - startMs) * 1000, skipped);
      this.#look();
    });
    this.#launches = new LaunchQueue({
      leftMs: (nowMs) => (this.#clock.isRunning ? this.#clock.nextBoundaryMs() - nowMs : undefined),
      launch: (spec) => this.#launchNow(spec),
    });
    this.#turning = new Turning({
      matrices: this.#roundRobin.matrices,
      clock: this.#clock,
      emit,
      problemOf: (matrix) => this.#roundRobin.missingCpu(matrix),
      onMatrix: () => this.#matrixChanged(),
      onGrid: () => this.#roundRobin.turn(monotonicMs()),
      onStopAt: (stopAtMs) => {
        this.#stopAtMs = stopAtMs;
      },
      save: () => this.#stateFile.write(),
    });
  }

  /**
   * Continues the gangs that an earlier conductor left stopped, takes over its attempts and starts the
   * turns.
   */
  async start(): Promise<void> {
    const saved = this.#stateFile.read();
    await guardianDone(saved?.guardian);
    const stood = this.#machine.containment.freezer.thawLeftovers();
    this.#guardian.start();
    if (saved !== undefined) this.#restore({ ...saved, stood });
    this.#begin();
  }

  /** Whether a job may be running, so that the conductor is needed. */
  get isBusy(): boolean {
    for (const attempt of this.#attempts.values()) if (!attempt.isOver) return true;
    return !this.#launches.isEmpty;
  }

  /** Whether it may end when it is left alone: the next conductor learns how its attempts ended, too. */
  get isIdle(): boolean {
    return (
      this.#launches.isEmpty && [...this.#attempts.values()].every((one) => one.isOver || one.waitsForHome)
    );
  }

  /** Whether nobody can still want to know anything of it. */
  get isUnused(): boolean {
    return this.#launches.isEmpty && this.#attempts.size === 0;
  }

  receive(message: ToConductor): void {
    if (this.#reports.isTooLate(message)) return;
    if (message.type === "hello") this.#greet();
    else if (message.type === "matrix") this.#setMatrix(message.matrix);
    else if (message.type === "launch") this.#launch(message.spec);
    else if (message.type === "stop") this.#stop(message);
    else if (message.type === "forget") this.#forget(message);
    else if (message.type === "signal") this.#find(message)?.signal(message.name, message.to);
    else if (message.type === "keep") this.#keep(message);
    else if (message.type === "shutdown") this.#shutDown(message.killJobs);
    else if (message.type === "input") this.#inputs.receive(message);
    else if (message.type === "read") this.#read(message);
    else if (message.type !== "join" && message.type !== "step") this.#turning.receive(message);
    else if (this.#members !== undefined) this.#members.receive(message);
    else this.#reports.refuse(`Cannot ${message.type}: this conductor is not one of a cluster`);
  }

  /**
   * The folder was removed and created again: writes the files for the guardian and the next conductor
   * again.
   */
  rewriteHome(): void {
    this.#machine.containment.freezer.rewriteHome();
    this.#stateFile.write();
  }

  /** Calls back when a `shutdown` is complete. */
  onShutdown(listener: () => void): void {
    this.#shutdown = listener;
  }

  /**
   * Continues all gangs and stops managing them; the jobs keep running. Must not throw, since it also runs
   * after an error.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stateFile.close();
    this.#launches.close();
    this.#roundRobin.close();
    this.#clock.stop();
    clearTimeout(this.#lookTimer);
    clearInterval(this.#reportTimer);
    const now = monotonicMs();
    for (const attempt of this.#attempts.values()) {
      attempt.slotEnds(now);
      try {
        if (attempt.begun && !attempt.isOver) {
          if (!this.#machine.containment.paused.has(attempt.name)) attempt.thaw();
          this.#machine.shares.weigh(attempt.name, false);
        }
      } catch {}
    }
    try {
      this.#machine.containment.freezer.thawLeftovers();
      this.#stateFile.write();
    } catch {
      // The guardian continues the gangs.
      return;
    }
    this.#guardian.release();
    this.#groupRemoval.remove();
    if (!this.isBusy) this.#machine.containment.groups.close();
  }

  #greet(): void {
    this.#turning.settle();
    for (const attempt of this.#attempts.values()) if (attempt.kept) this.#keptBefore.add(attempt);
    // The front end asks again for pending launches that it knows.
    this.#launches.takeAll();
    this.#reports.greet(this.#attempts.values(), {
      sequence: this.#roundRobin.matrix.sequence,
      freezer: this.#machine.containment.freezer.kind,
      limitsMemory: this.#machine.containment.groups.of("memory") !== undefined,
      epochMs: this.#clock.epochMs,
      turning: this.#turning.agreed,
    });
  }

  #restore(saved: SavedState): void {
    if (saved.bootId === bootId()) {
      this.#clock.epochMs = saved.epochMs;
      this.#stopAtMs = saved.stopAtMs;
    }
    const { keeper } = saved;
    // In a namespace of its own, each step's keeper may have the same number.
    if (keeper?.startTicks !== this.#keeperIdentity?.startTicks || keeper?.bootId !== bootId())
      this.#keeperBefore = keeper?.pid;
    if (matrixProblem(saved.matrix) === undefined || saved.matrix.sequence === -1) {
      this.#roundRobin.matrices.use(saved.matrix, saved.turning);
      this.#clock.slotMs = saved.matrix.slotMs;
    }
    for (const savedAttempt of saved.attempts) {
      const attempt = Attempt.adopt(this.#machine, savedAttempt, saved);
      if (attempt !== undefined) this.#attempts.set(attempt.name, attempt);
    }
    this.#members?.adopt(saved);
    this.#roundRobin.followMatrix(true);
  }

  #setMatrix(matrix: ConductorMatrix): void {
    if (matrix.sequence <= this.#roundRobin.matrix.sequence) return;
    const problem = this.#roundRobin.missingCpu(matrix);
    if (problem !== undefined) {
      this.#reports.refuse(`Cannot use matrix ${matrix.sequence}: ${problem}; the last matrix stays in use`);
      return;
    }
    if (this.#roundRobin.lacksWeights(matrix)) {
      this.#reports.refuse(
        "Cannot run gangs of other rows at low priority: there is no usable cpu control group, and no right to change scheduling classes; they are stopped, as in mode gang",
      );
    }
    this.#roundRobin.matrices.use(matrix);
    if (matrix.slotMs !== this.#clock.slotMs) this.#clock.setSlot(matrix.slotMs);
    this.#matrixChanged();
    this.#begin();
  }

  #matrixChanged(): void {
    for (const attempt of this.#keptBefore) attempt.kept = false;
    this.#keptBefore.clear();
    this.#roundRobin.followMatrix();
    this.#stateFile.save();
  }

  #launch(asked: LaunchSpec): void {
    const name = gangName(asked);
    const known = this.#attempts.get(name);
    const namesake = known?.spec ?? this.#launches.find(name);
    if (namesake !== undefined && namesake.identity !== asked.identity) {
      const lost = `Cannot start job ${name}: the conductor already has another attempt with this job's number, expected none; this command never ran`;
      this.#reports.notStarted(asked, "none", lost, true);
      return;
    }
    if (known !== undefined) this.#reports.repeat(known);
    if (namesake !== undefined) return;
    try {
      this.#launches.add(inOwnFolder(withUserHere(asked), []));
    } catch (error) {
      this.#reports.notStarted(asked, "none", `Cannot start job ${name}: ${(error as Error).message}`, true);
    }
  }

  #launchNow(spec: LaunchSpec): void {
    const { env: _, ...kept } = spec;
    const attempt = Attempt.adopt(this.#machine, { spec: kept }) ?? new Attempt(this.#machine, kept);
    this.#attempts.set(attempt.name, attempt);
    if (attempt.shim === undefined && !attempt.isOver) attempt.launch(spec);
    attempt.onShimEnd(() => this.#look());
    if (attempt.begun || attempt.isOver) this.#reports.repeat(attempt);
    this.#changed();
  }

  /** There is another gang, or a gang has changed. */
  #changed(): void {
    this.#roundRobin.followMatrix();
    this.#stateFile.save();
    this.#begin();
  }

  #stop(message: Extract<ToConductor, { type: "stop" }>): void {
    const { attempt: key, kill, reason } = message;
    const name = gangName(key);
    const spec = this.#launches.take(name, message.identity);
    const attempt = this.#find(message);
    if (spec !== undefined) this.#reports.notStarted(spec, reason);
    else if (attempt?.end !== undefined) this.#reports.repeat(attempt);
    else if (attempt !== undefined) {
      attempt.stop(reason, kill);
      this.#stateFile.save();
      this.#look();
    } else if (this.#members !== undefined && !this.#attempts.has(name)) {
      this.#members.stopUnknown(key, message.identity, reason);
    } else
      this.#reports.refuse(`Cannot stop job ${name}: it was never launched here, or it has been forgotten`);
  }

  #forget(message: Extract<ToConductor, { type: "forget" }>): void {
    const attempt = this.#find(message);
    if (attempt === undefined || !attempt.isOver) return;
    attempt.forgotten();
    if (attempt.spec.ownFolder !== undefined) removeOwnFolder(attempt.spec);
    this.#attempts.delete(attempt.name);
    this.#stateFile.save();
  }

  #read({ attempt: key, identity, file, from }: Extract<ToConductor, { type: "read" }>): void {
    const spec = this.#find({ attempt: key, identity })?.spec;
    const output = spec?.ownFolder === undefined ? { base64: "", left: 0 } : readOutput(spec, file, from);
    this.#reports.emit({ type: "output", attempt: key, identity, file, from, ...output });
  }

  #keep(message: Extract<ToConductor, { type: "keep" }>): void {
    const attempt = this.#find(message);
    if (attempt === undefined) return;
    this.#keptBefore.delete(attempt);
    attempt.keep();
    this.#stateFile.save();
    this.#begin();
  }

  #find({ attempt: key, identity }: { attempt: AttemptKey; identity?: string }): GangPart | undefined {
    const attempt = this.#attempts.get(gangName(key));
    return identity === undefined || attempt?.spec.identity === identity ? attempt : undefined;
  }

  /** A gang of which this node starts the command. */
  #readerOf(name: string, identity: string | undefined): Attempt | undefined {
    const part = this.#attempts.get(name);
    if (!(part instanceof Attempt)) return undefined;
    return identity === undefined || part.spec.identity === identity ? part : undefined;
  }

  #shutDown(killJobs: boolean): void {
    if (this.isBusy && !killJobs) {
      const count = [...this.#attempts.values()].filter(({ isOver }) => !isOver).length;
      this.#reports.refuse(
        `Cannot shut down: ${count} jobs are running, expected none, or a request to kill them`,
      );
      return;
    }
    this.#killAll("shutdown");
  }

  /** The cluster takes the node away: kills all attempts, which are queued again, and ends. */
  evict(): void {
    this.#reports.leave();
    this.#killAll("requeued");
  }

  #killAll(reason: EndReason): void {
    for (const spec of this.#launches.takeAll()) this.#reports.notStarted(spec, reason);
    for (const attempt of this.#attempts.values()) attempt.stop(reason, true);
    this.#endWithJobs();
  }

  /** Of all rows, each gets this part of the time that is left. */
  #turnsUntilStopMs(nowMs: number): number {
    if (this.#stopAtMs === undefined) return Number.POSITIVE_INFINITY;
    return (this.#stopAtMs - nowMs) / Math.max(1, this.#roundRobin.matrix.rows.length);
  }

  #whyAllEnd(endedBefore: boolean): string | undefined {
    const keeper = this.#keeper === process.ppid ? undefined : this.#keeper;
    const gone = keeper ?? (endedBefore ? this.#keeperBefore : undefined);
    return gone === undefined
      ? undefined
      : `The process ${gone} that started the conductor has ended, so all gangs here are killed`;
  }

  /** If the keeper was killed: kills the gangs, since nobody else would, and ends. */
  followKeeper(): void {
    const why = this.#whyAllEnd(false);
    if (why === undefined || this.#isAbandoned) return;
    this.#isAbandoned = true;
    console.error(new Date(unixMs()).toISOString(), why);
    this.#abandon(why);
  }

  /** Kills all attempts, which are lost for this reason, and ends. */
  #abandon(why: string): void {
    this.#reports.makeWay();
    for (const spec of this.#launches.takeAll()) this.#reports.notStarted(spec, "none", why, true);
    for (const attempt of this.#attempts.values()) attempt.lose(why);
    // The cluster may kill this conductor in a moment. The next one must not take our kills for their ends.
    this.#stateFile.write();
    for (const attempt of this.#attempts.values()) attempt.abandon(why);
    this.#endWithJobs();
  }

  #endWithJobs(): void {
    const waitForEnd = () => {
      if (this.isBusy) setTimeout(waitForEnd, HURRIED_LOOK_MS);
      else this.#shutdown?.();
    };
    this.#look();
    waitForEnd();
  }

  /** Keeps the clock, the checks and the reports running as long as there is an attempt. */
  #begin(): void {
    if (this.#closed || !this.isBusy) return;
    if (!this.#clock.isRunning) this.#clock.start();
    this.#reportTimer ??= setInterval(() => this.#report(), SAVE_MS);
    this.#roundRobin.turn(monotonicMs());
    this.#look();
  }

  /** The conductor hung, so the guardian has continued all gangs and given them equal weights. */
  #takeTurnsAgain(): void {
    if (this.#closed) return;
    const message =
      "The conductor hung for several seconds: all gangs ran in the meantime, and now they take turns again";
    console.error(new Date(unixMs()).toISOString(), message);
    this.#reports.refuse(message);
    this.#roundRobin.takeAgain();
  }

  /** Lets every attempt take its next step that needs it. */
  #look(): void {
    if (this.#closed) return;
    clearTimeout(this.#lookTimer);
    this.#lookTimer = undefined;
    let hasEnded = false;
    const now = monotonicMs();
    for (const attempt of this.#attempts.values()) {
      const news = attempt.look(now);
      this.#reports.news(attempt, news);
      if (news !== undefined) this.#stateFile.save();
      hasEnded ||= news === "ended";
    }
    if (hasEnded && this.#roundRobin.matrix.rows.length > 1) this.#roundRobin.turn(monotonicMs());
    if (this.isBusy) {
      this.#lookTimer = setTimeout(() => this.#look(), this.#untilLookMs);
    } else this.#rest();
  }

  get #untilLookMs(): number {
    let lookAtMs = Number.POSITIVE_INFINITY;
    for (const attempt of this.#attempts.values()) {
      // For example, it waits at its gate and has just got a slot.
      if (attempt.isHurried) return HURRIED_LOOK_MS;
      if (!attempt.isOver) lookAtMs = Math.min(lookAtMs, attempt.lookAtMs);
    }
    return Math.min(Math.max(LOOK_MS, lookAtMs - monotonicMs()), MAX_LOOK_MS);
  }

  /** Nothing runs: stops the clock and the reports. */
  #rest(): void {
    this.#clock.stop();
    clearInterval(this.#reportTimer);
    this.#reportTimer = undefined;
    this.#groupRemoval.remove();
  }

  #report(): void {
    const numbers = this.#record.take();
    if (numbers !== undefined) this.#reports.slots(numbers, this.#attempts.values(), this.#machine.shares);
    this.#gpus.look(monotonicMs());
    this.#groupRemoval.removeAgain();
    this.#stateFile.save();
  }

  #state(): SavedState {
    const { matrix, matrices } = this.#roundRobin;
    return {
      version: 1,
      bootId: bootId(),
      epochMs: this.#clock.epochMs,
      stopAtMs: this.#stopAtMs,
      matrix,
      ...(matrices.turning.length > 0 && { turning: matrices.turning }),
      ...savedOf(this.#attempts.values()),
      guardian: this.#guardianIdentity,
      keeper: this.#keeperIdentity,
    };
  }
}

/** Groups of ended gangs may not be empty yet; their removal is retried at this interval. */
const AGAIN_MS = 5000;

/** Removes control groups of gangs that have ended or are unknown. A group that still has processes stays. */
class GroupRemoval {
  readonly #groups: Containment["groups"];
  readonly #attempts: ReadonlyMap<string, GangPart>;
  #removedAtMs = 0;

  constructor({ groups }: Containment, attempts: ReadonlyMap<string, GangPart>) {
    this.#groups = groups;
    this.#attempts = attempts;
  }

  remove(): void {
    this.#removedAtMs = monotonicMs();
    for (const name of this.#groups.gangs()) {
      const attempt = this.#attempts.get(name);
      if (attempt === undefined || attempt.isOver) this.#groups.remove(name);
    }
  }

  /** Called often. */
  removeAgain(): void {
    if (monotonicMs() - this.#removedAtMs > AGAIN_MS) this.remove();
  }
}
