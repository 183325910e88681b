/**
 * Starts a scheduler for fault tests, a real `tutti serve` in its own folder, and provides ways to harm it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { signal } from "@tutti/host/processes.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { Leftovers } from "./leftovers.ts";
import { startTutti, until } from "./live-command.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));

export class LiveScheduler {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-live-"));
  readonly socket = join(this.folder, "run", "tutti.sock");
  readonly state = join(this.folder, "state");
  readonly leftovers = new Leftovers(this.folder, this.state);
  /** Additional environment variables of front end and conductor. */
  readonly env: NodeJS.ProcessEnv = {};
  /** Additional arguments of `tutti serve`. */
  readonly words: string[] = [];
  /** Whether it serves only the user who runs the test. */
  isPrivate = true;
  readonly #files: number | undefined;
  #frontEnd: ChildProcess | undefined;
  #client: Client | undefined;
  #mounted: string[] = [];

  /** @param files maximum number of open files of the front end */
  constructor(files?: number) {
    this.#files = files;
  }

  /** Starts the front end and waits until it accepts requests. @throws with its output if it ends instead */
  async start(): Promise<void> {
    const serve = [process.execPath, program, "serve", "--no-http", "--slot", "20ms"];
    if (this.isPrivate) serve.push("--private");
    const script = `${this.#files === undefined ? "" : `ulimit -n ${this.#files};`} exec "$@"`;
    const child = spawn("sh", ["-c", script, "sh", ...serve, ...this.words, "--state", this.state], {
      env: { ...process.env, NO_COLOR: "1", TUTTI_SOCKET: this.socket, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#frontEnd = child;
    let out = "";
    let err = "";
    child.stdout.on("data", (piece) => {
      out += piece;
    });
    child.stderr.on("data", (piece) => {
      err += piece;
    });
    await until(() => out.includes("help:") || child.exitCode !== null);
    if (child.exitCode !== null) throw new Error(`The front end ended with ${child.exitCode}: ${err}`);
    this.#client = new Client({ TUTTI_SOCKET: this.socket });
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error("The front end was not started");
    return this.#client;
  }

  get frontEndPid(): number {
    return this.#frontEnd?.pid ?? 0;
  }

  /** Kills the front end with SIGKILL. */
  async killFrontEnd(): Promise<void> {
    const child = this.#frontEnd;
    child?.kill("SIGKILL");
    await until(() => child === undefined || child.exitCode !== null || child.signalCode !== null);
  }

  /**
   * Kills the front end and then the conductor with SIGKILL, so that no process starts another conductor.
   * Waits until the guardian has finished.
   */
  async killBoth(): Promise<void> {
    await this.killFrontEnd();
    for (const pid of this.leftovers.conductors()) signal(pid, "SIGKILL");
    await until(() => this.leftovers.conductors().length === 0 && this.leftovers.stopped().length === 0);
  }

  async submit(script: string, more: Partial<SubmitJob> = {}): Promise<number> {
    const env = { PATH: process.env.PATH ?? "" };
    const job = { command: ["sh", "-c", script], cwd: this.folder, env, ...more };
    const answer = await this.client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs: [job] } });
    return answer.jobs[0].job;
  }

  async job(job: number): Promise<Job> {
    return (await this.client.job(job)).job;
  }

  /** Waits until the command runs. */
  async running(job: number): Promise<void> {
    while ((await this.job(job)).state !== "running") await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async cancel(job: number): Promise<void> {
    await this.client.ask(`/v1/jobs/${job}/cancel`, { method: "POST" });
  }

  status(): Promise<StatusAnswer> {
    return this.client.ask<StatusAnswer>("/v1/status");
  }

  async conductorPid(): Promise<number> {
    for (;;) {
      const { pid } = (await this.status()).conductor;
      if (pid !== undefined) return pid;
    }
  }

  /** Pid of the shim of a job's first attempt, or of the first process of its command. */
  pidOf(job: number, what: "claim" | "job"): number {
    return Number(readlinkSync(join(this.state, "jobs", String(job), "1", what)).split(":")[1]);
  }

  /** Mounts a small disk in memory. Returns false if mounting is not allowed. */
  mountSmall(path: string, size: string): boolean {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const parameters = ["-t", "tmpfs", "-o", `mode=700,size=${size}`, "tmpfs", path];
    try {
      execFileSync("mount", parameters, { stdio: "ignore" });
    } catch {
      return false;
    }
    this.#mounted.push(path);
    return true;
  }

  /** Ends everything and removes the folder. */
  async clear(): Promise<void> {
    await startTutti(this.socket, ["down", "--kill"]).result;
    await this.killFrontEnd();
    await this.leftovers.clear();
    for (const path of this.#mounted) execFileSync("umount", ["-l", path]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
