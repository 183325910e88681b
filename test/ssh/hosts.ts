/**
 * Starts hosts with a real sshd on this machine for tests, with `ssh-test-hosts` next to this file, and a
 * `tutti serve --on ssh` that reaches them. All hosts have one kernel, its CPUs and its wall clock; each has
 * its own network, processes, /tmp, /var/tmp and monotonic clock.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readText } from "@tutti/host/files.ts";
import { readPasswd } from "@tutti/host/passwd.ts";
import { allPids, hasEnded, readStat } from "@tutti/host/processes.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { describe } from "vitest";
import type { CommandResult } from "../command.ts";
import { describeProcess } from "../leftovers.ts";

const script = fileURLToPath(new URL("ssh-test-hosts", import.meta.url));
const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
/** A program is carried over, conductors start and answer. */
const START_MS = 90_000;

/** Why no hosts can be started here; undefined: they can. */
function whyNoHosts(): string | undefined {
  const { status, stdout, stderr } = spawnSync(script, ["check"], { encoding: "utf8" });
  return status === 0 ? undefined : (stdout + stderr).trim();
}

/** Tests that need hosts. Where they cannot be started, these are skipped, and listed by name. */
export const describeWithHosts = describe.skipIf(whyNoHosts() !== undefined);

export interface HostsOptions {
  readonly hosts: number;
  /** Made for the test. */
  readonly users?: readonly string[];
  /** Hosts have homes of their own, in which the users' ids differ. */
  readonly ownHomes?: true;
  /** /var/tmp of each host is a disk of its own. */
  readonly smallDisks?: true;
}

/** Groups of hosts of this process so far. */
let made = 0;

export class TestHosts {
  readonly names: readonly string[];
  /** Private folder, which the hosts see. */
  readonly folder: string;
  readonly schedulers: HostsScheduler[] = [];
  readonly #options: HostsOptions;
  readonly #parent: string;

  constructor(options: HostsOptions) {
    this.#options = options;
    this.names = Array.from({ length: options.hosts }, (_, i) => `h${i + 1}`);
    this.#parent = join(tmpdir(), `tutti-ssh-${process.pid}-${++made}`);
    this.folder = join(this.#parent, "hosts");
  }

  start(): void {
    mkdirSync(this.#parent, { mode: 0o755 });
    const { hosts, users = [], ownHomes, smallDisks } = this.#options;
    const more = [
      ...(users.length > 0 ? ["--users", users.join()] : []),
      ...(ownHomes ? ["--own-homes"] : []),
      ...(smallDisks ? ["--small-disks"] : []),
    ];
    this.#verb("start", hosts, ...more);
  }

  /** Also ends front ends that a failed test has left. */
  stop(): void {
    for (const scheduler of this.schedulers) scheduler.abandon();
    this.#verb("stop");
    rmSync(this.#parent, { recursive: true, force: true });
  }

  /** Starts a program on the desk, from which the hosts are reached. */
  spawn(words: readonly string[], options: SpawnOptions = {}): ChildProcess {
    return spawn(script, ["exec", ...words], { ...options, env: { ...this.#env, ...options.env } });
  }

  crash(name: string): void {
    this.#verb("crash", this.#numberOf(name));
  }

  boot(name: string): void {
    this.#verb("boot", this.#numberOf(name));
  }

  cut(name: string): void {
    this.#verb("cut", this.#numberOf(name));
  }

  join(name: string): void {
    this.#verb("join", this.#numberOf(name));
  }

  /** A file of a host as this machine sees it. */
  varTmpOf(name: string): string {
    return join(this.folder, name, "var-tmp");
  }

  /** A home as this machine sees it; with an empty name, as the host itself sees it. */
  homeOf(name: string, user: string): string {
    return this.#options.ownHomes && name !== ""
      ? join(this.folder, name, "home", user)
      : join(this.folder, "home", user);
  }

  /** OpenSSH's configuration of a user of the desk. */
  configOf(user: string): string {
    return join(this.folder, "client", user, "config");
  }

  /** Processes of a host, as pids of this machine. */
  processesOf(name: string): number[] {
    const space = spaceOf(readText(join(this.folder, "run", `${name}.pid`), "utf8")?.trim() ?? "");
    return space === "" ? [] : allPids().filter((pid) => spaceOf(pid) === space && isAlive(pid));
  }

  /** Those that Tutti has there, but for what a connection needs. */
  conductorsOf(name: string): number[] {
    return this.processesOf(name).filter((pid) => commandOf(pid).startsWith("tutti-conductor "));
  }

  /** Processes and files of Tutti on all hosts, described. */
  leftovers(): string[] {
    return this.names.flatMap((name) => [
      ...this.processesOf(name)
        .filter((pid) => /\/var\/tmp\/tutti-/.test(commandOf(pid)))
        .map((pid) => `${name}: ${describeProcess(pid)}`),
      ...readdirSync(this.varTmpOf(name)).map((entry) => `${name}: /var/tmp/${entry}`),
    ]);
  }

  /** How far the host's monotonic clock is ahead of this machine's. */
  clockAheadMs(name: string): number {
    return this.#numberOf(name) * 1_000_000;
  }

  #numberOf(name: string): number {
    return this.names.indexOf(name) + 1;
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, SSH_TEST_DIR: this.folder };
  }

  #verb(...words: readonly (string | number)[]): void {
    // Its output would be waited for until the hosts end.
    const { status, stderr } = spawnSync(script, words.map(String), { env: this.#env, encoding: "utf8" });
    if (status !== 0) throw new Error(`ssh-test-hosts ${words.join(" ")} ended with ${status}: ${stderr}`);
  }
}

export interface HostsSchedulerOptions {
  /** Who serves; left out: root. */
  readonly user?: string;
  /** Root serves all users. */
  readonly isShared?: true;
  readonly slotMs?: number;
  /** Lines of the file of hosts; left out: all hosts with two CPUs. */
  readonly lines?: readonly string[];
}

/** A real front end on the desk. */
export class HostsScheduler {
  readonly hosts: TestHosts;
  readonly folder: string;
  readonly socket: string;
  readonly #options: HostsSchedulerOptions;
  #frontEnd: ChildProcess | undefined;
  output = "";

  constructor(hosts: TestHosts, options: HostsSchedulerOptions = {}) {
    this.hosts = hosts;
    hosts.schedulers.push(this);
    this.#options = options;
    this.folder = mkdtempSync(join(tmpdir(), "tutti-desk-"));
    chmodSync(this.folder, 0o755);
    this.socket = join(this.folder, "run", "tutti.sock");
    const { lines = hosts.names.map((name) => `${name} cpus=0-1`) } = options;
    writeFileSync(join(this.folder, "hosts"), lines.map((line) => `${line}\n`).join(""));
    if (options.user !== undefined) {
      const { uid, gid } = accountOf(options.user);
      chownSync(this.folder, uid, gid);
    }
  }

  serve(): void {
    const { user = "root", isShared, slotMs = 100 } = this.#options;
    const words = ["serve", "--on", "ssh", "--hosts", join(this.folder, "hosts"), "--no-http"];
    words.push("--state", join(this.folder, "state"), "--slot", `${slotMs}ms`);
    if (user === "root" && !isShared) words.push("--private");
    const child = this.#spawn(user, [...words, "--", "-F", this.hosts.configOf(user)]);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (piece) => {
        this.output += piece;
      });
    this.#frontEnd = child;
  }

  /** Starts the front end, and waits until a number of nodes is up; left out: all. */
  async start(nodes = this.hosts.names.length): Promise<void> {
    this.serve();
    await this.up(nodes);
  }

  async up(nodes = this.hosts.names.length): Promise<void> {
    await this.until(START_MS, `${nodes} nodes are up`, async () => {
      const { nodes: all = [], conductor } = await this.status();
      return conductor.connected && all.filter(({ state }) => state === "up").length === nodes;
    });
  }

  /** Waits for a condition. What it throws while there is no answer counts as false. */
  async until(ms: number, what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    const untilMs = performance.now() + ms;
    for (;;) {
      if (this.#frontEnd?.exitCode !== null) throw new Error(`The front end ended: ${this.output}`);
      let said: unknown;
      try {
        if (await holds()) return;
      } catch (error) {
        said = error;
      }
      if (performance.now() > untilMs) {
        const { stdout } = await this.run(["status"]);
        throw new Error(`Waited ${ms} ms in vain until ${what}: ${said ?? ""}\n${stdout}\n${this.output}`);
      }
      await sleep(50);
    }
  }

  get client(): Client {
    return new Client({ TUTTI_SOCKET: this.socket });
  }

  async status(): Promise<StatusAnswer> {
    if (!existsSync(this.socket)) throw new Error(`There is no ${this.socket}`);
    if (this.#options.user === undefined) return this.client.ask<StatusAnswer>("/v1/status");
    return JSON.parse(await this.tutti(["status", "--json"]));
  }

  get frontEndPid(): number | undefined {
    return this.#frontEnd?.pid;
  }

  abandon(): void {
    this.#frontEnd?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  async killFrontEnd(): Promise<void> {
    const child = this.#frontEnd;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const end = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await end;
  }

  /** Runs the command line as a user. @returns standard output @throws if it fails */
  async tutti(words: readonly (string | number)[], user = this.#options.user ?? "root"): Promise<string> {
    const { status, stdout, stderr } = await this.run(words, user);
    if (status === 0) return stdout;
    throw new Error(`tutti ${words.join(" ")} ended with ${status}: ${stderr}\n${this.output}`);
  }

  async run(
    words: readonly (string | number)[],
    user = this.#options.user ?? "root",
  ): Promise<CommandResult> {
    const child = this.#spawn(user, words.map(String));
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (piece) => {
      stdout += piece;
    });
    child.stderr?.setEncoding("utf8").on("data", (piece) => {
      stderr += piece;
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => resolve({ status, stdout, stderr }));
    });
  }

  /** Runs a line of a shell on the desk, in which `tutti` is the command. @returns both of its outputs */
  shell(line: string): Promise<string> {
    const tutti = `tutti() { "${process.execPath}" "${program}" "$@"; }; cd /; ${line}`;
    const child = this.hosts.spawn(["sh", "-c", tutti], {
      env: { TUTTI_SOCKET: this.socket, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (piece: string) => {
        said += piece;
      });
    return new Promise((resolve) => child.on("close", () => resolve(said)));
  }

  /** @param words those of `tutti submit` @returns number of the job */
  async submit(words: readonly (string | number)[], user?: string): Promise<number> {
    const answer: JobsAnswer = JSON.parse(await this.tutti(["submit", "--json", ...words], user));
    return answer.jobs[0].job;
  }

  async job(job: number): Promise<Job> {
    if (this.#options.user === undefined) return (await this.client.job(job)).job;
    const answer: JobsAnswer = JSON.parse(await this.tutti(["show", job, "--json"]));
    return answer.jobs[0];
  }

  async ended(job: number, ms = 120_000): Promise<Job> {
    await this.until(ms, `job ${job} has ended`, async () => isEnded((await this.job(job)).state));
    return this.job(job);
  }

  async running(job: number): Promise<void> {
    await this.until(60_000, `job ${job} runs`, async () => (await this.job(job)).state === "running");
  }

  /** Ends front end and conductors, and removes the folder. */
  async down(): Promise<void> {
    if (this.#frontEnd?.exitCode === null && this.#frontEnd.signalCode === null)
      await this.run(["down", "--kill"]);
    await this.killFrontEnd();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(user: string, words: readonly string[]): ChildProcess {
    const { uid, gid, home } = accountOf(user);
    const as = user === "root" ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
    return this.hosts.spawn([...as, process.execPath, program, ...words], {
      cwd: home,
      env: { TUTTI_SOCKET: this.socket, NO_COLOR: "1", HOME: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

function accountOf(name: string) {
  const account = readPasswd().find(({ user }) => user === name);
  if (account === undefined) throw new Error(`There is no user ${name}`);
  return account;
}

export function commandOf(pid: number): string {
  return (readText(`/proc/${pid}/cmdline`, "latin1") ?? "").replaceAll("\0", " ");
}

function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && !hasEnded(stat);
}

function spaceOf(pid: number | string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return "";
  }
}
