/**
 * Starts the ranks of a step inside a job of one node: n copies of a command, each with its number in
 * SLURM_PROCID. They share the CPUs of their job, and stop and end with it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { SlurmError } from "../errors.ts";
import { nodeName } from "../job/facts.ts";
import type { Options } from "../job/options.ts";
import { feedInput } from "./input.ts";
import { RankOutputs } from "./outputs.ts";

interface Shape {
  readonly ranks: number;
  readonly threads: number | undefined;
}

interface End {
  readonly rank: number;
  readonly code: number;
  /** Such as `Exited with exit code 3`; undefined: it succeeded. */
  readonly trouble: string | undefined;
}

const NUMBER = /^[1-9]\d{0,5}$/;
const MAX_RANKS = 4096;

/** @returns the highest exit code, as srun's */
export async function runRanks(options: Options, command: readonly string[]): Promise<number> {
  const { env } = process;
  const job = env.SLURM_JOB_ID ?? "";
  const shape = shapeOf(options, env, job);
  const step = nextStep(env.TUTTI_HOSTFILE);
  const node = env.SLURMD_NODENAME ?? nodeName();
  const outputs = new RankOutputs(options, { job, step, node, ranks: shape.ranks, env });
  const children: ChildProcess[] = [];
  const forward = (name: NodeJS.Signals) => {
    for (const child of children) child.kill(name);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const)
    process.on(name, () => forward(name));
  const cwd = options.get("chdir")?.value;
  const ends: Promise<End>[] = [];
  for (let rank = 0; rank < shape.ranks; rank++) {
    const stdio = outputs.stdioOf(rank);
    const child = spawn(command[0], command.slice(1), {
      stdio: [shape.ranks === 1 ? "inherit" : "pipe", stdio.out, stdio.err],
      env: rankEnvironment(env, shape, { rank, step, node }),
      ...(cwd !== undefined && { cwd }),
    });
    children.push(child);
    outputs.attach(rank, child);
    ends.push(endOf(child, rank, command[0]));
  }
  if (shape.ranks > 1) feedInput(children);
  const killOnFailure = options.has("kill-on-bad-exit") && options.get("kill-on-bad-exit")?.value !== "0";
  if (killOnFailure) {
    for (const end of ends) end.then(({ code }) => code !== 0 && forward("SIGTERM"));
  }
  const all = await Promise.all(ends);
  outputs.close();
  for (const line of troubleLines(all, node)) process.stderr.write(`srun: error: ${line}\n`);
  return Math.max(...all.map(({ code }) => code));
}

/** How many ranks, and how many CPUs each. @throws SlurmError if the job has too few CPUs */
function shapeOf(options: Options, env: NodeJS.ProcessEnv, job: string): Shape {
  const count = (name: string): number | undefined => {
    const value = options.get(name)?.value;
    if (value === undefined) return undefined;
    if (NUMBER.test(value)) return Number(value);
    throw new SlurmError(`Invalid numeric value "${value}" for --${name}.`);
  };
  if (Number(env.SLURM_NNODES ?? 1) > 1)
    throw new SlurmError(
      `Unable to create step for job ${job}: it has several nodes, where Tutti starts tasks with tutti submit --tasks-run each, or with mpirun`,
    );
  const nodes = Number(/^\d+/.exec(options.get("nodes")?.value ?? "1")?.[0] ?? 1);
  const perNode = count("ntasks-per-node");
  const threads = count("cpus-per-task") ?? (Number(env.SLURM_CPUS_PER_TASK) || undefined);
  const ranks =
    count("ntasks") ??
    (perNode === undefined ? undefined : perNode * nodes) ??
    (Number(env.SLURM_NTASKS) || nodes);
  const cpus = Number(env.SLURM_CPUS_ON_NODE ?? 1);
  if ((ranks * (threads ?? 1) > cpus && !options.has("overcommit")) || ranks > MAX_RANKS)
    throw new SlurmError(`Unable to create step for job ${job}: More processors requested than permitted`);
  return { ranks, threads };
}

/** Steps are numbered by folders next to the job's host file, which belong to the job's user. */
function nextStep(hostFile: string | undefined): number {
  if (hostFile === undefined) return 0;
  for (let step = 0; ; step++) {
    try {
      mkdirSync(join(dirname(hostFile), `step-${step}`));
      return step;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return 0;
    }
  }
}

function rankEnvironment(
  env: NodeJS.ProcessEnv,
  { ranks, threads }: Shape,
  { rank, step, node }: { readonly rank: number; readonly step: number; readonly node: string },
): NodeJS.ProcessEnv {
  const each = threads ?? Math.max(1, Math.floor(Number(env.SLURM_CPUS_ON_NODE ?? 1) / ranks));
  return {
    OMP_NUM_THREADS: String(each),
    ...env,
    SLURM_GTIDS: Array.from({ length: ranks }, (_, i) => i).join(","),
    SLURM_LOCALID: String(rank),
    SLURM_NODEID: "0",
    SLURM_NPROCS: String(ranks),
    SLURM_NTASKS: String(ranks),
    SLURM_PROCID: String(rank),
    SLURM_STEPID: String(step),
    SLURM_STEP_ID: String(step),
    SLURM_STEP_NODELIST: node,
    SLURM_STEP_NUM_NODES: "1",
    SLURM_STEP_NUM_TASKS: String(ranks),
    SLURM_STEP_TASKS_PER_NODE: String(ranks),
    SLURM_TASKS_PER_NODE: String(ranks),
    ...(threads !== undefined && { SLURM_CPUS_PER_TASK: String(threads) }),
  };
}

const ENDED_BY: Readonly<Record<string, string>> = {
  SIGABRT: "Aborted",
  SIGBUS: "Bus error",
  SIGFPE: "Floating point exception",
  SIGHUP: "Hangup",
  SIGILL: "Illegal instruction",
  SIGINT: "Interrupt",
  SIGKILL: "Killed",
  SIGSEGV: "Segmentation fault",
  SIGTERM: "Terminated",
};

function endOf(child: ChildProcess, rank: number, program: string): Promise<End> {
  return new Promise((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      const why =
        { ENOENT: "No such file or directory", EACCES: "Permission denied" }[error.code ?? ""] ??
        error.message;
      process.stderr.write(`slurmstepd: error: execve(): ${program}: ${why}\n`);
      // The numbers of the two errors, which Slurm has as exit codes.
      const code = error.code === "EACCES" ? 13 : 2;
      resolve({ rank, code, trouble: `Exited with exit code ${code}` });
    });
    // All output has arrived when the streams are closed.
    child.on("close", (code, signal) => {
      if (signal !== null) {
        resolve({ rank, code: 128 + constants.signals[signal], trouble: ENDED_BY[signal] ?? signal });
      } else {
        resolve({ rank, code: code ?? 1, trouble: code === 0 ? undefined : `Exited with exit code ${code}` });
      }
    });
  });
}

/** `n1: task 1: Exited with exit code 3`, `n1: tasks 0-1: Terminated`. */
function troubleLines(ends: readonly End[], node: string): readonly string[] {
  const byTrouble = new Map<string, number[]>();
  for (const { rank, trouble } of ends)
    if (trouble !== undefined) byTrouble.set(trouble, [...(byTrouble.get(trouble) ?? []), rank]);
  return [...byTrouble].map(([trouble, ranks]) => {
    const runs: [number, number][] = [];
    for (const rank of ranks) {
      const last = runs.at(-1);
      if (last !== undefined && rank === last[1] + 1) last[1] = rank;
      else runs.push([rank, rank]);
    }
    const list = runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
    return `${node}: ${ranks.length === 1 ? "task" : "tasks"} ${list}: ${trouble}`;
  });
}
