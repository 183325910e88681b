/**
 * Starts a Slurm of several nodes on this machine for tests, with `slurm-test-cluster` next to this file,
 * and harms it. Each node has its own network, processes, /tmp and monotonic clock. All have one kernel and
 * one wall clock, and share the other folders of this machine, as a cluster shares the homes of its users.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allPids, hasEnded, readStat } from "@tutti/host/processes.ts";
import type { CommandResult } from "../command.ts";
import { describeProcess } from "../leftovers.ts";

const script = fileURLToPath(new URL("slurm-test-cluster", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const VERB_MS = 120_000;
/** The variable by which the script marks the daemons of a cluster. */
const MARK = "SLURM_TEST_CLUSTER_MARK";

/** Why no cluster can be started here; undefined: it can. */
export function whyNoSlurm(): string | undefined {
  const { status, stdout, stderr } = spawnSync(script, ["check"], { encoding: "utf8", timeout: VERB_MS });
  return status === 0 ? undefined : (stdout + stderr).trim();
}

export interface ClusterOptions {
  readonly nodes: number;
  readonly cpus: number;
  /** How Slurm finds the processes of a step; left out: linuxproc. */
  readonly proctrack?: "linuxproc" | "pgid" | "cgroup";
  /** Slurm's own gang scheduling with slices of this length. */
  readonly gangS?: number;
  /** Also slurmdbd, so that sacct works. */
  readonly accounting?: boolean;
  /** GPUs of each node, for Slurm: their number, or their type and number, such as a100:2. */
  readonly gpus?: number | string;
  /** Number of the first job; left out: 1. */
  readonly firstJob?: number;
}

/** Clusters of this process so far. */
let clusters = 0;

export class TestCluster {
  readonly nodes: readonly string[];
  /** Private folder of the cluster. */
  readonly folder: string;
  /** A folder that all nodes share; in /tmp it is the only one. */
  readonly home: string;
  readonly #options: ClusterOptions;
  readonly #env: NodeJS.ProcessEnv;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.nodes = Array.from({ length: options.nodes }, (_, i) => `n${i + 1}`);
    const parent = mkdtempSync(join(tmpdir(), "tutti-slurm-"));
    // The database of the accounting runs as a user of its own.
    chmodSync(parent, 0o755);
    this.folder = join(parent, "cluster");
    this.home = join(this.folder, "home");
    this.#env = {
      ...process.env,
      SLURM_TEST_DIR: this.folder,
      // Another cluster of this process, or of the next one, has other ports.
      SLURM_TEST_PORT_BASE: String(21_700 + 20 * ((process.pid + 250 * clusters++) % 500)),
      SLURM_TEST_NO_INSTALL: "1",
      // The nodes run the programs of this clone, which may be in /tmp.
      SLURM_TEST_SHARED: root,
    };
  }

  /** Boots it. @throws with what the script says */
  async start(): Promise<void> {
    const { nodes, cpus, proctrack = "linuxproc", gangS, accounting, gpus, firstJob } = this.#options;
    const reason = whyNoSlurm();
    if (reason !== undefined) throw new Error(`No Slurm for tests: ${reason}. Run "npm test" as root once`);
    await this.#verb(
      "start",
      nodes,
      cpus,
      "--isolate",
      "--private-tmp",
      "--proctrack",
      proctrack,
      ...[...(gangS === undefined ? [] : ["--gang", gangS]), ...(accounting ? ["--accounting"] : [])],
      ...(gpus === undefined ? [] : ["--gpus", gpus]),
      ...(firstJob === undefined ? [] : ["--extra", `FirstJobId=${firstJob}`]),
    );
    mkdirSync(this.home, { recursive: true });
  }

  /** Cancels all jobs, ends all daemons and nodes, and removes the folder. */
  async stop(): Promise<void> {
    await this.#verb("stop");
    rmSync(join(this.folder, ".."), { recursive: true, force: true });
  }

  /** Starts a program on the login node. Its pid is that of the program. */
  spawn(words: readonly (string | number)[], options: SpawnOptions = {}): ChildProcess {
    return spawn(script, ["exec", ...words.map(String)], {
      ...options,
      env: { ...this.#env, ...options.env },
    });
  }

  /** Runs a program on the login node. */
  exec(...words: readonly (string | number)[]): Promise<CommandResult> {
    return resultOf(this.spawn(words, { stdio: ["ignore", "pipe", "pipe"] }));
  }

  /** Runs a Slurm command. @returns its standard output @throws if it fails */
  async slurm(...words: readonly (string | number)[]): Promise<string> {
    const { status, stdout, stderr } = await this.exec(...words);
    if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
    return stdout.trim();
  }

  /**
   * Harms a node, or mends it. kill, hang, thaw and start act on its slurmd. crash ends all processes of
   * the node at once; start is the remedy. cut and join unplug its network and plug it in.
   */
  async node(
    what: "kill" | "hang" | "thaw" | "start" | "crash" | "cut" | "join",
    node: string,
  ): Promise<void> {
    await this.#verb("node", what, this.nodes.indexOf(node) + 1);
  }

  /** Kills or starts the controller. */
  async controller(what: "kill" | "start"): Promise<void> {
    await this.#verb("ctld", what);
  }

  /** State of a node as sinfo shows it, such as idle or down*. */
  async stateOf(node: string): Promise<string> {
    return (await this.slurm("sinfo", "-h", "-N", "-n", node, "-o", "%t")).split("\n")[0];
  }

  /** Lets Slurm use the nodes again that it has drained itself. */
  async resumeDrained(): Promise<void> {
    const states = await this.slurm("sinfo", "-h", "-N", "-t", "drain", "-o", "%n");
    for (const node of new Set(states.split("\n").filter(Boolean))) {
      await this.slurm("scontrol", "update", `nodename=${node}`, "state=resume");
    }
  }

  /** Waits until Slurm can use all nodes. */
  async allUp(maxMs = 60_000): Promise<void> {
    const untilMs = performance.now() + maxMs;
    for (;;) {
      const { status, stdout } = await this.exec("sinfo", "-h", "-N", "-o", "%t");
      const states = stdout.trim().split("\n");
      const isUp =
        states.length === this.nodes.length && states.every((one) => /^(idle|mix|alloc)$/.test(one));
      if (status === 0 && isUp) return;
      if (performance.now() > untilMs) throw new Error(`After ${maxMs} ms the nodes are ${states.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Processes of a node, as pids of this machine. */
  processesOf(node: string): number[] {
    const first = read(join(this.folder, "run", `init.${node}.pid`)).trim();
    const space = spaceOf(first);
    return space === "" ? [] : allPids().filter((pid) => spaceOf(pid) === space && isAlive(pid));
  }

  /** How far the node's monotonic clock is ahead of this machine's. */
  clockAheadMs(node: string): number {
    return (this.nodes.indexOf(node) + 1) * 1_000_000;
  }

  /** Processes, namespaces and folders of the cluster, described; none after `stop`. */
  leftovers(): string[] {
    const processes = allPids().filter((pid) => pid !== process.pid && isAlive(pid) && this.#isMarked(pid));
    // The script names namespaces after the folder: its checksum is in the name of each.
    const sum = spawnSync("cksum", { input: this.folder, encoding: "utf8" }).stdout.slice(0, 5);
    const { stdout } = spawnSync("ip", ["netns", "list"], { encoding: "utf8" });
    const spaces = stdout.split("\n").filter((line) => line.startsWith(`stc${sum}-`));
    return [
      ...processes.map(describeProcess),
      ...spaces.map((name) => `network namespace ${name}`),
      ...(existsSync(this.folder) ? [`folder ${this.folder}`] : []),
    ];
  }

  /** Everything in the daemons' logs that names an error, for the message of a failed test. */
  logs(): string {
    return spawnSync(script, ["logs"], { env: this.#env, encoding: "utf8" }).stdout;
  }

  #isMarked(pid: number): boolean {
    const environment = read(`/proc/${pid}/environ`);
    return (
      environment.includes(`${MARK}=${this.folder}`) || environment.includes(`SLURM_CONF=${this.folder}/`)
    );
  }

  async #verb(...words: readonly (string | number)[]): Promise<void> {
    const child = spawn(script, words.map(String), {
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: VERB_MS,
    });
    const { status, stderr } = await resultOf(child);
    if (status === 0) return;
    throw new Error(`${basename(script)} ${words.join(" ")} ended with ${status ?? "a signal"}: ${stderr}`);
  }
}

/** Waits for the end of a program. */
export function resultOf(child: ChildProcess): Promise<CommandResult> {
  let stdout = "";
  let stderr = "";
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

function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && !hasEnded(stat);
}

/** Identity of a process' PID namespace; empty if the process has ended. */
function spaceOf(pid: number | string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return "";
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
