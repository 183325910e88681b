/** What an attempt is in Slurm: its mark, its options of sbatch, its script, and how its end is read. */

import { mkdirSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { outputsElsewhere } from "../../../../conductor/attempts/shim.ts";
import { environmentInShell, quote } from "../../../../host/shell.ts";
import type { AttemptEnd, AttemptState, EndReason, LaunchSpec } from "../../../../protocol/attempts.ts";
import type { QueuedJob } from "../formats/queue.ts";
import type { ShownJob } from "../formats/scontrol.ts";
import { minutesOf } from "../sbatch-options.ts";
import type { StoredAttempt } from "./file.ts";

/** An attempt while the executor knows it. */
export interface NativeAttempt extends StoredAttempt {
  /** Comment of its job in Slurm. A job without it is not ours, whatever its id. */
  readonly mark: string;
  /** Left out: another front end has launched it. */
  spec?: LaunchSpec;
  /** Its start on the monotonic clock in ms, so that its limit does not depend on the wall clock. */
  runsSinceMs?: number;
  /** What Slurm says about it now, in words. */
  note?: string;
  /**
   * Why Tutti ends it, and when KILL follows on the monotonic clock in ms; ∞: it has not been signalled.
   */
  stop?: { readonly reason: EndReason; killAtMs: number };
  end?: AttemptEnd;
  /** Polls in a row in which Slurm did not list it. */
  missing: number;
}

export function markOf(
  owner: string,
  { job, attempt, identity = "" }: Pick<StoredAttempt, "job" | "attempt" | "identity">,
): string {
  return `${prefixOf(owner)}${job}.${attempt}.${identity}`;
}

export function prefixOf(owner: string): string {
  return `tutti:${owner}:native:`;
}

const MAX_WORDS = 20;
const MAX_WORD = 200;

export function attemptOf(owner: string, spec: LaunchSpec): NativeAttempt {
  const { job, attempt, identity, folder, cwd, command, graceMs, limitMs } = spec;
  return {
    ...{ job, attempt, folder, cwd, graceMs, spec, missing: 0 },
    command: command.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD)),
    identity,
    limitMs,
    mark: markOf(owner, spec),
  };
}

/** What the file keeps. */
export function storedOf(attempt: NativeAttempt): StoredAttempt {
  const { job, identity, folder, cwd, command, graceMs, limitMs, id, releasedAtMs, startedAtMs } = attempt;
  return {
    ...{ job, attempt: attempt.attempt, folder, cwd, command: [...command], graceMs },
    ...{ identity, limitMs, id, releasedAtMs, startedAtMs, endReason: attempt.stop?.reason },
  };
}

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

/** A folder that the attempt's script makes before anything else, so that it runs once. */
const BEGAN = "began";
const SCRIPT = "slurm-job";

export function beganFolder({ folder }: Pick<StoredAttempt, "folder">): string {
  return join(folder, BEGAN);
}

export function scriptFile({ folder }: Pick<StoredAttempt, "folder">): string {
  return join(folder, SCRIPT);
}

/** What sbatch gets; Slurm keeps it where administrators can read it, so the environment is elsewhere. */
export function batchScript(attempt: Pick<StoredAttempt, "folder">): string {
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
  const { cwd, command, env, stdout, stderr, umask = 0o022, threads, tasksRun, mpi = "none" } = spec;
  // From 22.05 on, srun does not take the number from sbatch.
  const perTask = threads === undefined ? [] : [`--cpus-per-task=${threads}`];
  const words = tasksRun === "each" ? ["srun", `--mpi=${mpi}`, ...perTask, ...command] : command;
  const { TUTTI_CPUS: _, ...kept } = env;
  const { exported, prefix } = environmentInShell(kept);
  return [
    "# Slurm may start a job again; its command runs once.",
    `mkdir ${quote(beganFolder(spec))} || exit 1`,
    `umask ${umask.toString(8).padStart(3, "0")}`,
    ...outputsElsewhere(spec).map((path) => `mkdir -p -- ${quote(dirname(path))}`),
    `exec </dev/null >>${quote(stdout)} 2>>${quote(stderr)}`,
    `${HOSTS} >${quote(env.TUTTI_HOSTFILE ?? "/dev/null")}`,
    "# The environment is that of the submit, with Slurm's own variables.",
    "for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z_0-9]*\\)=.*/\\1/p'); do",
    '  case $name in SLURM_TIME_FORMAT) unset "$name" ;; SLURM*) ;; *) unset "$name" ;; esac',
    "done",
    ...exported
      .filter(([name]) => !name.startsWith("SLURM"))
      .map(([name, value]) => `export ${name}=${quote(value)}`),
    'export TUTTI_NODELIST="$SLURM_JOB_NODELIST"',
    `cd ${quote(cwd)} || exit 126`,
    `exec ${prefix}${words.map(quote).join(" ")}`,
    "",
  ].join("\n");
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

const REASONS: Readonly<Record<string, EndReason>> = {
  CANCELLED: "cancelled",
  TIMEOUT: "time-limit",
  DEADLINE: "time-limit",
  OUT_OF_MEMORY: "memory-limit",
};

/** @param began whether its command has begun */
export function endOf(
  attempt: NativeAttempt,
  { state, exitCode, signal, startS, endS }: ShownJob,
  began: boolean,
): AttemptEnd {
  const { job, identity, id, stop } = attempt;
  const reason = stop?.reason ?? REASONS[state] ?? "none";
  const endedAtMs = (endS ?? 0) * 1000;
  const startedAtMs = attempt.startedAtMs ?? (startS ?? endS ?? 0) * 1000;
  const name = signalName(signal);
  const status =
    state === "COMPLETED" || (state === "FAILED" && name === undefined)
      ? { code: exitCode }
      : name !== undefined
        ? { signal: name }
        : {};
  const isKnown = "code" in status || "signal" in status || reason !== "none";
  return {
    ...{ job, attempt: attempt.attempt, reason, endedAtMs },
    identity,
    ...status,
    ...(!isKnown && { lost: `Slurm has ended its job ${id}: ${state}` }),
    ...(began ? { startedAtMs } : { neverBegan: true }),
    ranMs: began ? Math.max(0, endedAtMs - startedAtMs) : 0,
  };
}

/** An end that Slurm does not explain. */
export function lostEnd(
  { job, attempt, identity, stop }: NativeAttempt,
  lost: string,
  endedAtMs: number,
  began: boolean,
): AttemptEnd {
  return {
    ...{ job, attempt, reason: stop?.reason ?? "none", lost, endedAtMs, ranMs: 0 },
    identity,
    ...(!began && { neverBegan: true }),
  } as AttemptEnd;
}

export function stateOf(attempt: NativeAttempt, unixMs: number): AttemptState {
  const { job, identity, end, startedAtMs, command, cwd, folder, stop } = attempt;
  const phase =
    end !== undefined
      ? "ended"
      : startedAtMs === undefined
        ? "launching"
        : stop === undefined
          ? "running"
          : "stopping";
  return {
    ...{ job, attempt: attempt.attempt, phase },
    identity,
    about: { command, cwd, folder, startedAtMs },
    ranMs: end?.ranMs ?? (startedAtMs === undefined ? 0 : Math.max(0, unixMs - startedAtMs)),
    end,
  };
}

/** Prevents a later start of the attempt's command. @returns false if it has begun */
export function blockBeginning(attempt: NativeAttempt): boolean {
  if (attempt.startedAtMs !== undefined) return false;
  try {
    mkdirSync(beganFolder(attempt));
    return true;
  } catch {
    return false;
  }
}

/** What Slurm says about a job that has not ended, in words. */
export function noteOn(
  { id, startedAtMs }: NativeAttempt,
  { state, reason, nodeList, eligibleS }: QueuedJob,
): string {
  if (phaseOf(state) === "running")
    return `It runs as Slurm's job ${id} on ${nodeList}${state === "RUNNING" ? "" : ` (${state})`}`;
  if (reason.startsWith("JobHeld")) return `Slurm holds its job ${id} (${reason})`;
  const from =
    reason === "BeginTime" && eligibleS !== undefined
      ? ` until ${new Date(eligibleS * 1000).toTimeString().slice(0, 8)}`
      : "";
  const why = reason === "None" ? ", and takes about 3 s for that" : ` (${reason}${from})`;
  return startedAtMs === undefined
    ? `Slurm has yet to start its job ${id}${why}`
    : `Slurm's job ${id} waits${why}`;
}

/** Name of a signal such as SIGKILL; undefined for 0. */
function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
