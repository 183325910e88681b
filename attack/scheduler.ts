/** Starts a scheduler to attack: a real `tutti serve`, whose API can be called with the token of any user. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import type { Job, JobsAnswer, StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { Leftovers } from "../test/leftovers.ts";
import type { Account } from "./accounts.ts";
import { type Answer, ask, type Question, type Where } from "./http.ts";
import type { Ended, Stage } from "./stage.ts";

export interface SchedulerOptions {
  /** The user who runs it; default: root, for all users. */
  readonly as?: Account;
  readonly isPrivate?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether it also listens on a loopback port. */
  readonly http?: boolean;
  /** A shell command that starts it; "$@" is the command of the scheduler. */
  readonly shell?: string;
}

const ENDED = ["done", "failed", "cancelled"];

export class Scheduler {
  readonly folder: string;
  readonly state: string;
  readonly socket: string;
  readonly leftovers: Leftovers;
  readonly #stage: Stage;
  readonly #options: SchedulerOptions;
  #frontEnd: ChildProcess | undefined;
  #output = "";

  constructor(stage: Stage, folder: string, options: SchedulerOptions) {
    this.#stage = stage;
    this.#options = options;
    this.folder = folder;
    this.state = join(folder, "state");
    this.socket = join(folder, "run", "tutti.sock");
    this.leftovers = new Leftovers(folder, this.state);
  }

  /**
   * Starts the front end and waits until it listens.
   * @throws ServeFailed with its output if it ends instead
   */
  async start(more: Pick<SchedulerOptions, "isPrivate"> = {}): Promise<void> {
    const { as, config, env, http = false, shell = 'exec "$@"' } = this.#options;
    const isPrivate = more.isPrivate ?? this.#options.isPrivate ?? false;
    const file = join(this.folder, "config.json");
    if (config !== undefined) writeFileSync(file, JSON.stringify(config));
    const words = [
      ...this.#stage.tutti,
      "serve",
      ...(http ? ["--port", "0"] : ["--no-http"]),
      ...(isPrivate ? ["--private"] : []),
      ...(config === undefined ? [] : ["--config", file]),
    ];
    const child = this.#stage.start(as, ["bash", "-c", shell, "bash", ...words], {
      env: { TUTTI_STATE: this.state, TUTTI_SOCKET: this.socket, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#frontEnd = child;
    this.#output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (piece) => {
        this.#output += piece;
      });
    }
    await until(() => /^help: /m.test(this.#output) || child.exitCode !== null);
    if (child.exitCode !== null) throw new ServeFailed(child.exitCode, this.#output);
  }

  /** What the front end has printed. */
  get output(): string {
    return this.#output;
  }

  get frontEndPid(): number {
    return this.#frontEnd?.pid ?? 0;
  }

  get where(): Where {
    return { socketPath: this.socket };
  }

  /** The socket that a user's `tutti` uses: the user's own if there is one. */
  socketOf(user: Account): string {
    const own = join(this.folder, "run", `${user.uid}.sock`);
    return existsSync(own) ? own : this.socket;
  }

  /** The loopback port; only with `http`. */
  get port(): Where {
    return { host: "127.0.0.1", port: Number(/127\.0\.0\.1:(\d+)/.exec(this.#output)?.[1]) };
  }

  /** The token of a user, as that user reads it; default: of the user who runs the scheduler. */
  token(user?: Account): string {
    const uid = user?.uid ?? this.#options.as?.uid ?? 0;
    return readFileSync(join(this.folder, "run", "tokens", String(uid)), "utf8").trim();
  }

  /** Sends a request over the socket as a user. */
  ask(user: Account | undefined, path: string, question: Question = {}): Promise<Answer> {
    return ask(this.where, this.token(user), path, question);
  }

  /** Submits jobs as a user; the answer may be a refusal. */
  post(user: Account | undefined, jobs: readonly Partial<SubmitJob>[]): Promise<Answer> {
    const whole = jobs.map((job) => ({
      command: ["true"],
      cwd: "/tmp",
      env: { PATH: process.env.PATH ?? "" },
      ...job,
    }));
    return this.ask(user, "/v1/jobs", { method: "POST", body: { jobs: whole } });
  }

  /** Submits a script as a user and returns the job's number. */
  async submit(user: Account | undefined, script: string, more: Partial<SubmitJob> = {}): Promise<number> {
    const answer = await this.post(user, [{ command: ["bash", "-c", script], ...more }]);
    if (answer.status !== 201) throw new Error(`A submit was refused: ${answer.text}`);
    return (answer.json as JobsAnswer).jobs[0].job;
  }

  async job(job: number): Promise<Job> {
    return ((await this.ask(undefined, `/v1/jobs/${job}`)).json as { job: Job }).job;
  }

  async status(user?: Account): Promise<StatusAnswer> {
    return (await this.ask(user, "/v1/status")).json as StatusAnswer;
  }

  async conductorPid(): Promise<number> {
    for (;;) {
      const { pid } = (await this.status()).conductor;
      if (pid !== undefined) return pid;
      await sleep(20);
    }
  }

  async running(job: number): Promise<void> {
    await until(async () => (await this.job(job)).state === "running");
  }

  /** The job once it has ended; undefined if it does not end within the time. */
  async ended(job: number, withinMs = 60_000): Promise<Job | undefined> {
    const lastMs = Date.now() + withinMs;
    for (;;) {
      const now = await this.job(job);
      if (ENDED.includes(now.state)) return now;
      if (Date.now() > lastMs) return undefined;
      await sleep(20);
    }
  }

  /** Runs `tutti` as a user. */
  tutti(user: Account | undefined, ...words: string[]): Promise<Ended> {
    const env = { TUTTI_SOCKET: this.socket, TUTTI_STATE: this.state };
    return this.#stage.run(user ?? this.#options.as, [...this.#stage.tutti, ...words], env);
  }

  folderOf(job: number, attempt = 1): string {
    return join(this.state, "jobs", String(job), String(attempt));
  }

  /** Pid of the shim of a job's attempt, or of the job's first process. */
  pidOf(job: number, what: "claim" | "job"): number {
    return Number(readlinkSync(join(this.folderOf(job), what)).split(":")[1]);
  }

  /** Ends the front end as Ctrl-C does; jobs keep running. */
  async stop(kind: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.#frontEnd;
    child?.kill(kind);
    await until(() => child === undefined || child.exitCode !== null || child.signalCode !== null);
  }

  /** Ends everything. */
  async clear(): Promise<void> {
    await this.stop("SIGKILL");
    await this.leftovers.clear();
  }

  /** Kills the conductor with SIGKILL. */
  async killConductor(): Promise<void> {
    for (const pid of this.leftovers.conductors()) signal(pid, "SIGKILL");
    await until(() => this.leftovers.conductors().length === 0);
  }

  hasFile(...path: string[]): boolean {
    return existsSync(join(this.state, ...path));
  }
}

/** The front end has refused to start. */
export class ServeFailed extends Error {
  override name = "ServeFailed";
  readonly status: number;

  constructor(status: number, output: string) {
    super(`The front end ended with ${status}: ${output}`);
    this.status = status;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until something holds; the time limit of the attack ends it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
