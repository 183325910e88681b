/** A scheduler with two queues, and a shell that has Slurm's names first on its PATH. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { CommandResult } from "./command.ts";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const QUEUES =
  'cpus = [0, 1]\nfeatures = ["haswell", "ssd"]\n[[queues]]\nname = "short"\nprocessors = 2\nelapsedBelowS = 7200\n[[queues]]\nname = "long"\naliases = ["batch"]\nprocessors = 2\n';

export class SlurmNames {
  readonly #scheduler: LiveScheduler;
  readonly names: string;

  static async start(): Promise<SlurmNames> {
    const scheduler = new LiveScheduler();
    writeFileSync(join(scheduler.folder, "tutti.toml"), QUEUES);
    scheduler.words.push("--config", join(scheduler.folder, "tutti.toml"));
    await scheduler.start();
    const site = new SlurmNames(scheduler);
    expect(await startTutti(site.socket, ["slurm-names", site.names]).result).toMatchObject({ status: 0 });
    return site;
  }

  private constructor(scheduler: LiveScheduler) {
    this.#scheduler = scheduler;
    this.names = join(scheduler.folder, "names");
  }

  get folder(): string {
    return this.#scheduler.folder;
  }

  get socket(): string {
    return this.#scheduler.socket;
  }

  get env(): NodeJS.ProcessEnv {
    const { SLURM_CONF: _, ...env } = process.env;
    return { ...env, PATH: `${this.names}:${env.PATH}`, TUTTI_SOCKET: this.socket, USER: "root" };
  }

  /** Runs a line of a shell in the scheduler's folder. */
  shell(line: string, input = ""): Promise<CommandResult> {
    // Node's pipes are sockets, for which bash takes us for a login from elsewhere and reads .bashrc.
    const child = spawn("bash", ["--norc", "-c", line], { cwd: this.folder, env: this.env });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.setEncoding("utf8").on("data", (piece) => {
      stderr += piece;
    });
    child.stdin.on("error", () => {}).end(input);
    return new Promise((resolve) => child.on("close", (status) => resolve({ status, stdout, stderr })));
  }

  /** Submits a script from standard input and waits. */
  batch(lines: string, options = ""): Promise<CommandResult> {
    return this.shell(`sbatch --wait ${options}`, script(lines));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  clear(): Promise<void> {
    return this.#scheduler.clear();
  }
}

export const script = (lines: string) => `#!/bin/bash\n${lines}\n`;
