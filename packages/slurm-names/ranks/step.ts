/**
 * Starts the ranks of a step inside a job of one node: n copies of a command, each with its number in
 * SLURM_PROCID. They share the CPUs of their job, and stop and end with it.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { chooseEnvironment } from "@tutti/cli/options/job-values.ts";
import type { Given } from "@tutti/cli/options/slurm-given.ts";
import { ownExport } from "@tutti/cli/options/slurm-options.ts";
import { nodeName } from "@tutti/cli/options/slurm-site.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import { SlurmError } from "../errors.ts";
import { startLaunched } from "./launched.ts";
import type { Launcher } from "./mpi.ts";
import { RankOutputs } from "./outputs.ts";
import { startPlain } from "./plain.ts";
import type { RankPlan } from "./plan.ts";
import { programsIn } from "./programs.ts";
import type { RankEnd, RankStreams } from "./started.ts";

interface Shape {
  readonly ranks: number;
  readonly threads: number | undefined;
  readonly cpus: number;
}

const NUMBER = /^[1-9]\d{0,5}$/;
const MAX_RANKS = 4096;

/**
 * @param launcher of an MPI library; undefined: the ranks need none
 * @returns the step's exit code
 */
export async function runRanks(
  options: Given,
  command: readonly string[],
  launcher: Launcher | undefined,
): Promise<number> {
  const { env } = process;
  // It passes signals on, so a signal to the whole job leaves it out by this name.
  process.title = "srun";
  const job = env.SLURM_JOB_ID ?? "";
  const shape = shapeOf(options, env, job);
  const { step, folder } = nextStep(env.TUTTI_HOSTFILE);
  const node = env.SLURMD_NODENAME ?? nodeName();
  const outputs = new RankOutputs(options, { job, step, node, ranks: shape.ranks, env });
  const plan: RankPlan = {
    ranks: shape.ranks,
    step,
    cpus: shape.cpus,
    command,
    programs: options.has("multi-prog") ? programsIn(command[0], shape.ranks, command.slice(1)) : undefined,
    waitS: Number(options.get("wait")?.value ?? env.SLURM_WAIT) || undefined,
    cwd: options.get("chdir")?.value,
    env: stepEnvironment(exportedOf(options, env), shape, node),
    gpusEach: count("gpus-per-task", options) ?? (Number(env.SLURM_GPUS_PER_TASK) || undefined),
    outputs,
    isInTerminal: options.has("pty"),
    killOnFailure: options.has("kill-on-bad-exit") && options.get("kill-on-bad-exit")?.value !== "0",
    folder,
  };
  const started = launcher === undefined ? startPlain(plan) : startLaunched(plan, launcher);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const)
    process.on(name, () => started.signal(name));
  for (const [rank, streams] of started.streams.entries()) outputs.attach(rank, streams);
  feedInput(started.streams);
  const ends = await started.ends;
  outputs.close();
  for (const line of troubleLines(ends, node)) process.stderr.write(`srun: error: ${line}\n`);
  return started.code(ends);
}

/** @throws SlurmError */
function count(name: string, options: Given): number | undefined {
  const value = options.get(name)?.value;
  if (value === undefined) return undefined;
  if (NUMBER.test(value)) return Number(value);
  throw new SlurmError(`Invalid numeric value "${value}" for --${name}.`);
}

/** How many ranks, and how many CPUs each. @throws SlurmError if the job has too few CPUs */
function shapeOf(options: Given, env: NodeJS.ProcessEnv, job: string): Shape {
  if (Number(env.SLURM_NNODES ?? 1) > 1)
    throw new SlurmError(
      `Unable to create step for job ${job}: it has several nodes, where Tutti starts tasks with tutti submit --tasks-run each, or with mpirun`,
    );
  const nodes = Number(/^\d+/.exec(options.get("nodes")?.value ?? "1")?.[0] ?? 1);
  const relative = Number(options.get("relative")?.value ?? 0);
  if (relative > 0)
    throw new SlurmError(
      `--relative and --nodes option incompatible with count of allocated nodes (${relative}+${nodes}>1)`,
    );
  const perNode = count("ntasks-per-node", options);
  const threads = count("cpus-per-task", options) ?? (Number(env.SLURM_CPUS_PER_TASK) || undefined);
  const ranks =
    count("ntasks", options) ??
    (perNode === undefined ? undefined : perNode * nodes) ??
    (Number(env.SLURM_NTASKS) || nodes);
  const cpus = Number(env.SLURM_CPUS_ON_NODE ?? 1);
  if ((ranks * (threads ?? 1) > cpus && !options.has("overcommit")) || ranks > MAX_RANKS)
    throw new SlurmError(`Unable to create step for job ${job}: More processors requested than permitted`);
  return { ranks, threads, cpus };
}

/** Steps are numbered by folders next to the job's host file, which belong to the job's user. */
function nextStep(hostFile: string | undefined): {
  readonly step: number;
  readonly folder: string | undefined;
} {
  if (hostFile === undefined) return { step: 0, folder: undefined };
  for (let step = 0; ; step++) {
    const folder = join(dirname(hostFile), `step-${step}`);
    try {
      mkdirSync(folder);
      return { step, folder };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return { step: 0, folder: undefined };
    }
  }
}

/** What --export, or that of sbatch, lets ranks have; always the variables of the job. */
function exportedOf(options: Given, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const value = options.get("export")?.value ?? env.SLURM_EXPORT_ENV;
  if (value === undefined) return env;
  return { ...chooseEnvironment("SLURM*,TUTTI*", env), ...chooseEnvironment(ownExport(value), env) };
}

function stepEnvironment(
  env: NodeJS.ProcessEnv,
  { ranks, threads, cpus }: Shape,
  node: string,
): NodeJS.ProcessEnv {
  const each = threads ?? Math.max(1, Math.floor(cpus / ranks));
  return {
    OMP_NUM_THREADS: String(each),
    ...env,
    SLURM_GTIDS: Array.from({ length: ranks }, (_, i) => i).join(","),
    SLURM_NODEID: "0",
    SLURM_NPROCS: String(ranks),
    SLURM_NTASKS: String(ranks),
    SLURM_STEP_NODELIST: node,
    SLURM_STEP_NUM_NODES: "1",
    SLURM_STEP_NUM_TASKS: String(ranks),
    SLURM_STEP_TASKS_PER_NODE: String(ranks),
    SLURM_TASKS_PER_NODE: String(ranks),
    ...(threads !== undefined && { SLURM_CPUS_PER_TASK: String(threads) }),
  };
}

/** `n1: task 1: Exited with exit code 3`, `n1: tasks 0-1: Terminated`. */
function troubleLines(ends: readonly RankEnd[], node: string): readonly string[] {
  const byTrouble = new Map<string, number[]>();
  for (const { rank, trouble } of ends)
    if (trouble !== undefined) byTrouble.set(trouble, [...(byTrouble.get(trouble) ?? []), rank]);
  return [...byTrouble].map(([trouble, ranks]) => {
    const list = rangesText(rangesOf(ranks));
    return `${node}: ${ranks.length === 1 ? "task" : "tasks"} ${list}: ${trouble}`;
  });
}

/** Copies standard input to all ranks, as srun does; a rank that has ended gets no more. */
function feedInput(ranks: readonly RankStreams[]): void {
  const inputs = ranks.flatMap(({ stdin }) => (stdin === null ? [] : [stdin]));
  // A rank that has our own standard input reads it itself.
  if (inputs.length === 0) return;
  for (const input of inputs) input.on("error", () => {});
  process.stdin.on("error", () => {});
  process.stdin.on("data", (piece: Buffer) => {
    const full = inputs.filter((input) => input.writable && !input.write(piece));
    if (full.length === 0) return;
    process.stdin.pause();
    let waiting = full.length;
    for (const input of full) {
      let isDone = false;
      const done = () => {
        if (isDone) return;
        isDone = true;
        if (--waiting === 0) process.stdin.resume();
      };
      input.once("drain", done).once("close", done);
    }
  });
  process.stdin.on("end", () => {
    for (const input of inputs) input.end();
  });
  // Input that never ends must not keep srun alive when all ranks have ended.
  const handle = process.stdin as typeof process.stdin & { unref?: () => void };
  handle.unref?.();
}
