/**
 * Finds out what a site's Slurm allows: its settings, and what a step of a short job on one node can do.
 * Nothing is changed; the job ends with the examination.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { type ChildProcessWithoutNullStreams, spawn } from "@tutti/host/ports/child-process.ts";
import * as fs from "@tutti/host/ports/fs.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { commandEnvironment, lastWords, outputOf, runCommand } from "./commands.ts";
import { forcedSharing, parseConfig, parseShownNodes } from "./formats/scontrol.ts";
import { QUESTIONS_PER_S } from "./pilot.ts";
import { SlurmCommands } from "./slurm.ts";

export interface SiteDiagnosis {
  /** Such as 22.05.8. */
  readonly version: string;
  readonly cluster: string;
  readonly nodes: number;
  readonly processors: number;
  /** Nodes whose slurmd is of another version than the controller. */
  readonly otherVersions: readonly string[];
  /** Partitions where two pilots may have the same CPUs, although each asks for whole nodes. */
  readonly forcedSharing: readonly string[];
  /** Types of MPI for `--mpi`, without the versions of pmix. */
  readonly mpiTypes: readonly string[];
  readonly mpiDefault: string;
  /** How Slurm binds tasks to CPUs, such as task/affinity; task/none does not. */
  readonly taskPlugin: string;
  /** How Slurm finds the processes of a step, such as proctrack/cgroup. */
  readonly proctrack: string;
  /** After this time of silence, Slurm gives a node up. */
  readonly slurmdTimeout: string;
  /** Between TERM and KILL at the end of a limit. */
  readonly killWait: string;
  /** How long Slurm remembers a job that has ended. */
  readonly minJobAge: string;
  /** How many users have jobs now. */
  readonly users: number;
  /** Questions to Slurm a second, if each of them ran a scheduler with pilots. */
  readonly questionsPerS: number;
  /** Whether sacct works. */
  readonly accounting: boolean;
  /** On this machine, where connectors run. */
  readonly processes: ProcessLimit;
  /** What a step was seen to do; a text: why nothing was seen. */
  readonly step: StepDiagnosis | string;
}

/** How many processes the user may have: `ulimit -u`, which counts threads. */
export interface ProcessLimit {
  /** Null: as many as the machine can have. */
  readonly most: number | null;
  readonly used: number;
}

export interface StepDiagnosis {
  readonly node: string;
  readonly processes: ProcessLimit;
  /** CPUs on which the step may run. */
  readonly allowedCpus: string;
  /** Whether it can write a control group of its own: else gangs are stopped by signals. */
  readonly controlGroups: boolean;
  /** Whether it can take a real-time priority. */
  readonly realTime: boolean;
  /** From sbatch to the running job, and from srun to its first answer. */
  readonly startS: number;
  readonly connectMs: number;
  /** A line to a program on the node and back, through srun: the smallest, and the median. */
  readonly roundTripMs: number;
  readonly medianRoundTripMs: number;
  /** The node's monotonic clock minus this machine's, right within half the smallest round trip. */
  readonly clockOffsetMs: number;
  /** Steps that ran at once, of those that were started. */
  readonly stepsAtOnce: number;
  readonly stepsAsked: number;
  /** From the first srun until the last step of these ran. */
  readonly stepsMs: number;
}

const PINGS = 50;
/** Tutti starts at most as many steps at once, unless configured otherwise. */
const STEPS = 16;
const START_WAIT_MS = 60_000;
const STEP_WAIT_MS = 20_000;
const POLL_MS = 250;

/** Also runs on the node, as text: it may use nothing but its parameters. */
function processLimit(
  { readFileSync, readdirSync, statSync }: Pick<typeof fs, "readFileSync" | "readdirSync" | "statSync">,
  uid: number,
): ProcessLimit {
  const text = /^Max processes +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  let used = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (statSync(`/proc/${name}`).uid === uid) used += readdirSync(`/proc/${name}/task`).length;
    } catch {
      // It has ended.
    }
  }
  // Nothing limits root.
  return { most: text === undefined || uid === 0 ? null : Number(text), used };
}

/**
 * Prints what it may do, then answers each line with its monotonic clock in ms. `chrt` and a folder in its
 * own control group are tried because privileges alone do not tell.
 */
const PROBE = `
const fs = require("node:fs"), { spawnSync } = require("node:child_process");
const status = fs.readFileSync("/proc/self/status", "utf8");
const realTime = spawnSync("chrt", ["--fifo", "1", "true"]).status === 0;
let controlGroups = false;
for (const line of fs.readFileSync("/proc/self/cgroup", "utf8").trim().split("\\n")) {
  const [, kind, path] = line.split(":");
  if (kind !== "" && !kind.split(",").includes("freezer")) continue;
  const folder = "/sys/fs/cgroup/" + (kind === "" ? "" : "freezer/") + path + "/tutti-" + process.pid;
  try { fs.mkdirSync(folder); fs.rmdirSync(folder); controlGroups = true; } catch {}
}
const allowedCpus = /Cpus_allowed_list:\\s*(\\S+)/.exec(status)[1];
const processes = (${processLimit})(fs, process.getuid());
console.log(JSON.stringify({ allowedCpus, realTime, controlGroups, processes }));
process.stdin.on("data", () => console.log(String(Number(process.hrtime.bigint()) / 1e6)));
process.stdin.on("end", () => process.exit());
`;

/**
 * @param options of sbatch for the short job, such as a partition
 * @throws SlurmError if Slurm does not answer
 */
export async function diagnoseSite(options: readonly string[]): Promise<SiteDiagnosis> {
  const config = parseConfig(await outputOf(runCommand, "scontrol", ["show", "config"]));
  const version = config.get("SLURM_VERSION")!;
  const nodes = parseShownNodes(await outputOf(runCommand, "scontrol", ["--oneliner", "show", "node"]));
  const setting = (name: string) => config.get(name) ?? "unknown";
  const owners = await outputOf(runCommand, "squeue", ["--noheader", "--format=%u"]);
  const users = new Set(owners.split("\n").filter((owner) => owner !== "")).size;
  return {
    version,
    cluster: setting("ClusterName"),
    nodes: nodes.length,
    processors: nodes.reduce((sum, { cpus }) => sum + cpus, 0),
    otherVersions: nodes
      .filter((node) => node.version !== undefined && node.version !== version)
      .map(({ node }) => node),
    forcedSharing: forcedSharing(await outputOf(runCommand, "scontrol", ["--oneliner", "show", "partition"])),
    mpiTypes: await mpiTypes(),
    mpiDefault: setting("MpiDefault"),
    taskPlugin: setting("TaskPlugin"),
    proctrack: setting("ProctrackType"),
    slurmdTimeout: setting("SlurmdTimeout"),
    killWait: setting("KillWait"),
    minJobAge: setting("MinJobAge"),
    users,
    questionsPerS: Math.max(1, users) * QUESTIONS_PER_S,
    accounting: setting("AccountingStorageType") === "accounting_storage/slurmdbd",
    processes: processLimit(fs, process.getuid!()),
    step: await examineStep(options).catch((error: unknown) => (error as Error).message),
  };
}

/** srun prints the list on standard error. */
async function mpiTypes(): Promise<string[]> {
  const { stdout, stderr } = await runCommand("srun", ["--mpi=list"]);
  return [...(stdout + stderr).matchAll(/^\s+(?:srun: )?([a-z][\w]*)$/gm)].map(([, type]) => type);
}

/** @throws Error that says why no step was seen */
async function examineStep(options: readonly string[]): Promise<StepDiagnosis> {
  const slurm = new SlurmCommands(runCommand);
  const words = ["--nodes=1", "--ntasks=1", "--time=5", "--job-name=tutti-doctor", "--output=/dev/null"];
  const fromMs = monotonicMs();
  const id = await slurm.submit([...words, ...options], "#!/bin/sh\nexec sleep 240\n");
  try {
    const node = await runningOn(slurm, id);
    const startS = (monotonicMs() - fromMs) / 1000;
    return { node, startS, ...(await examineWire(id)), ...(await countSteps(id)) };
  } finally {
    await slurm.cancel(id);
  }
}

/** Waits until the job runs. @returns its node */
async function runningOn(slurm: SlurmCommands, id: string): Promise<string> {
  for (const fromMs = monotonicMs(); ; ) {
    const job = await slurm.job(id);
    if (job?.state === "RUNNING" && job.nodes.length > 0) return job.nodes[0];
    if (job?.state !== "PENDING" && job?.state !== "RUNNING")
      throw new Error(`a short job of Slurm ended as ${job?.state ?? "unknown"}`);
    if (monotonicMs() - fromMs > START_WAIT_MS) {
      const waitedS = START_WAIT_MS / 1000;
      throw new Error(`a short job of Slurm did not start within ${waitedS} s (${job.reason})`);
    }
    await sleep(POLL_MS);
  }
}

/** A step of the job, without a time limit of its own. */
function step(id: string, ...command: readonly string[]): ChildProcessWithoutNullStreams {
  const words = [`--jobid=${id}`, "--overlap", "--nodes=1", "--ntasks=1", "--mpi=none", "--unbuffered"];
  const child = spawn("srun", [...words, ...command], { cwd: "/", env: commandEnvironment(process.env) });
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  return child;
}

/** Lines of a step's output, one by one. */
function linesOf(child: ChildProcessWithoutNullStreams): () => Promise<string> {
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const lines: string[] = [];
  let rest = "";
  let wake = () => {};
  let hasEnded = false;
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop()!;
    lines.push(...parts);
    wake();
  });
  child.on("close", () => {
    hasEnded = true;
    wake();
  });
  return async () => {
    const timer = setTimeout(() => child.kill("SIGKILL"), STEP_WAIT_MS);
    while (lines.length === 0 && !hasEnded) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    clearTimeout(timer);
    const line = lines.shift();
    if (line === undefined) throw new Error(`a step gave no answer: ${lastWords(said)}`);
    return line;
  };
}

async function examineWire(id: string) {
  const fromMs = monotonicMs();
  const child = step(id, process.execPath, "-e", PROBE);
  try {
    const next = linesOf(child);
    const facts = JSON.parse(await next()) as Pick<
      StepDiagnosis,
      "allowedCpus" | "realTime" | "controlGroups" | "processes"
    >;
    const connectMs = monotonicMs() - fromMs;
    const pings: { readonly roundTripMs: number; readonly offsetMs: number }[] = [];
    for (let i = 0; i < PINGS; i++) {
      const sentMs = monotonicMs();
      child.stdin.write("?\n");
      const thereMs = Number(await next());
      const backMs = monotonicMs();
      pings.push({ roundTripMs: backMs - sentMs, offsetMs: thereMs - (sentMs + backMs) / 2 });
    }
    pings.sort((a, b) => a.roundTripMs - b.roundTripMs);
    return {
      ...facts,
      connectMs,
      roundTripMs: pings[0].roundTripMs,
      medianRoundTripMs: pings[PINGS / 2].roundTripMs,
      clockOffsetMs: pings[0].offsetMs,
    };
  } finally {
    child.stdin.end();
  }
}

/** Starts steps that wait for each other's start: each reads its input until all have reported. */
async function countSteps(id: string) {
  const fromMs = monotonicMs();
  const children = Array.from({ length: STEPS }, () => step(id, "/bin/sh", "-c", "echo up; read x"));
  const starts = await Promise.allSettled(
    children.map(async (child) => {
      await linesOf(child)();
      return monotonicMs() - fromMs;
    }),
  );
  for (const child of children) child.stdin.end();
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  return { stepsAtOnce: started.length, stepsAsked: STEPS, stepsMs: Math.max(0, ...started) };
}
