/** Sets up a front end with a fake clock and a fake machine. */
import { mkdirSync } from "node:fs";
import type { Clock } from "@tutti/host/clock.ts";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { type NodeCpus, NodeTable, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { type Answer, isRefusal } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { type Config, DEFAULT_CONFIG } from "../config/config.ts";
import type { Caller, Change, JobQuery } from "../contract/service.ts";
import type { Accounts } from "../executor/accounts.ts";
import type { Capabilities } from "../executor/executor.ts";
import { Launcher } from "../executor/launcher.ts";
import type { NumbersFile } from "../state/numbers.ts";
import type { StateWatch } from "../state/state-watch.ts";
import { Store } from "../store/store.ts";
import { FakeMachine, type FakeMachineOptions, JOBS_UID } from "./fake-machine-for-tests.ts";
import { FrontEnd } from "./front-end.ts";
import type { RetentionLimits } from "./retention.ts";

export const ANNA: Caller = { uid: JOBS_UID, user: "anna", isAdministrator: false };
export const BEN: Caller = { uid: 1002, user: "ben", isAdministrator: false };
export const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };

export function request(fields: Partial<SubmitJob> = {}): SubmitJob {
  return { command: ["true"], cwd: "/", env: {}, ...fields };
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
export class MortalClock implements Clock {
  isDead = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs = () => this.#clock.nowMs();
  unixMs = () => this.#clock.unixMs();
  bootMs = () => this.#clock.bootMs();
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
  readonly ends?: FakeMachineOptions["ends"] | undefined;
  /** Whether the fake machine gives rows their slots. */
  readonly slotted?: boolean;
  readonly path?: string;
  readonly observer?: Observer;
  readonly memoryBytes?: number;
  /** Left out: it can do everything. */
  readonly capabilities?: Partial<Capabilities>;
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
  readonly isUser?: (name: string) => boolean;
  readonly groupsOf?: (owner: { readonly user: string }) => readonly string[];
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
      ...(options.ends !== undefined && { ends: options.ends }),
      slotMs: options.slotted ? config.slotMs : undefined,
    });
  const store = options.store ?? new Store(options.path ?? ":memory:", 0);
  const cpus = Array.from({ length: options.cpus ?? 4 }, (_, i) => i);
  machine.capacity = {
    nodes: new NodeTable(options.nodes ?? [{ node: THIS_NODE, cpus }]),
    memoryBytes: options.memoryBytes ?? Number.POSITIVE_INFINITY,
  };
  const isHere = options.nodes?.some(({ node }) => node === THIS_NODE) ?? true;
  const elsewhere = { movesGangs: false, endsWithReboot: false, hasNodes: true };
  machine.capabilities = { ...machine.capabilities, ...(!isHere && elsewhere), ...options.capabilities };
  // As at each start of the scheduler.
  if (options.jobsFolder !== undefined) mkdirSync(options.jobsFolder, { recursive: true });
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
    isUser: options.isUser,
    groupsOf: options.groupsOf,
    launcher: new (options.jobsFolder === undefined ? FolderlessLauncher : Launcher)({
      jobsFolder: options.jobsFolder ?? "/nowhere",
      graceMs: 1000,
      resources: config.resources,
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

/**
 * Submits each job of the instance at its time, and runs everything to its end. Job n becomes job n + 1.
 * @param leadMs submits each job so much earlier, with a begin at its time
 * @param more what else the job of a row asks for
 */
export function runInstance(
  bench: Bench,
  instance: Instance,
  leadMs = 0,
  more: (row: number) => Partial<SubmitJob> = () => ({}),
): void {
  const { clock, frontEnd } = bench;
  for (let row = 0; row < instance.count; row++) {
    const beginAtMs = instance.submitS[row] * 1000;
    clock.at(Math.max(0, beginAtMs - leadMs), () => {
      void frontEnd.submit(ANNA, [
        request({
          tasks: instance.size[row],
          limitMs: instance.estimateS[row] * 1000,
          ...(leadMs > 0 && { beginAtMs }),
          ...more(row),
        }),
      ]);
    });
  }
  runToEnd(clock);
}

/** An answer as clients receive it: JSON leaves out fields that are undefined. */
export function asSent<Answer>(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer)) as Answer;
}
