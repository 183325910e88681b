/** A real `tutti serve --on slurm` on the login node of a cluster for tests, as root or as another user. */
import type { ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import type { CommandResult } from "../command.ts";
import { resultOf, type TestCluster } from "./cluster.ts";

const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
/** A pilot is submitted, starts, and its conductors answer. */
const START_MS = 90_000;
/** A user without rights: nobody. */
export const NOBODY = 65_534;

export interface SchedulerOptions {
  readonly nodes?: number;
  /** Kinds of pilots, in place of nodes and time. */
  readonly kinds?: readonly string[];
  /** Each job is a job of Slurm; there is no pilot. */
  readonly native?: true;
  /** Time limit of a pilot. Default: 1h. */
  readonly time?: string;
  /** Time without jobs after which a pilot goes back. Default: never, and there is always one. */
  readonly idle?: string;
  readonly slotMs?: number;
  /** Left out: root. */
  readonly uid?: number;
  /** Further words of `tutti serve`. */
  readonly words?: readonly string[];
}

export class SlurmScheduler {
  readonly cluster: TestCluster;
  /** Shared by all nodes. */
  readonly folder: string;
  readonly state: string;
  readonly socket: string;
  /** Further arguments of `tutti serve`. */
  readonly words: string[];
  readonly #options: SchedulerOptions;
  #frontEnd: ChildProcess | undefined;
  #output = "";

  /** @param cluster that runs */
  constructor(cluster: TestCluster, options: SchedulerOptions) {
    this.cluster = cluster;
    this.#options = options;
    this.words = [...(options.words ?? [])];
    this.folder = mkdtempSync(join(cluster.home, "tutti-"));
    this.state = join(this.folder, "state");
    this.socket = join(this.folder, "run", "tutti.sock");
    if (options.uid !== undefined) chownSync(this.folder, options.uid, options.uid);
  }

  /** Starts the front end; see `ready`. */
  serve(): void {
    const child = this.#spawnServe();
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (piece) => {
        this.#output += piece;
      });
    }
    this.#frontEnd = child;
  }

  /** Starts the front end and waits until all processors are there. @throws with its output */
  async start(): Promise<void> {
    this.serve();
    await this.ready();
  }

  /** Waits until all processors are there. */
  async ready(cpus?: number): Promise<void> {
    const wanted = cpus ?? (await this.#allCpus());
    const untilMs = performance.now() + START_MS;
    for (;;) {
      if (this.#frontEnd?.exitCode !== null) throw new Error(`The front end ended: ${this.#output}`);
      const status = await this.status().catch(() => undefined);
      if (status?.cpus === wanted && status.conductor.connected) return;
      if (performance.now() > untilMs) {
        const state = status === undefined ? "no answer" : JSON.stringify(status);
        throw new Error(`Not ready with ${wanted} CPUs after ${START_MS} ms: ${state}\n${this.#output}`);
      }
      await sleep(100);
    }
  }

  /** What the front ends have printed. */
  get output(): string {
    return this.#output;
  }

  get frontEndPid(): number | undefined {
    return this.#frontEnd?.pid;
  }

  /** Only for a scheduler of root. */
  get client(): Client {
    return new Client({ TUTTI_SOCKET: this.socket });
  }

  /** Kills the front end with SIGKILL. */
  async killFrontEnd(): Promise<void> {
    const child = this.#frontEnd;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const end = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await end;
  }

  /** Runs the command line as the scheduler's user. */
  async run(...words: readonly (string | number)[]): Promise<CommandResult> {
    const child = this.cluster.spawn([...this.#user(), process.execPath, program, ...words], {
      env: this.#env(),
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return resultOf(child);
  }

  /** The same. @returns standard output @throws if it fails */
  async tutti(...words: readonly (string | number)[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(...words);
    if (status === 0) return stdout;
    throw new Error(`tutti ${words.join(" ")} ended with ${status}: ${stderr}\n${this.#output}`);
  }

  async status(): Promise<StatusAnswer> {
    if (!existsSync(this.socket)) throw new Error(`There is no ${this.socket}`);
    if (this.#isOfRoot) return this.client.ask<StatusAnswer>("/v1/status");
    return JSON.parse(await this.tutti("status", "--json"));
  }

  /** @param words those of `tutti submit` @returns number of the job */
  async submit(...words: readonly (string | number)[]): Promise<number> {
    const answer: JobsAnswer = JSON.parse(await this.tutti("submit", "--json", ...words));
    return answer.jobs[0].job;
  }

  async job(job: number): Promise<Job> {
    if (this.#isOfRoot) return (await this.client.job(job)).job;
    const answer: JobsAnswer = JSON.parse(await this.tutti("show", job, "--json"));
    return answer.jobs[0];
  }

  /** Waits until the job has ended. */
  async ended(job: number): Promise<Job> {
    for (;;) {
      await this.run("wait", job);
      const answer = await this.job(job);
      if (isEnded(answer.state)) return answer;
    }
  }

  /** The same. @throws if it did not end well */
  async done(job: number): Promise<Job> {
    const ended = await this.ended(job);
    if (ended.state === "done") return ended;
    const events = (await this.run("events")).stdout.split("\n").slice(-20);
    const { stdout } = await this.run("logs", job, "--stderr");
    throw new Error(
      `Job ${job} is ${ended.state}: ${ended.reason}\n${events.join("\n")}\nIts errors: ${stdout.slice(-2000)}`,
    );
  }

  /** A new folder that all nodes share and the scheduler's user owns. */
  makeFolder(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    const { uid } = this.#options;
    if (uid !== undefined) chownSync(folder, uid, uid);
    return folder;
  }

  /** Ends all jobs, the pilot and the front end. @returns what `tutti down` has printed */
  async down(): Promise<CommandResult> {
    const result = await this.run("down", "--kill");
    await this.killFrontEnd();
    return result;
  }

  /** Starts a front end that refuses to run. */
  refusal(): Promise<CommandResult> {
    return resultOf(this.#spawnServe());
  }

  #spawnServe(): ChildProcess {
    const { nodes, kinds, native, time = "1h", idle = "never", slotMs = 100, uid } = this.#options;
    const sized = kinds?.flatMap((kind) => ["--pilot", kind]) ?? ["--nodes", nodes!];
    const kind = native ? ["--native"] : [...(kinds ? [] : ["--time", time]), "--idle", idle];
    const serve = ["serve", "--on", "slurm", ...sized, ...kind, "--slot", `${slotMs}ms`];
    const own = ["--no-http", ...(uid === undefined ? ["--private"] : []), "--state", this.state];
    return this.cluster.spawn([...this.#user(), process.execPath, program, ...serve, ...own, ...this.words], {
      env: this.#env(),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  async #allCpus(): Promise<number> {
    const text = await this.cluster.slurm("sinfo", "-h", "-o", "%c");
    return Number(text) * (this.#options.nodes ?? 0);
  }

  /** Then a test can ask it directly, which takes far less time than to start a program for each question. */
  get #isOfRoot(): boolean {
    return this.#options.uid === undefined;
  }

  #user(): string[] {
    const { uid } = this.#options;
    return uid === undefined ? [] : ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  }

  #env(): NodeJS.ProcessEnv {
    const { uid } = this.#options;
    return {
      TUTTI_SOCKET: this.socket,
      NO_COLOR: "1",
      ...(uid === undefined ? {} : { HOME: this.folder }),
    };
  }
}
