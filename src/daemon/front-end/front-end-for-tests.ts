/** Sets up a front end with a fake clock and a fake machine, whose processes are only running times. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "../../core/jobs.ts";
import { type NodeCpus, NodeTable, THIS_NODE } from "../../core/machine.ts";
import type { PolicyDefinition } from "../../core/policy.ts";
import type { Observer } from "../../core/schedule.ts";
import type { Clock } from "../../host/clock.ts";
import { FakeClock } from "../../host/clock-for-tests.ts";
import type {
  AttemptEnd,
  AttemptKey,
  AttemptState,
  EndReason,
  JobNumber,
  LaunchSpec,
} from "../../protocol/attempts.ts";
import { type Answer, isRefusal } from "../../protocol/refusal.ts";
import type { Job, SubmitJob } from "../../protocol/schema.ts";
import { slotsOfWork } from "../../simulator/gang-work.ts";
import { type Config, DEFAULT_CONFIG } from "../config/config.ts";
import type { Caller, Change, JobQuery } from "../contract/service.ts";
import type { Accounts } from "../executor/accounts.ts";
import type { Capacity, Command, Executor, Matrix, Report } from "../executor/executor.ts";
import { Launcher } from "../executor/launcher.ts";
import type { NumbersFile } from "../state/numbers.ts";
import type { StateWatch } from "../state/state-watch.ts";
import { Store } from "../store/store.ts";
import { FrontEnd } from "./front-end.ts";
import type { RetentionLimits } from "./retention.ts";

export const ANNA: Caller = { uid: 1001, user: "anna", isAdministrator: false };
export const BEN: Caller = { uid: 1002, user: "ben", isAdministrator: false };
export const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };

export function request(fields: Partial<SubmitJob> = {}): SubmitJob {
  return { command: ["true"], cwd: "/", env: {}, ...fields };
}

interface FakeAttempt extends AttemptKey {
  readonly spec: LaunchSpec;
  /** Remaining work: in ms on a machine without slots, else in slots. */
  left: number;
  ran: number;
  phase: AttemptState["phase"];
  end: AttemptState["end"];
  cancelTimer: (() => void) | undefined;
}

export interface FakeMachineOptions {
  readonly clock: Clock;
  /** Running time of a job's attempt in ms. */
  readonly runMs: (job: JobNumber, attempt: number) => number;
  /** Protocol version; default 2. */
  readonly protocol?: 1 | 2;
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
        return;
      case "launch":
        this.#launch(command.spec);
        return;
      case "stop":
        this.end(command.attempt, command.reason, { signal: "SIGTERM" });
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
    this.#emit({
      type: "connected",
      knowsIdentities: this.#speaks2,
      attempts: [...this.attempts.values()].map(({ job, attempt, phase, ran, end, spec }) => ({
        job,
        attempt,
        ...this.#identityOf(spec),
        ...(this.#speaks2 && {
          about: { uid: ANNA.uid, command: spec.command, cwd: spec.cwd, folder: spec.folder },
        }),
        phase,
        ranMs: ran * (this.#options.slotMs ?? 1),
        ...(end !== undefined && { end }),
      })),
      sequence: this.matrix?.sequence ?? 0,
      facts: { pid: 1, freezer: "signals" },
      epochMs: 0,
    });
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
    attempt.end = {
      job: key.job,
      attempt: key.attempt,
      ...this.#identityOf(attempt.spec),
      reason,
      ...how,
      endedAtMs: this.#options.clock.unixMs(),
      ranMs: attempt.ran * (this.#options.slotMs ?? 1),
    };
    this.#emit({ type: "ended", end: attempt.end });
  }

  get #speaks2(): boolean {
    return this.#options.protocol !== 1;
  }

  #identityOf({ identity }: LaunchSpec): { readonly identity?: string } {
    return this.#speaks2 && identity !== undefined ? { identity } : {};
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
      phase: "launching",
      end: undefined,
      cancelTimer: undefined,
    };
    this.attempts.set(key, entry);
    if (slotMs !== undefined) return;
    this.#sayLaunched(entry, clock.unixMs());
    entry.cancelTimer = clock.at(clock.nowMs() + workMs, () => {
      entry.ran = workMs;
      this.end(entry, "none", { code: 0 });
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
    const { rows, fromSlot = 0 } = this.matrix!;
    const count = rows.length;
    if (count === 0) return;
    const row = rows[(((slot - fromSlot) % count) + count) % count];
    for (const key of row) {
      const attempt = this.attempts.get(keyOf(key));
      if (attempt === undefined || attempt.phase === "ended") continue;
      if (attempt.phase === "launching") this.#sayLaunched(attempt, slot * slotMs);
      attempt.ran++;
      if (--attempt.left <= 0) this.end(attempt, "none", { code: 0 });
    }
  }

  #sayLaunched(attempt: FakeAttempt, startedAtMs: number): void {
    attempt.phase = "running";
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

export interface Bench {
  readonly clock: FakeClock;
  readonly machine: FakeMachine;
  readonly store: Store;
  readonly frontEnd: BenchFrontEnd;
  /** Kills the front end between two instructions; clock and machine go on. */
  readonly kill: () => void;
}

/** A clock that stops calling after its user was killed. */
class MortalClock implements Clock {
  isDead = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs = () => this.#clock.nowMs();
  unixMs = () => this.#clock.unixMs();
  at = (atMs: number, call: () => void) => this.#clock.at(atMs, () => this.#pass(call));
  soon = (call: () => void) => this.#clock.soon(() => this.#pass(call));

  #pass(call: () => void): void {
    if (!this.isDead) call();
  }
}

export interface BenchOptions {
  readonly cpus?: number;
  /** Left out: one node with `cpus` CPUs. */
  readonly nodes?: readonly NodeCpus[];
  readonly config?: Partial<Config>;
  readonly runMs?: FakeMachineOptions["runMs"];
  /** Whether the fake machine gives rows their slots. */
  readonly slotted?: boolean;
  readonly path?: string;
  readonly observer?: Observer;
  readonly memoryBytes?: number;
  readonly clock?: FakeClock;
  readonly machine?: FakeMachine;
  readonly store?: Store;
  readonly connected?: boolean;
  readonly bootId?: string;
  readonly policy?: string;
  readonly ownPolicy?: PolicyDefinition | undefined;
  /** Left out: all jobs run as the user of the test. */
  readonly accounts?: Accounts;
  /** Left out: no forecasts are made. */
  readonly jobsFolder?: string;
  readonly retentionLimits?: Partial<RetentionLimits>;
  readonly maxStoreBytes?: number;
  readonly numbers?: NumbersFile;
  readonly watch?: StateWatch;
  readonly forecastEngine?: ConstructorParameters<typeof FrontEnd>[0]["forecastEngine"];
}

class FolderlessLauncher extends Launcher {
  override jobsWithFolders = () => [];
  override latestStart = () => 0;
  override isPrepared = () => true;
  override prepare = () => {};
  override remove = async () => true;
}

class BenchFrontEnd extends FrontEnd {
  /** All of a short list at once. */
  jobs(caller: Caller, query: JobQuery): readonly Job[] {
    return [...this.list(caller, query)].flat();
  }

  cancel = (caller: Caller, job: JobNumber) => this.#changeOne(caller, { action: "cancel" }, job);
  hold = (caller: Caller, job: JobNumber) => this.#changeOne(caller, { action: "hold" }, job);
  release = (caller: Caller, job: JobNumber) => this.#changeOne(caller, { action: "release" }, job);
  requeue = (caller: Caller, job: JobNumber) => this.#changeOne(caller, { action: "requeue" }, job);
  setPriority = (caller: Caller, job: JobNumber, priority: number) =>
    this.#changeOne(caller, { action: "priority", priority }, job);

  async #changeOne(caller: Caller, change: Change, job: JobNumber): Promise<Answer<Job>> {
    const answer = await this.change(caller, change, [job]);
    return isRefusal(answer) ? answer : answer[0];
  }
}

/** A front end that is ready for jobs, with everything around it. */
export function makeBench(options: BenchOptions = {}): Bench {
  const config: Config = { ...DEFAULT_CONFIG, maxRows: Number.POSITIVE_INFINITY, ...options.config };
  const clock = options.clock ?? new FakeClock();
  const machine =
    options.machine ??
    new FakeMachine({
      clock,
      runMs: options.runMs ?? (() => 1000),
      slotMs: options.slotted ? config.slotMs : undefined,
    });
  const store = options.store ?? new Store(options.path ?? ":memory:", 0);
  const cpus = Array.from({ length: options.cpus ?? 4 }, (_, i) => i);
  machine.capacity = {
    nodes: new NodeTable(options.nodes ?? [{ node: THIS_NODE, cpus }]),
    memoryBytes: options.memoryBytes ?? Number.POSITIVE_INFINITY,
  };
  const mortal = new MortalClock(clock);
  const frontEnd = new BenchFrontEnd({
    store,
    numbers: options.numbers,
    watch: options.watch,
    executor: machine,
    clock: mortal,
    config,
    bootId: options.bootId ?? "boot",
    policy: options.policy,
    ownPolicy: options.ownPolicy,
    launcher: new (options.jobsFolder === undefined ? FolderlessLauncher : Launcher)({
      jobsFolder: options.jobsFolder ?? "/nowhere",
      graceMs: 1000,
      accounts: options.accounts ?? (() => ({ uid: process.getuid!(), gid: process.getgid!() })),
    }),
    ...(options.forecastEngine !== undefined && { forecastEngine: options.forecastEngine }),
    ...(options.observer !== undefined && { observer: options.observer }),
    ...(options.retentionLimits !== undefined && { retentionLimits: options.retentionLimits }),
    ...(options.maxStoreBytes !== undefined && { maxStoreBytes: options.maxStoreBytes }),
  });
  if (options.connected !== false) machine.connect();
  clock.settle();
  const kill = (): void => {
    mortal.isDead = true;
    machine.forgetListeners();
    store.close();
  };
  return { clock, machine, store, frontEnd, kill };
}

/** Lets everything that is due happen, then returns the answer. */
export async function answerOf<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  clock.settle();
  return await promise;
}

/** Lets time pass until nothing more is due. */
export function runToEnd(clock: FakeClock, maxMs = Number.POSITIVE_INFINITY): void {
  clock.settle();
  for (let nextMs = clock.nextMs(); nextMs < maxMs; nextMs = clock.nextMs()) clock.advanceTo(nextMs);
}

/** Submits each job of the instance at its time, and runs everything to its end. Job n becomes job n + 1. */
export function runInstance(bench: Bench, instance: Instance): void {
  const { clock, frontEnd } = bench;
  for (let row = 0; row < instance.count; row++) {
    clock.at(instance.submitS[row] * 1000, () => {
      void frontEnd.submit(ANNA, [
        request({ tasks: instance.size[row], limitMs: instance.estimateS[row] * 1000 }),
      ]);
    });
  }
  runToEnd(clock);
}

function keyOf({ job, attempt }: AttemptKey): string {
  return `${job}/${attempt}`;
}
