/** What an attempt is in Slurm: its options of sbatch, its script, and what Slurm's states mean. */
import { constants } from "@tutti/host/ports/os.ts";
import { quote } from "@tutti/host/shell.ts";
import { scriptOf } from "@tutti/live/daemon/executor/queue/attempt-script.ts";
import { scriptFile } from "@tutti/live/daemon/executor/queue/queued-attempt.ts";
import type { EndReason, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { minutesOf } from "../sbatch-options.ts";

/**
 * The job is held until the policy starts it. Slurm chooses its nodes: it may spread the tasks in another
 * way than a policy counts them, and a fixed list of nodes could then wait for ever.
 */
export function submitOptions(
  { tasks = 1, threads, memoryBytes, limitMs, env }: LaunchSpec,
  mark: string,
): string[] {
  const cpus = tasks * (threads ?? 1);
  return [
    "--hold",
    `--ntasks=${tasks}`,
    ...(threads === undefined ? [] : [`--cpus-per-task=${threads}`]),
    ...(limitMs === undefined ? [] : [`--time=${minutesOf(limitMs)}`]),
    ...(memoryBytes === undefined ? [] : [`--mem-per-cpu=${Math.ceil(memoryBytes / cpus / 1024)}K`]),
    `--comment=${mark}`,
    `--job-name=${env.TUTTI_JOB_NAME ?? "tutti"}`,
    "--requeue",
    "--output=/dev/null",
    "--chdir=/",
  ];
}

/** What sbatch gets; Slurm keeps it where administrators can read it, so the environment is elsewhere. */
export function batchScript(attempt: Pick<LaunchSpec, "folder">): string {
  return `#!/bin/sh\nexec /bin/sh ${quote(scriptFile(attempt))}\n`;
}

/** One line per node: its name, and the number of its tasks. SLURM_TASKS_PER_NODE is such as 2(x3),1. */
const HOSTS = `scontrol show hostnames "$SLURM_JOB_NODELIST" | awk -v list="$SLURM_TASKS_PER_NODE" '
  BEGIN {
    n = split(list, parts, ",")
    for (i = 1; i <= n; i++) {
      times = split(parts[i], x, /[(x)]+/) > 1 ? x[2] : 1
      while (times-- > 0) slots[++k] = x[1]
    }
  }
  { print $1 " slots=" slots[NR] }'`;

/** The script of the attempt, in its folder: once, the command; each, srun starts it for every task. */
export function attemptScript(spec: LaunchSpec): string {
  const { command, env, threads, tasksRun, mpi = "none" } = spec;
  // From 22.05 on, srun does not take the number from sbatch.
  const perTask = threads === undefined ? [] : [`--cpus-per-task=${threads}`];
  return scriptOf(spec, {
    first: [`${HOSTS} >${quote(env.TUTTI_HOSTFILE ?? "/dev/null")}`],
    cases: 'SLURM_TIME_FORMAT) unset "$name" ;; SLURM*) ;; ',
    isOwn: (name) => name.startsWith("SLURM"),
    last: ['export TUTTI_NODELIST="$SLURM_JOB_NODELIST"'],
    words: tasksRun === "each" ? ["srun", `--mpi=${mpi}`, ...perTask, ...command] : command,
  });
}

/** States of Slurm in which a job may start or go on; all others are ends. */
const LIVE: ReadonlySet<string> = new Set(
  "PENDING CONFIGURING RUNNING COMPLETING SUSPENDED STOPPED RESIZING SIGNALING STAGE_OUT".split(" "),
);
const WAITING: ReadonlySet<string> = new Set(["PENDING", "CONFIGURING"]);
/** Slurm queues the job again, or holds it after its end. */
const AGAIN: ReadonlySet<string> = new Set(["REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"]);

export function phaseOf(state: string): "waiting" | "running" | "again" | "ended" {
  if (WAITING.has(state)) return "waiting";
  if (LIVE.has(state)) return "running";
  return AGAIN.has(state) ? "again" : "ended";
}

/** Why Slurm ended a job, by its state; others have ended by themselves. */
export const REASONS: Readonly<Record<string, EndReason>> = {
  CANCELLED: "cancelled",
  TIMEOUT: "time-limit",
  DEADLINE: "time-limit",
  OUT_OF_MEMORY: "memory-limit",
};

/** Name of a signal such as SIGKILL; undefined for 0. */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
