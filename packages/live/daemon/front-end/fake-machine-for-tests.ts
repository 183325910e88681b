/** An executor whose processes are only running times. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, clocksNow } from "@tutti/host/clock.ts";
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import { slotsOfWork } from "@tutti/kernel/simulator/gang-work.ts";
import type {
  AttemptEnd,
  AttemptKey,
  AttemptRecord,
  AttemptState,
  EndReason,
  JobNumber,
  LaunchSpec,
} from "@tutti/protocol/attempts.ts";
import type {
  Capabilities,
  Capacity,
  Command,
  Connected,
  Executor,
  Hindrance,
  Matrix,
  Report,
} from "../executor/executor.ts";

/** All processes belong to this user. */
export const JOBS_UID = 1001;

interface FakeAttempt extends AttemptKey {
  readonly spec: LaunchSpec;
  /** Remaining work: in ms on a machine without slots, else in slots. */
  left: number;
  ran: number;
  /** On a machine without slots: when it last began to run. */
  sinceMs: number;
  phase: AttemptState["phase"];
  startedAtMs: number | undefined;
  pausedAtMs: number | undefined;
  end: AttemptState["end"];
  cancelTimer: (() => void) | undefined;
}

export interface FakeMachineOptions {
  readonly clock: Clock;
  /** Running time of a job's attempt in ms. */
  readonly runMs: (job: JobNumber, attempt: number) => number;
  /** How an attempt ends by itself; default: with exit code 0. */
  readonly ends?: (job: JobNumber, attempt: number) => Pick<AttemptEnd, "code" | "signal" | "cpuMs">;
  /** Whether it keeps no record of attempts, as conductors of earlier versions; default false. */
  readonly forgets?: boolean;
  /** On a machine without slots: how long a launched attempt takes until its command begins; default 0. */
  readonly beginMs?: (job: JobNumber) => number;
  /** Whether rows take turns; if not, a process runs as soon as it is launched. */
  readonly slotMs?: number | undefined;
}

/** The executor and its processes. Outlives front ends; `report` sends to all listeners. */
export class FakeMachine implements Executor {
  connected = false;
  readonly attempts = new Map<string, FakeAttempt>();
  /** Every launch that made a process. */
  readonly launched: string[] = [];
  readonly sent: Command[] = [];
  matrix: Matrix | undefined;
  capabilities: Capabilities = {
    tasksRunEach: true,
    modeConcurrent: true,
    canPause: true,
    beginsAtOnce: true,
    timeSharing: true,
    signalsBeforeLimit: true,
    resources: true,
    movesGangs: true,
    offByWord: "it is one machine",
    endsWithReboot: true,
    hasNodes: false,
  };
  trouble: string | undefined;
  /** If true, jobs do not obey commands to stop. */
  isDeaf = false;
  hindrance: (attempt: AttemptKey) => Hindrance | undefined = () => undefined;
  capacity: Capacity = { nodes: new NodeTable([]), memoryBytes: Number.POSITIVE_INFINITY };
  readonly #options: FakeMachineOptions;
  readonly #listeners = new Set<(report: Report) => void>();
  readonly #disconnects = new Set<(reason: string) => void>();
  #isTicking = false;

  constructor(options: FakeMachineOptions) {
    this.#options = options;
  }

  apply(commands: readonly Command[]): void {
    for (const command of commands) if (this.connected) this.#do(command);
  }

  #do(command: Command): void {
    this.sent.push(command);
    switch (command.type) {
      case "matrix":
        this.matrix = command.matrix;
        if (this.#options.slotMs !== undefined) this.#tick();
        else this.#stopAndContinue();
        return;
      case "launch":
        this.#launch(command.spec);
        return;
      case "stop":
        if (!this.isDeaf) this.end(command.attempt, command.reason, { signal: "SIGTERM" });
        return;
      case "forget":
        if (this.attempts.get(keyOf(command.attempt))?.phase === "ended") {
          this.attempts.delete(keyOf(command.attempt));
        }
        return;
      default:
    }
  }

  listen(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void {
    this.#listeners.add(onReport);
    this.#disconnects.add(onDisconnect);
    return () => {
      this.#listeners.delete(onReport);
      this.#disconnects.delete(onDisconnect);
    };
  }

  close(): void {
    this.connected = false;
  }

  connect(): void {
    this.connected = true;
    this.#emit(this.connection());
  }

  /** All that it says to a front end that connects. */
  connection(): Connected {
    return {
      type: "connected",
      attempts: [...this.attempts.values()].map(({ job, attempt, phase, ran, end, spec, ...noted }) => ({
        job,
        attempt,
        ...this.#identityOf(spec),
        ...(this.#keepsRecord && { record: recordOf(noted) }),
        about: { uid: JOBS_UID, command: spec.command, cwd: spec.cwd, folder: spec.folder },
        phase,
        ranMs: ran * (this.#options.slotMs ?? 1),
        ...(end !== undefined && { end }),
      })),
      sequence: this.matrix?.sequence ?? 0,
      facts: { pid: 1, freezer: "signals" },
      epochMs: 0,
    };
  }

  disconnect(): void {
    this.connected = false;
    for (const listener of [...this.#disconnects]) listener("the conductor has gone");
  }

  /** Removes all listeners, as if their front end was killed. */
  forgetListeners(): void {
    this.connected = false;
    this.#listeners.clear();
    this.#disconnects.clear();
  }

  /** Removes all processes and all knowledge about them, as a reboot does. */
  reboot(): void {
    for (const attempt of this.attempts.values()) attempt.cancelTimer?.();
    this.attempts.clear();
    this.matrix = undefined;
  }

  /** Writes the file that a shim leaves in the attempt's folder at its start. */
  claim(key: AttemptKey): void {
    const { folder } = this.attempts.get(keyOf(key))!.spec;
    writeFileSync(join(folder, "claim"), "");
  }

  /** Ends a process. */
  end(
    key: AttemptKey,
    reason: EndReason,
    how: Pick<AttemptEnd, "code" | "signal" | "lost" | "neverBegan">,
  ): void {
    const attempt = this.attempts.get(keyOf(key));
    if (attempt === undefined || attempt.phase === "ended") return;
    attempt.cancelTimer?.();
    attempt.phase = "ended";
    const { clock } = this.#options;
    const endedAtMs = clock.unixMs();
    attempt.end = {
      job: key.job,
      attempt: key.attempt,
      ...this.#identityOf(attempt.spec),
      reason,
      ...how,
      ...(this.#keepsRecord && attempt.startedAtMs !== undefined && { startedAtMs: attempt.startedAtMs }),
      endedAtMs,
      clocks: clocksNow("boot", clock, endedAtMs),
      ranMs: attempt.ran * (this.#options.slotMs ?? 1),
    };
    this.#emit({ type: "ended", end: attempt.end });
  }

  get #keepsRecord(): boolean {
    return this.#options.forgets !== true;
  }

  #identityOf({ identity }: LaunchSpec): { readonly identity?: string } {
    return identity !== undefined ? { identity } : {};
  }

  #launch(spec: LaunchSpec): void {
    const { job, attempt } = spec;
    const key = keyOf({ job, attempt });
    const { clock, slotMs, runMs } = this.#options;
    const known = this.attempts.get(key);
    if (known !== undefined) {
      if (known.end !== undefined) this.#emit({ type: "ended", end: known.end });
      else if (known.phase === "running") this.#sayLaunched(known, clock.unixMs());
      return;
    }
    if (this.launched.includes(key)) {
      // The folder shows that the attempt was started before.
      const end = {
        job,
        attempt,
        ...this.#identityOf(spec),
        reason: "none",
        lost: "gone",
        endedAtMs: clock.unixMs(),
        ranMs: 0,
      } as const;
      this.#emit({ type: "ended", end });
      return;
    }
    this.launched.push(key);
    const workMs = runMs(job, attempt);
    const left = slotMs === undefined ? workMs : slotsOfWork(workMs / 1000, slotMs / 1000);
    const entry: FakeAttempt = {
      job,
      attempt,
      spec,
      left,
      ran: 0,
      sinceMs: 0,
      phase: "launching",
      startedAtMs: undefined,
      pausedAtMs: undefined,
      end: undefined,
      cancelTimer: undefined,
    };
    this.attempts.set(key, entry);
    if (slotMs !== undefined) return;
    const begin = (): void => {
      if (entry.phase === "ended") return;
      this.#sayLaunched(entry, clock.unixMs());
      this.#stopAndContinue();
    };
    const beginMs = this.#options.beginMs?.(job) ?? 0;
    if (beginMs === 0) begin();
    else clock.at(clock.nowMs() + beginMs, begin);
  }

  /** Without slots, a process runs unless it is paused. */
  #stopAndContinue(): void {
    const paused = new Set(this.matrix?.paused?.map(keyOf));
    for (const [key, attempt] of this.attempts) {
      attempt.pausedAtMs = paused.has(key) ? (attempt.pausedAtMs ?? this.#options.clock.unixMs()) : undefined;
      if (attempt.phase !== "running") continue;
      if (!paused.has(key)) this.#continue(attempt);
      else if (attempt.cancelTimer !== undefined) {
        attempt.cancelTimer();
        attempt.cancelTimer = undefined;
        const ranMs = this.#options.clock.nowMs() - attempt.sinceMs;
        attempt.left -= ranMs;
        attempt.ran += ranMs;
      }
    }
  }

  #continue(attempt: FakeAttempt): void {
    if (attempt.cancelTimer !== undefined) return;
    const { clock } = this.#options;
    attempt.sinceMs = clock.nowMs();
    attempt.cancelTimer = clock.at(attempt.sinceMs + attempt.left, () => {
      attempt.ran += attempt.left;
      this.end(attempt, "none", this.#endOf(attempt));
    });
  }

  /** Called at the end of each slot, which its row has used then. */
  #tick(): void {
    const { clock, slotMs = 1 } = this.#options;
    if (this.#isTicking || !this.matrix?.rows.some((gangs) => gangs.length > 0)) return;
    this.#isTicking = true;
    const slot = Math.floor(clock.nowMs() / slotMs);
    clock.at((slot + 1) * slotMs, () => {
      this.#isTicking = false;
      this.#serve(slot);
      this.#tick();
    });
  }

  #serve(slot: number): void {
    const { slotMs = 1 } = this.#options;
    // None after a reboot.
    const { rows, fromSlot = 0 } = this.matrix ?? { rows: [] };
    const count = rows.length;
    if (count === 0) return;
    const row = rows[(((slot - fromSlot) % count) + count) % count];
    for (const key of row) {
      const attempt = this.attempts.get(keyOf(key));
      if (attempt === undefined || attempt.phase === "ended") continue;
      if (attempt.phase === "launching") this.#sayLaunched(attempt, slot * slotMs);
      attempt.ran++;
      if (--attempt.left <= 0) this.end(attempt, "none", this.#endOf(attempt));
    }
  }

  #endOf({ job, attempt }: AttemptKey): Pick<AttemptEnd, "code" | "signal" | "cpuMs"> {
    return this.#options.ends?.(job, attempt) ?? { code: 0 };
  }

  #sayLaunched(attempt: FakeAttempt, startedAtMs: number): void {
    attempt.phase = "running";
    attempt.startedAtMs ??= startedAtMs;
    this.#emit({
      type: "launched",
      attempt: { job: attempt.job, attempt: attempt.attempt },
      ...this.#identityOf(attempt.spec),
      shim: { bootId: "boot", pid: attempt.job, startTicks: attempt.attempt },
      startedAtMs,
    });
  }

  /** Sends any report, even an invalid one. */
  report(report: Report): void {
    this.#emit(report);
  }

  #emit(report: Report): void {
    if (!this.connected) return;
    for (const listener of [...this.#listeners]) listener(report);
  }
}

function recordOf({
  startedAtMs,
  pausedAtMs,
}: Pick<FakeAttempt, "startedAtMs" | "pausedAtMs">): AttemptRecord {
  return {
    version: 1,
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(pausedAtMs !== undefined && { pausedAtMs }),
  };
}

function keyOf({ job, attempt }: AttemptKey): string {
  return `${job}/${attempt}`;
}
