/**
 * Launches and ends attempts, and runs the rows of the matrix in turn (round-robin.ts). The conductor does
 * not know queues or policies. It follows the last matrix, even while no front end is connected.
 */
import { join } from "node:path";
import { monotonicMs } from "../host/clock.ts";
import { bootId } from "../host/processes.ts";
import type { AttemptKey, EndReason, LaunchSpec } from "../protocol/attempts.ts";
import type { ConductorMatrix, FromConductor, ToConductor } from "../protocol/conductor.ts";
import { gangName, matrixProblem } from "../protocol/wire.ts";
import { Attempt, type Machine } from "./attempts/attempt.ts";
import { savedOf, stateOf } from "./attempts/attempt-report.ts";
import { keyOf } from "./attempts/claim.ts";
import { findSetpriv } from "./attempts/shim.ts";
import { SlotClock, SwitchRecord } from "./clock.ts";
import type { Containment } from "./freezers/open-containment.ts";
import { Guardian, guardianDone } from "./guardian.ts";
import { EMPTY_MATRIX, missingCpu, RoundRobin } from "./round-robin.ts";
import { GangShares } from "./shares.ts";
import { readState, type SavedState, writeState } from "./state-file.ts";

const LOOK_MS = 50;
const HURRIED_LOOK_MS = 3;
const REPORT_MS = 1000;
/** Groups of ended gangs may not be empty yet; their removal is retried at this interval. */
const REMOVE_AGAIN_MS = 5000;

export class Conductor {
  readonly #machine: Machine;
  readonly #stateFile: string;
  readonly #emit: (message: FromConductor) => void;
  readonly #guardian: Guardian;
  readonly #attempts = new Map<string, Attempt>();
  readonly #record = new SwitchRecord();
  readonly #clock: SlotClock;
  readonly #launches: LaunchSpec[] = [];
  /**
   * Attempts that were kept for an earlier front end, until the present front end has said whether it knows
   * them.
   */
  readonly #keptBefore = new Set<Attempt>();
  #guardianIdentity: SavedState["guardian"];
  readonly #roundRobin: RoundRobin;
  #lookTimer: NodeJS.Timeout | undefined;
  #reportTimer: NodeJS.Timeout | undefined;
  #saveDue = false;
  #removedAtMs = 0;
  #shutdown: (() => void) | undefined;
  #closed = false;

  /** @param emit called with every message for the front end, even if none is connected */
  constructor(home: string, containment: Containment, emit: (message: FromConductor) => void) {
    this.#machine = {
      containment,
      shares: new GangShares(containment.groups, containment.freezer),
      setpriv: process.getuid?.() === 0 ? findSetpriv() : undefined,
    };
    this.#stateFile = join(home, "state.json");
    this.#emit = emit;
    this.#guardian = new Guardian(containment, {
      onStart: (identity) => {
        this.#guardianIdentity = identity;
        this.#save();
      },
      onContinued: () => this.#takeTurnsAgain(),
    });
    this.#roundRobin = new RoundRobin({
      machine: this.#machine,
      attempts: this.#attempts,
      awaitsLaunch: (gang) => this.#awaitsLaunch(gang),
      slot: () => this.#clock.slot(),
    });
    this.#clock = new SlotClock(monotonicMs(), EMPTY_MATRIX.slotMs, (_, lateMs, skipped) => {
      const startMs = monotonicMs();
      this.#roundRobin.turn(startMs);
      this.#record.record(lateMs, (monotonicMs() - startMs) * 1000, skipped);
      if (this.#isHurried) this.#look();
    });
  }

  /**
   * Continues the gangs that an earlier conductor left stopped, takes over its attempts and starts the turns.
   */
  async start(): Promise<void> {
    const saved = readState(this.#stateFile);
    await guardianDone(saved?.guardian);
    this.#machine.containment.freezer.thawLeftovers();
    this.#guardian.start();
    if (saved !== undefined) this.#restore(saved);
    this.#begin();
  }

  /** Whether a job may be running, so that the conductor is needed. */
  get isBusy(): boolean {
    for (const attempt of this.#attempts.values()) if (!attempt.isOver) return true;
    return this.#launches.length > 0;
  }

  receive(message: ToConductor): void {
    if (message.type === "hello") this.#greet(message.protocol);
    else if (message.type === "matrix") this.#setMatrix(message.matrix);
    else if (message.type === "launch") this.#launch(message.spec);
    else if (message.type === "stop") this.#stop(message);
    else if (message.type === "forget") this.#forget(message);
    else if (message.type === "keep") this.#keep(message);
    else this.#shutDown(message.killJobs);
  }

  /**
   * The folder was removed and created again: writes the files for the guardian and the next conductor again.
   */
  rewriteHome(): void {
    this.#machine.containment.freezer.rewriteHome();
    this.#write();
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
    this.#roundRobin.close();
    this.#clock.stop();
    clearTimeout(this.#lookTimer);
    clearInterval(this.#reportTimer);
    const now = monotonicMs();
    for (const attempt of this.#attempts.values()) {
      attempt.slotEnds(now);
      try {
        if (attempt.begun && !attempt.isOver) {
          attempt.thaw();
          this.#machine.shares.weigh(attempt.name, false);
        }
      } catch {}
    }
    try {
      this.#machine.containment.freezer.thawLeftovers();
      this.#write();
    } catch {
      // The guardian continues the gangs.
      return;
    }
    this.#guardian.release();
    this.#removeGroups();
    if (!this.isBusy) this.#machine.containment.groups.close();
  }

  #greet(protocol: 1 | 2): void {
    for (const attempt of this.#attempts.values()) if (attempt.kept) this.#keptBefore.add(attempt);
    // The front end asks again for pending launches that it knows.
    this.#launches.length = 0;
    this.#emit({
      type: "state",
      ...(protocol === 2 && { protocol }),
      attempts: [...this.#attempts.values()].map(stateOf),
      sequence: this.#roundRobin.matrix.sequence,
      pid: process.pid,
      freezer: this.#machine.containment.freezer.kind,
      epochMs: this.#clock.epochMs,
    });
  }

  #restore(saved: SavedState): void {
    if (saved.bootId === bootId()) this.#clock.epochMs = saved.epochMs;
    if (matrixProblem(saved.matrix) === undefined || saved.matrix.sequence === -1) {
      this.#roundRobin.matrix = saved.matrix;
      this.#clock.slotMs = saved.matrix.slotMs;
    }
    for (const savedAttempt of saved.attempts) {
      const attempt = Attempt.adopt(this.#machine, savedAttempt);
      if (attempt !== undefined) this.#attempts.set(attempt.name, attempt);
    }
    this.#roundRobin.pinAll();
  }

  #setMatrix(matrix: ConductorMatrix): void {
    if (matrix.sequence <= this.#roundRobin.matrix.sequence) return;
    const problem = missingCpu(matrix);
    if (problem !== undefined) {
      this.#refuse(`Cannot use matrix ${matrix.sequence}: ${problem}; the last matrix stays in use`);
      return;
    }
    if (this.#roundRobin.lacksWeights(matrix)) {
      this.#refuse(
        "Cannot run gangs of other rows at low priority: there is no usable cpu control group, and no right to change scheduling classes; they are stopped, as in mode gang",
      );
    }
    this.#roundRobin.matrix = matrix;
    for (const attempt of this.#keptBefore) attempt.kept = false;
    this.#keptBefore.clear();
    if (matrix.slotMs !== this.#clock.slotMs) this.#clock.setSlot(matrix.slotMs);
    this.#roundRobin.pinAll();
    this.#begin();
    this.#save();
  }

  #launch(spec: LaunchSpec): void {
    const name = gangName(spec);
    const known = this.#attempts.get(name);
    const namesake = known?.spec ?? this.#launches.find((waiting) => gangName(waiting) === name);
    if (namesake !== undefined && namesake.identity !== spec.identity) {
      const lost = `Cannot start job ${name}: the conductor already has another attempt with this job's number, expected none; this command never ran`;
      this.#emitNotStarted(spec, "none", lost, true);
      return;
    }
    if (known?.end !== undefined) this.#emit({ type: "ended", end: known.end });
    else if (known?.begun) this.#emitLaunched(known);
    else if (known === undefined && !this.#awaitsLaunch(name)) {
      this.#launches.push(spec);
      if (this.#launches.length === 1) setImmediate(() => this.#launchNext());
    }
  }

  /**
   * Launches one attempt at a time, and never just before a boundary, because starting a process takes a few
   * ms.
   */
  #launchNext(): void {
    if (this.#closed) return;
    const left = this.#clock.nextBoundaryMs() - monotonicMs();
    if (this.#clock.isRunning && left > 0 && left < 3) {
      setTimeout(() => this.#launchNext(), 4);
      return;
    }
    const spec = this.#launches.shift();
    if (spec === undefined) return;
    const { env: _, ...kept } = spec;
    const attempt =
      // An earlier conductor may have launched it without being able to save that.
      Attempt.adopt(this.#machine, {
        spec: kept,
        begun: false,
        startedAtMs: Date.now(),
        ranMs: 0,
        reason: "none",
        killed: false,
      }) ?? new Attempt(this.#machine, kept);
    this.#attempts.set(attempt.name, attempt);
    if (attempt.shim === undefined) attempt.launch(spec);
    attempt.onShimEnd(() => this.#look());
    this.#roundRobin.pinAll();
    if (attempt.begun) this.#emitLaunched(attempt);
    this.#save();
    this.#begin();
    if (this.#launches.length > 0) setImmediate(() => this.#launchNext());
  }

  #stop(message: Extract<ToConductor, { type: "stop" }>): void {
    const { attempt: key, kill, reason } = message;
    const name = gangName(key);
    const waiting = this.#launches.findIndex(
      (spec) => gangName(spec) === name && (message.identity ?? spec.identity) === spec.identity,
    );
    const attempt = this.#find(message);
    const [spec] = waiting < 0 ? [] : this.#launches.splice(waiting, 1);
    if (spec !== undefined) this.#emitNotStarted(spec, reason);
    else if (attempt?.end !== undefined) this.#emit({ type: "ended", end: attempt.end });
    else if (attempt !== undefined) {
      attempt.stop(reason, kill);
      this.#save();
      this.#look();
    } else this.#refuse(`Cannot stop job ${name}: it was never launched here, or it has been forgotten`);
  }

  #forget(message: Extract<ToConductor, { type: "forget" }>): void {
    const attempt = this.#find(message);
    if (attempt === undefined || !attempt.isOver) return;
    this.#attempts.delete(attempt.name);
    this.#save();
  }

  #keep(message: Extract<ToConductor, { type: "keep" }>): void {
    const attempt = this.#find(message);
    if (attempt === undefined) return;
    this.#keptBefore.delete(attempt);
    attempt.keep();
    this.#save();
    this.#begin();
  }

  /** The attempt that a message names. */
  #find({ attempt: key, identity }: { attempt: AttemptKey; identity?: string }): Attempt | undefined {
    const attempt = this.#attempts.get(gangName(key));
    return identity === undefined || attempt?.spec.identity === identity ? attempt : undefined;
  }

  #shutDown(killJobs: boolean): void {
    if (this.isBusy && !killJobs) {
      const count = [...this.#attempts.values()].filter(({ isOver }) => !isOver).length;
      this.#refuse(`Cannot shut down: ${count} jobs are running, expected none, or a request to kill them`);
      return;
    }
    for (const spec of this.#launches.splice(0)) this.#emitNotStarted(spec, "shutdown");
    for (const attempt of this.#attempts.values()) attempt.stop("shutdown", true);
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
    this.#reportTimer ??= setInterval(() => this.#report(), REPORT_MS);
    this.#roundRobin.turn(monotonicMs());
    this.#look();
  }

  #awaitsLaunch(name: string): boolean {
    return this.#launches.some((spec) => gangName(spec) === name);
  }

  /** The conductor hung, so the guardian has continued all gangs and given them equal weights. */
  #takeTurnsAgain(): void {
    if (this.#closed) return;
    const message =
      "The conductor hung for several seconds: all gangs ran in the meantime, and now they take turns again";
    console.error(new Date().toISOString(), message);
    this.#refuse(message);
    this.#roundRobin.takeAgain();
  }

  /** Lets every attempt take its next step. */
  #look(): void {
    if (this.#closed) return;
    clearTimeout(this.#lookTimer);
    this.#lookTimer = undefined;
    let hasEnded = false;
    const now = monotonicMs();
    for (const attempt of this.#attempts.values()) {
      const news = attempt.advance(now);
      if (news === "launched") this.#emitLaunched(attempt);
      else if (news === "ended" && attempt.end !== undefined) this.#emit({ type: "ended", end: attempt.end });
      if (news !== undefined) this.#save();
      hasEnded ||= news === "ended";
    }
    if (hasEnded && this.#roundRobin.matrix.rows.length > 1) this.#roundRobin.turn(monotonicMs());
    if (this.isBusy) {
      this.#lookTimer = setTimeout(() => this.#look(), this.#isHurried ? HURRIED_LOOK_MS : LOOK_MS);
    } else this.#rest();
  }

  /** For example, an attempt that waits at its gate has just got a slot. */
  get #isHurried(): boolean {
    for (const attempt of this.#attempts.values()) if (attempt.isHurried) return true;
    return false;
  }

  /** Nothing runs: stops the clock and the reports. */
  #rest(): void {
    this.#clock.stop();
    clearInterval(this.#reportTimer);
    this.#reportTimer = undefined;
    this.#removeGroups();
  }

  #report(): void {
    const numbers = this.#record.take();
    if (numbers !== undefined) {
      const gangs = [...this.#attempts.values()]
        .filter(({ turns }) => turns)
        .map(({ name, spec }) => ({ job: spec.job, ...this.#machine.shares.usage(name) }));
      this.#emit({ type: "slots", statistics: { ...numbers, gangs } });
    }
    if (monotonicMs() - this.#removedAtMs > REMOVE_AGAIN_MS) this.#removeGroups();
    this.#save();
  }

  /** Removes groups of gangs that have ended or are unknown. A group that still has processes stays. */
  #removeGroups(): void {
    this.#removedAtMs = monotonicMs();
    const { groups } = this.#machine.containment;
    for (const name of groups.gangs()) {
      const attempt = this.#attempts.get(name);
      if (attempt === undefined || attempt.isOver) groups.remove(name);
    }
  }

  #emitLaunched({ spec, shim, startedAtMs }: Attempt): void {
    if (shim === undefined) return;
    const { identity, ...attempt } = keyOf(spec);
    this.#emit({ type: "launched", attempt, ...(identity && { identity }), shim, startedAtMs });
  }

  #emitNotStarted(
    spec: LaunchSpec,
    reason: EndReason,
    lost = "It was stopped before it started",
    neverBegan = false,
  ): void {
    const end = { ...keyOf(spec), reason, lost, endedAtMs: Date.now(), ranMs: 0 };
    this.#emit({ type: "ended", end: { ...end, ...(neverBegan && { neverBegan }) } });
  }

  #refuse(message: string): void {
    this.#emit({ type: "refused", message });
  }

  /** Saves the state soon, once for all changes made at the same moment. */
  #save(): void {
    if (this.#saveDue || this.#closed) return;
    this.#saveDue = true;
    setImmediate(() => {
      this.#saveDue = false;
      if (!this.#closed) this.#write();
    });
  }

  #write(): void {
    const state: SavedState = {
      version: 1,
      bootId: bootId(),
      epochMs: this.#clock.epochMs,
      matrix: this.#roundRobin.matrix,
      attempts: [...this.#attempts.values()].map(savedOf),
      ...(this.#guardianIdentity === undefined ? {} : { guardian: this.#guardianIdentity }),
    };
    try {
      writeState(this.#stateFile, state);
    } catch (error) {
      // A full disk must not stop the turns. What matters is also in the folders of the attempts.
      console.error(`Cannot write ${this.#stateFile}: ${(error as Error).message}`);
    }
  }
}
