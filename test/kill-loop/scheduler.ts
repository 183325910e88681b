/**
 * A real scheduler in its own folder, with ways to harm it: its processes are killed and stopped, its clock
 * is set, its store replaced by an older one, its folder moved away. Collects descriptions of everything that
 * went wrong.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import type { Random } from "@tutti/kernel/core/random.ts";
import { commandOf, describeProcess, Leftovers } from "../leftovers.ts";
import { type Started, startTutti } from "../live-command.ts";

/** It serves all users of the machine, or root alone, or an ordinary user runs it, with signals. */
export const MODES = ["shared", "private", "user"] as const;
export type Mode = (typeof MODES)[number];

export interface Settings {
  readonly mode: Mode;
  readonly policy: string;
  /** Of `tutti serve`. */
  readonly turns: "gang" | "concurrent";
}

/** What each scheduler has, and what the judge knows of it. */
export const UNITS = { gpu: ["0", "1"], licence: ["l0", "l1", "l2"] } as const;
/** Jobs of a user that run at a time, in a shared scheduler. */
export const MOST_JOBS = 4;

const THAW_MS = 2000;
const STOPPED_WAIT_MS = 1000;
/** Longest wait for a process of the scheduler, on a busy machine. */
const START_MS = 60_000;
const CLOCK = new URL("../stepped-clock.ts", import.meta.url);

export class Scheduler {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-kill-"));
  readonly problems: string[] = [];
  readonly socket = join(this.folder, "run", "tutti.sock");
  readonly state = join(this.folder, "state");
  readonly mayStayStopped = new Set<number>();
  /** Processes and groups that were stopped just before nobody was left to continue them, summed. */
  foundStopped = 0;
  /** Longest time from then until nothing was stopped, in ms. */
  slowestThawMs = 0;
  readonly #random: Random;
  readonly #settings: Settings;
  readonly #leftovers = new Leftovers(this.folder, this.state);
  readonly #clock = join(this.folder, "clock");
  readonly #config = join(this.folder, "tutti.toml");
  #frontEnd: Started;

  constructor(random: Random, settings: Settings) {
    this.#random = random;
    this.#settings = settings;
    chmodSync(this.folder, 0o755);
    for (const name of ["ran", "go", "beats", "hooks"]) {
      mkdirSync(join(this.folder, name));
      chmodSync(join(this.folder, name), 0o1777);
    }
    const limits = settings.mode === "shared" ? `[limits]\nrunningJobs = ${MOST_JOBS}\n` : "";
    const { gpu, licence } = UNITS;
    const units = `[resources]\ngpu = ${JSON.stringify(gpu)}\nlicence = ${JSON.stringify(licence)}\n`;
    writeFileSync(this.#config, `${limits}${units}`, { mode: 0o600 });
    this.#frontEnd = this.#serve();
  }

  /** Waits until the front end that was started last accepts requests. @throws if it ends instead */
  async isUp(): Promise<void> {
    const { child, stdout, stderr } = this.#frontEnd;
    const isDecided = () => stdout().includes("help:") || child.exitCode !== null;
    await this.#until("the front end accepted requests", isDecided);
    if (child.exitCode !== null) throw new Error(`The front end ended with ${child.exitCode}: ${stderr()}`);
  }

  endFrontEnd(how: "SIGKILL" | "SIGTERM"): Promise<unknown> {
    const { child, stderr, result } = this.#frontEnd;
    if (child.exitCode !== null) this.problems.push(`the front end ended by itself: ${stderr()}`);
    child.kill(how);
    return result;
  }

  startFrontEnd(): void {
    this.#frontEnd = this.#serve();
  }

  stopFrontEnd(isStopped: boolean): void {
    this.#frontEnd.child.kill(isStopped ? "SIGSTOP" : "SIGCONT");
  }

  /** Sends a signal. The front end may not have started a conductor since the last kill, so this waits. */
  async signalConductor(name: NodeJS.Signals): Promise<void> {
    await this.#until("a conductor was started", () => this.#leftovers.conductors().length > 0);
    for (const pid of this.#leftovers.conductors()) signal(pid, name);
  }

  async killGuardian(): Promise<void> {
    for (const pid of await this.#guardians()) signal(pid, "SIGKILL");
  }

  killHookRunner(): void {
    for (const pid of this.#processesWith(join(this.state, "hooks"))) signal(pid, "SIGKILL");
  }

  /** Kills the shim of an attempt. @param note called before, if there is one */
  killShim(job: number, attempt: number, note: () => void): boolean {
    try {
      const claim = readlinkSync(join(this.state, "jobs", String(job), String(attempt), "claim"));
      const pid = Number(claim.split(":")[1]);
      if (!(pid > 0) || !this.#leftovers.processes().includes(pid)) return false;
      note();
      signal(pid, "SIGKILL");
      return true;
    } catch {
      return false;
    }
  }

  /** Kills the front end and the conductor, and waits until nothing is stopped: only the guardian is left. */
  async killBoth(): Promise<void> {
    // Right after a fault that killed the guardian, too, nothing would continue what is stopped.
    await this.#guardians();
    this.foundStopped += await this.#stoppedNow();
    await this.endFrontEnd("SIGKILL");
    await this.#waitForThaw();
  }

  /** Kills all three processes that watch over jobs. */
  async killAll(): Promise<void> {
    await this.endFrontEnd("SIGKILL");
    for (const pid of [...this.#processesWith("tutti-guardian"), ...this.#leftovers.conductors()]) {
      signal(pid, "SIGKILL");
    }
  }

  /** Sets the clock of front end and conductor this far from the machine's. */
  setClock(offsetMs: number): void {
    writeFileSync(`${this.#clock}.new`, String(offsetMs), { mode: 0o600 });
    renameSync(`${this.#clock}.new`, this.#clock);
  }

  async backup(): Promise<void> {
    const words = ["store", "backup", "--force", "--state", this.state, join(this.folder, "backup.db")];
    const { status, stderr } = await startTutti(this.socket, words).result;
    if (status !== 0) this.problems.push(`tutti store backup ended with ${status}: ${stderr}`);
  }

  /** As docs/reference-administration.md says; the front end is not there. */
  restore(): void {
    for (const end of ["", "-wal", "-shm"]) {
      rmSync(`${join(this.state, "tutti.db")}${end}.old`, { force: true });
      const file = join(this.state, `tutti.db${end}`);
      if (existsSync(file)) renameSync(file, `${file}.old`);
    }
    copyFileSync(join(this.folder, "backup.db"), join(this.state, "tutti.db"));
    chmodSync(join(this.state, "tutti.db"), 0o600);
  }

  /** Moves the state folder away for a while, and back. */
  async moveState(awayMs: number): Promise<void> {
    const away = `${this.state}.away`;
    renameSync(this.state, away);
    await sleep(awayMs);
    renameSync(away, this.state);
  }

  removeSocket(): void {
    rmSync(this.socket, { force: true });
  }

  tutti(...words: readonly string[]) {
    return startTutti(this.socket, words).result;
  }

  /** Nothing is left of jobs that have ended. */
  async checkEnd(): Promise<void> {
    const untilMs = performance.now() + THAW_MS;
    let left: string[];
    do {
      left = [...this.#leftovers.stopped(), ...this.#leftovers.ofJobs().map(describeProcess)];
      if (left.length > 0) await sleep(20);
    } while (left.length > 0 && performance.now() < untilMs);
    this.problems.push(...left.map((one) => `${one} is left ${THAW_MS} ms after the last job`));
  }

  async shutDown(): Promise<void> {
    const { status, stderr } = await this.tutti("down");
    if (status !== 0) this.problems.push(`tutti down ended with ${status}: ${stderr}`);
    const untilMs = performance.now() + 5000;
    const left = () => [...this.#leftovers.processes().map(describeProcess), ...this.#leftovers.groups()];
    while (left().length > 0 && performance.now() < untilMs) await sleep(20);
    this.problems.push(...left().map((one) => `${one} is left after tutti down`));
  }

  /** Ends everything and removes the folder. */
  async clear(): Promise<void> {
    this.#frontEnd.child.kill("SIGKILL");
    await this.#leftovers.clear();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** The value; undefined, with a problem recorded, if it takes too long. */
  async within<Value>(ms: number, what: string, value: Promise<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.problems.push(`Waited ${ms} ms in vain until ${what}`);
        resolve(undefined);
      }, ms);
    });
    return Promise.race([value, late]).finally(() => clearTimeout(timer));
  }

  #serve(): Started {
    const { mode, policy, turns } = this.#settings;
    const words = ["serve", "--no-http", "--slot", "20ms", "--state", this.state, "--config", this.#config];
    if (mode !== "shared") words.push("--private");
    return startTutti(this.socket, [...words, "--policy", policy, "--mode", turns], {
      env: { NODE_OPTIONS: `--import=${CLOCK}`, TUTTI_TEST_CLOCK: this.#clock },
    });
  }

  /** Waits until there is a guardian: a conductor starts one before it stops anything. */
  async #guardians(): Promise<number[]> {
    const guardians = () => this.#processesWith("tutti-guardian");
    await this.#until("a guardian was started", () => guardians().length > 0);
    return guardians();
  }

  #processesWith(word: string): number[] {
    return this.#leftovers.processes().filter((pid) => commandOf(pid).includes(word));
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (!condition()) {
      await sleep(this.#random.below(50));
      if (performance.now() < untilMs) continue;
      this.problems.push(`Waited ${START_MS} ms in vain until ${what}`);
      return;
    }
  }

  /** Waits briefly for a moment at which something is stopped. Returns how much is stopped. */
  async #stoppedNow(): Promise<number> {
    const untilMs = performance.now() + STOPPED_WAIT_MS;
    for (;;) {
      const count = this.#stopped().length;
      if (count > 0 || performance.now() > untilMs) return count;
      await sleep(5);
    }
  }

  #stopped(): string[] {
    return this.#leftovers.stopped((job) => this.mayStayStopped.has(job));
  }

  /** Now no process could stop anything, and only the guardian could continue it. */
  async #waitForThaw(): Promise<void> {
    const sinceMs = performance.now();
    let stopped: string[] = [];
    do {
      // Also a conductor that the front end had just started.
      for (const pid of this.#leftovers.conductors()) signal(pid, "SIGKILL");
      stopped = this.#stopped();
      const tookMs = Math.round(performance.now() - sinceMs);
      this.slowestThawMs = Math.max(this.slowestThawMs, tookMs);
      if (tookMs >= THAW_MS) break;
    } while (stopped.length > 0);
    this.problems.push(...stopped.map((one) => `${one} is stopped ${THAW_MS} ms after the kills`));
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
