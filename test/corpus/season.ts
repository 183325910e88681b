/**
 * Days of a scheduler, made of everything that users, administrators and the world do: jobs of all kinds,
 * edits, pauses, windows, limits, other policies, nodes that come and go, crashes, clocks that are set. The
 * seed says what happens. Real front ends write the stores; only the machine and the clock are replaced.
 */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { readConfig } from "@tutti/live/daemon/config/config.ts";
import type { Caller, Change } from "@tutti/live/daemon/contract/service.ts";
import type { Connected } from "@tutti/live/daemon/executor/executor.ts";
import { FakeMachine } from "@tutti/live/daemon/front-end/fake-machine-for-tests.ts";
import { type Bench, makeBench, ROOT, request } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import type { AttemptKey, EndReason } from "@tutti/protocol/attempts.ts";
import type { Job, SubmitJob, UpdateBody } from "@tutti/protocol/schema.ts";
import { groupsOf, USERS } from "./play.ts";
import type { RecordedState } from "./state.ts";

const S = 1000;
const MINUTE = 60 * S;
const HOUR = 60 * MINUTE;
/** Thursday, 2026-01-01. */
const START_UNIX_MS = 1_767_225_600_000;
const SLOT_MS = 20 * S;

const QUEUES = [
  { name: "short", processors: 4, elapsedBelowS: 1800, defaultLimitMs: 600_000, aliases: ["debug"] },
  { name: "wide", processors: 16, runningJobs: 6 },
  { name: "all", processors: 1_000_000, waitingJobs: 500 },
];
const RESOURCES = { gpu: ["0", "1", "2", "3"], licence: 3, disk: { units: 2, shared: true } };

export const SPACE = ["fcfs", "first-fit", "easy", "conservative", "fpmpfs", "dynp", "easy:order=fair-share"];
export const GANGS = ["gang", "buddy", "brmms:queue=first-fit", "wlv:queue=first-fit", "brms"];

/** Settings of the scheduler that a season begins with. */
export function settingsOf(random: Random, isSlotted: boolean): Record<string, unknown> {
  return {
    policy: pick(random, isSlotted ? GANGS : SPACE),
    slotMs: SLOT_MS,
    maxRows: isSlotted ? 3 : 1,
    keepJobs: pick(random, [30, 60, 100_000]),
    keepDays: pick(random, [1, 30]),
    ...(random.below(3) > 0 && { queues: QUEUES }),
    ...(random.below(3) > 0 && { resources: RESOURCES }),
    ...(random.below(2) > 0 && { shares: sharesOf(random) }),
    ...(random.below(2) > 0 && { limits: limitsOf(random) }),
    ...(random.below(4) === 0 && !isSlotted && { pack: "whole-node" }),
  };
}

function sharesOf(random: Random): object {
  const users = { anna: 1 + random.below(4), carl: 2 };
  return random.below(2) === 0
    ? { halfLifeDays: 0.1, users }
    : { halfLifeDays: 1, users: { carl: 2 }, groups: { lab: { shares: 3, users: { anna: 1, ben: 2 } } } };
}

function limitsOf(random: Random): object {
  return {
    ...(random.below(2) === 0 && { runningCpus: 4 + random.below(8) }),
    ...(random.below(2) === 0 && { runningJobs: 2 + random.below(5) }),
    ...(random.below(2) === 0 && { cpuHours: 1 + random.below(8) }),
    ...(random.below(2) === 0 && { users: { anna: { runningJobs: 3 }, ben: { runningCpus: 5 } } }),
    ...(random.below(2) === 0 && { groups: { physics: { runningCpus: 10, cpuHours: 12 } } }),
  };
}

/** Jobs that reach their limit end as the conductor would end them. */
class Machine extends FakeMachine {
  readonly isTooLong: (attempt: AttemptKey) => boolean;

  constructor(options: ConstructorParameters<typeof FakeMachine>[0], isTooLong: Machine["isTooLong"]) {
    super(options);
    this.isTooLong = isTooLong;
  }

  override end(key: AttemptKey, reason: EndReason, how: Parameters<FakeMachine["end"]>[2]): void {
    if (reason === "none" && how.lost === undefined && this.isTooLong(key))
      super.end(key, "time-limit", { signal: "SIGTERM" });
    else super.end(key, reason, how);
  }
}

export class Season {
  readonly #random: Random;
  readonly #folder: string;
  readonly #clock = new FakeClock(HOUR);
  readonly #machine: Machine;
  readonly #isSlotted: boolean;
  readonly #allNodes: readonly NodeCpus[];
  #nodes: readonly NodeCpus[];
  #settings: Record<string, unknown>;
  #bench: Bench;
  #boots = 1;
  #isUp = true;
  readonly #name: string;
  readonly #seed: number;
  /** How often each thing was done. */
  readonly done: Record<string, number> = {};

  constructor(seed: number, folder: string) {
    this.#seed = seed;
    this.#random = new Random(seed, "season");
    this.#folder = folder;
    this.#isSlotted = seed % 3 === 2;
    this.#name = `season ${seed}`;
    this.#settings = settingsOf(this.#random, this.#isSlotted);
    this.#clock.unixOffsetMs = START_UNIX_MS + seed * 7 * HOUR;
    const count = 1 + this.#random.below(3);
    this.#allNodes = Array.from({ length: count }, (_, i) => ({
      node: count === 1 ? "localhost" : `n${i + 1}`,
      cpus: Array.from({ length: count === 1 ? 8 : 4 }, (_, cpu) => cpu),
    }));
    this.#nodes = this.#allNodes;
    this.#machine = new Machine(
      {
        clock: this.#clock,
        runMs: (job, attempt) => Math.min(this.#workMs({ job, attempt }), this.#limitMs(job)),
        ends: (job, attempt) => this.#endOf(job, attempt),
        slotMs: this.#isSlotted ? SLOT_MS : undefined,
      },
      (key) => this.#workMs(key) > this.#limitMs(key.job),
    );
    this.#bench = this.#open();
  }

  #drawn({ job, attempt }: AttemptKey, stream: string): Random {
    return new Random(this.#seed * 1_000_003 + job * 17 + attempt, stream);
  }

  #workMs(key: AttemptKey): number {
    const u = this.#drawn(key, "work").uniform();
    return Math.round(20 * S * 400 ** u) + 7;
  }

  #limitMs(job: number): number {
    const found = this.#bench.frontEnd.job(ROOT, job);
    return "job" in found ? (found.limitMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  }

  #endOf(job: number, attempt: number) {
    const random = this.#drawn({ job, attempt }, "end");
    const cpuMs = Math.round(this.#workMs({ job, attempt }) * random.uniform());
    const how = random.below(10);
    if (how === 0) return { code: 1 + random.below(3), cpuMs };
    if (how === 1) return { signal: "SIGSEGV", cpuMs };
    return { code: 0, cpuMs };
  }

  #open(): Bench {
    return makeBench({
      clock: this.#clock,
      machine: this.#machine,
      path: join(this.#folder, "tutti.db"),
      bootId: `boot ${this.#boots}`,
      nodes: this.#nodes,
      memoryBytes: 2 ** 35,
      connected: this.#isUp,
      groupsOf,
      retentionLimits: {},
      config: readConfig(JSON.stringify(this.#settings), "season.json").config,
    });
  }

  /** Does something, then lets time pass. */
  async step(): Promise<void> {
    const random = this.#random;
    const does = pick(random, ACTIONS);
    this.done[does] = (this.done[does] ?? 0) + 1;
    await this.#do(does);
    this.#clock.settle();
    const passMs = random.below(3) === 0 ? 0 : Math.round(S * 900 ** random.uniform());
    this.#clock.advanceTo(this.#clock.nowMs() + passMs);
    if (random.below(4) === 0) {
      void this.#bench.frontEnd.forecaster.present();
      this.#bench.frontEnd.retention.step();
    }
    await new Promise((resolve) => setImmediate(resolve));
    this.#clock.settle();
  }

  /** What a front end would find that started now. */
  record(): RecordedState {
    const { store } = this.#bench;
    const nowMs = this.#clock.nowMs();
    return {
      name: `${this.#name}, ${Math.round((nowMs - HOUR) / S)} s`,
      config: this.#settings,
      nowMs,
      unixMs: this.#clock.unixMs(),
      bootMs: this.#clock.bootMs(),
      bootId: `boot ${this.#boots}`,
      nodes: this.#nodes,
      memoryBytes: 2 ** 35,
      ...(this.#isUp && { connected: this.#connected() }),
      store: copyOf(store.path, join(this.#folder, "copy.db")),
    };
  }

  end(): void {
    this.#bench.frontEnd.stop();
    this.#bench.kill();
  }

  #connected(): Connected {
    const said = this.#machine.connection();
    const nowMs = this.#clock.nowMs();
    const attempts = said.attempts.map((state) => {
      const { phase, sinceMs, pausedAtMs } = this.#machine.attempts.get(`${state.job}/${state.attempt}`)!;
      const isRunning = !this.#isSlotted && phase === "running" && pausedAtMs === undefined;
      return {
        ...state,
        ranMs: state.ranMs + (isRunning ? nowMs - sinceMs : 0),
        about: { ...state.about!, uid: USERS[0].uid },
      };
    });
    return { ...said, attempts };
  }

  #user(): Caller {
    return pick(this.#random, USERS);
  }

  /** A job in one of the states; undefined: there is none. */
  #some(...states: Job["state"][]): number | undefined {
    const jobs = this.#bench.frontEnd.jobs(ROOT, { states });
    return jobs.length === 0 ? undefined : pick(this.#random, jobs).job;
  }

  async #change(change: Change, ...states: Job["state"][]): Promise<void> {
    const job = this.#some(...states);
    if (job !== undefined) await this.#settled(this.#bench.frontEnd.change(ROOT, change, [job]));
  }

  async #settled<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#clock.settle();
    return await answer;
  }

  async #do(does: (typeof ACTIONS)[number]): Promise<void> {
    const random = this.#random;
    const { frontEnd } = this.#bench;
    switch (does) {
      case "submit":
        return this.#submit([this.#job()]);
      case "burst":
        return this.#submit(Array.from({ length: 2 + random.below(5) }, () => this.#job()));
      case "array":
        return this.#submit([{ ...this.#job(), array: pick(random, ["1-5", "0-12:3%2", "1,4,9"]) }]);
      case "sweep": {
        const values = { lr: ["0.1", "0.01", "0.001"], seed: ["1", "2", "3"] };
        return this.#submit([{ ...this.#job(), command: ["train", "{lr}", "{seed}"], values }]);
      }
      case "workflow": {
        const after = (entry: number, more: object = { ok: true }) => ({
          after: [{ entry, ok: false, ...more }],
        });
        return this.#submit([
          { ...this.#job(), name: "prepare" },
          { ...this.#job(), name: "solve", array: "1-3", ...after(0) },
          { ...this.#job(), name: "check", array: "1-3", ...after(1, { kind: "each" }) },
          { ...this.#job(), name: "report", ...after(2) },
          { ...this.#job(), name: "alarm", ...after(1, { kind: "notok" }) },
        ]);
      }
      case "after": {
        const job = this.#some("queued", "running", "held");
        if (job === undefined) return;
        return this.#submit([{ ...this.#job(), after: [{ job, ok: random.below(2) === 0 }] }]);
      }
      case "hold":
        return this.#change({ action: "hold" }, "queued");
      case "release":
        return this.#change({ action: "release" }, "held");
      case "cancel":
        return this.#change({ action: "cancel" }, "queued", "running", "held", "paused");
      case "pause":
        return this.#change({ action: "pause", ...(random.below(2) === 0 && { release: true }) }, "running");
      case "resume":
        return this.#change({ action: "resume" }, "paused");
      case "requeue":
        return this.#change({ action: "requeue", ...(random.below(3) === 0 && { hold: true }) }, "running");
      case "priority":
        return this.#change({ action: "priority", priority: random.below(41) - 20 }, "queued", "held");
      case "update":
        return this.#change({ action: "update", update: this.#update() }, "queued", "held");
      case "update running": {
        const update = { name: "renamed while it ran", retries: 2, retryOn: ["fail"], retryDelayMs: 5 * S };
        return this.#change({ action: "update", update }, "running");
      }
      case "rerun": {
        const job = this.#some("done", "failed", "cancelled");
        if (job !== undefined) await this.#settled(frontEnd.rerun(ROOT, [job]));
        return;
      }
      case "policy":
        await this.#settled(frontEnd.setPolicy(ROOT, pick(random, this.#isSlotted ? GANGS : SPACE)));
        return;
      case "drain": {
        await this.#settled(
          frontEnd.setDrain(ROOT, random.below(2) === 0 ? {} : { reason: "a disk is full" }),
        );
        return;
      }
      case "undrain":
        await this.#settled(frontEnd.setDrain(ROOT, undefined));
        return;
      case "window":
        return this.#reserve();
      case "unreserve": {
        const windows = frontEnd.windows();
        if (windows.length > 0) await this.#settled(frontEnd.unreserve(ROOT, pick(random, windows).name));
        return;
      }
      case "node lost":
        return this.#changeNodes(
          this.#nodes.filter(({ node }) => node === "localhost" || random.below(2) > 0),
        );
      case "nodes back":
        return this.#changeNodes(this.#allNodes);
      case "lost attempt": {
        const running = [...this.#machine.attempts.values()].filter(({ phase }) => phase === "running");
        if (running.length === 0) return;
        const key = pick(random, running);
        this.#machine.end(key, "none", { lost: "its shim was killed" });
        return;
      }
      case "conductor away":
        if (this.#isUp) this.#machine.disconnect();
        this.#isUp = false;
        return;
      case "conductor back":
        if (!this.#isUp) this.#machine.connect();
        this.#isUp = true;
        return;
      case "crash":
        return this.#restart(() => {});
      case "other settings":
        return this.#restart(() => {
          const { policy, ...settings } = settingsOf(random, this.#isSlotted);
          const keep = { keepJobs: this.#settings.keepJobs, keepDays: this.#settings.keepDays };
          this.#settings = { ...settings, ...keep, policy: this.#settings.policy };
        });
      case "reboot":
        return this.#restart(() => {
          this.#boots++;
          this.#machine.reboot();
        });
      case "clock set":
        this.#clock.step(pick(random, [-HOUR, -20 * S, 30 * S, 2 * HOUR]));
        return;
      case "suspended":
        this.#clock.suspend(10 * MINUTE);
        return;
    }
  }

  /** Kills the front end. What the machine does meanwhile is seen by the next one. */
  #restart(meanwhile: () => void): void {
    this.#bench.kill();
    this.#machine.forgetListeners();
    meanwhile();
    this.#clock.advanceTo(this.#clock.nowMs() + this.#random.below(5 * MINUTE));
    this.#isUp = true;
    this.#bench = this.#open();
  }

  async #submit(jobs: readonly SubmitJob[]): Promise<void> {
    const key = this.#random.below(5) === 0 ? { key: `key ${this.#random.below(1e9)}` } : {};
    await this.#settled(this.#bench.frontEnd.submit(this.#user(), jobs, key.key));
  }

  #job(): SubmitJob {
    const random = this.#random;
    const have = (parts: number) => random.below(parts) === 0;
    const limitMs = Math.round(MINUTE * 200 ** random.uniform());
    const { queues, resources } = this.#settings;
    const nowMs = this.#clock.unixMs();
    return request({
      command: [pick(random, ["solve", "render", "sh"]), "-n", String(random.below(100))],
      name: pick(random, ["solve", "render", "night run", "a=b c", "δ-scan"]),
      tasks: 1 + random.below(have(4) ? 8 : 3),
      ...(have(5) && { threads: 2 }),
      ...(!have(4) && { limitMs }),
      ...(have(4) && { memoryBytes: 2 ** 30 * (1 + random.below(12)) }),
      ...(resources !== undefined &&
        have(4) && { use: have(2) ? { gpu: 1 + random.below(2), licence: 1 } : { gpu: 1 } }),
      ...(queues !== undefined && have(3) && { queue: pick(random, ["debug", "short", "wide", "all"]) }),
      ...(have(5) && {
        retries: 1 + random.below(3),
        ...(have(2) && { retryOn: ["fail", "SIGSEGV"], retryDelayMs: 10 * S }),
      }),
      ...(have(8) && { held: true }),
      ...(have(8) && { beginAtMs: nowMs + random.below(2 * HOUR) }),
      ...(have(10) && { priority: -1 - random.below(10) }),
      ...(have(10) && { singleton: true }),
      ...(have(12) && { limitMs: 5 * MINUTE, limitSignal: { name: "SIGUSR1", beforeMs: MINUTE } }),
      ...(have(12) && { umask: "027", stdout: "/data/out-%j.txt" }),
    });
  }

  #update(): UpdateBody {
    const random = this.#random;
    const values: UpdateBody[] = [
      { name: pick(random, ["renamed", "two words", "tasks=9 name=x", "β"]) },
      { tasks: 1 + random.below(6) },
      { tasks: 2, threads: 2 },
      { limitMs: MINUTE * (1 + random.below(100)) },
      { memoryBytes: 2 ** 28 * (1 + random.below(9)) },
      { priority: random.below(20) },
      { beginAtMs: this.#clock.unixMs() + random.below(HOUR) },
      { retries: 3, retryOn: ["75", "SIGBUS"], retryDelayMs: 20 * S },
      ...(this.#settings.resources === undefined ? [] : [{ use: { gpu: 2, licence: 2 } }, { use: {} }]),
      ...(this.#settings.queues === undefined ? [] : [{ queue: "all" }, { queue: "wide" }]),
    ];
    return random.below(2) === 0
      ? pick(random, values)
      : { ...pick(random, values), ...pick(random, values) };
  }

  async #reserve(): Promise<void> {
    const random = this.#random;
    const nowMs = this.#clock.unixMs();
    const fromMs = nowMs + random.below(2 * HOUR);
    const window = {
      name: `w${random.below(1000)}`,
      ...(random.below(3) > 0 && { fromMs }),
      untilMs: fromMs + 10 * MINUTE + random.below(HOUR),
      ...(random.below(2) === 0 && { users: random.below(2) === 0 ? ["anna", "carl"] : ["ben"] }),
      ...(this.#settings.queues !== undefined && random.below(3) === 0 && { queues: ["short", "all"] }),
      ...(random.below(2) === 0 && { reason: "maintenance" }),
    };
    await this.#settled(this.#bench.frontEnd.reserve(ROOT, window));
  }

  #changeNodes(nodes: readonly NodeCpus[]): void {
    if (nodes.length === 0 || nodes.length === this.#nodes.length || !this.#isUp) return;
    const isLost = (name: string) => !nodes.some(({ node }) => node === name);
    const lost = [...this.#machine.attempts.values()].filter(
      ({ spec, phase }) => phase !== "ended" && spec.nodes?.some(({ node }) => isLost(node)),
    );
    this.#nodes = nodes;
    this.#machine.capacity = {
      nodes: new NodeTable(nodes),
      memoryBytes: 2 ** 35,
      whole: { nodes: new NodeTable(this.#allNodes), memoryBytes: 2 ** 35 },
    };
    this.#machine.report({ type: "capacity", because: "the cluster has other nodes" });
    for (const { job, attempt } of lost)
      this.#machine.end({ job, attempt }, "none", { lost: "its node was lost" });
  }
}

const ACTIONS = [
  ...Array<"submit">(14).fill("submit"),
  ...Array<"burst">(3).fill("burst"),
  ...(["array", "sweep", "workflow", "after", "after", "rerun"] as const),
  ...(["hold", "release", "release", "cancel", "pause", "resume", "requeue", "priority"] as const),
  ...(["update", "update", "update", "update running", "policy"] as const),
  ...(["drain", "undrain", "undrain", "window", "unreserve", "node lost", "nodes back"] as const),
  ...(["lost attempt", "conductor away", "conductor back", "conductor back"] as const),
  ...(["crash", "other settings", "reboot", "clock set", "suspended"] as const),
] as const;

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.below(values.length)];
}

/** A compact copy of a store that somebody has open. */
export function copyOf(path: string, copy: string): Uint8Array {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare("VACUUM INTO ?").run(copy);
    return readFileSync(copy);
  } finally {
    database.close();
    rmSync(copy, { force: true });
  }
}
