/**
 * Writes the command that starts the tasks of a gang on its nodes, and the variables by which srun and
 * mpirun inside a job find its nodes.
 */

import { nodeTasks } from "@tutti/live/daemon/executor/cluster/node-tasks.ts";
import { countsText, slurmSize } from "@tutti/live/daemon/executor/size-variables.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { GPU, GPU_VARIABLES, variableOf } from "@tutti/protocol/resources.ts";
import { stepOptions } from "./batch-script.ts";

interface StepPlace {
  readonly jobId: string;
  /** Path of srun. */
  readonly srun: string;
  /** Environment of srun itself. Its tasks get theirs from Slurm and from their shims. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether Slurm binds tasks to CPUs here. */
  readonly bindsTasks: boolean;
  /** Path of `TASK_PROLOG`. */
  readonly prolog: string;
}

/**
 * Slurm gives each task of a step all GPUs of the pilot, whatever srun had in its environment. Those of a job
 * have its own: what a task prolog prints changes the task's environment.
 */
export const TASK_PROLOG = `#!/bin/sh
for name in ${GPU_VARIABLES.join(" ")}; do echo "export $name=$${variableOf(GPU)}"; done
`;

/**
 * Tries three more times to create a step, because Slurm refuses for seconds after a restart of its
 * controller, with misleading words. Not when a task has been started: it has claimed its folder. TERM ends
 * the step. Arguments: folder of the attempt, then the command.
 */
const TRY_AGAIN = `
folder=$1
shift
stopped=
trap 'stopped=yes; kill -TERM "$step" 2> /dev/null' TERM
for pause in 1 5 15 0; do
  "$@" &
  step=$!
  while kill -0 "$step" 2> /dev/null; do wait "$step"; done
  for claim in "$folder"/tasks/*/claim; do [ -L "$claim" ] && exit; done
  [ -z "$stopped" ] || exit
  sleep $pause &
  step=$!
  wait "$step"
  [ -z "$stopped" ] || exit
done
`;
/** Starts the shim of the task whose rank Slurm gives. Argument: folder of the attempt. */
const TASK = 'exec /bin/sh "$1/tasks/$SLURM_PROCID/launch"';

/** Tasks have the ranks 0, 1, … in the order of the nodes. */
export function stepCommand(
  { jobId, srun, environment, bindsTasks }: StepPlace,
  spec: Pick<LaunchSpec, "folder" | "mpi" | "nodes" | "tasks" | "threads">,
): readonly string[] {
  const { folder, mpi } = spec;
  const nodes = nodeTasks(spec);
  // Only an arbitrary distribution can put unequal numbers of tasks on nodes: the list then names a node
  // once for each task.
  const list = nodes.flatMap(({ node, tasks }) => Array<string>(tasks).fill(node));
  const options = stepOptions(bindsTasks).filter(
    (option) => mpi === undefined || !option.startsWith("--mpi="),
  );
  return [
    "/usr/bin/env",
    "-i",
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    "/bin/sh",
    "-c",
    TRY_AGAIN,
    "tutti-step",
    folder,
    srun,
    ...options,
    ...(mpi === undefined ? [] : [`--mpi=${mpi}`]),
    "--input=none",
    "--output=none",
    "--error=none",
    "--kill-on-bad-exit=0",
    "--wait=0",
    `--jobid=${jobId}`,
    `--nodes=${nodes.length}`,
    `--ntasks=${list.length}`,
    "--distribution=arbitrary",
    `--nodelist=${list.join(",")}`,
    "/bin/sh",
    "-c",
    TASK,
    "tutti-task",
    folder,
  ];
}

/**
 * With each SIGCONT, mpirun of Open MPI 4 sends a message to its daemons on other nodes, and ends with an
 * error if one has not connected yet.
 */
const FORWARDED = "OMPI_MCA_ess_base_forward_signals";

const PROLOG = "SLURM_TASK_PROLOG";

/**
 * The variables that sbatch would set in a job on these nodes, and what mpirun needs if the job does not
 * set it.
 */
export function gangVariables(
  { jobId, environment, bindsTasks, prolog }: Omit<StepPlace, "srun">,
  spec: Pick<LaunchSpec, "nodes" | "tasks" | "threads" | "env">,
): Readonly<Record<string, string>> {
  const nodes = nodeTasks(spec);
  const list = nodes.map(({ node }) => node).join(",");
  const used = new Set(nodes.map(({ node }) => node));
  const { threads } = spec;
  const size = {
    tasks: nodes.reduce((sum, { tasks }) => sum + tasks, 0),
    threads,
    nodes: (spec.nodes ?? []).filter(({ node }) => used.has(node)),
  };
  const { SLURM_CONF } = environment;
  return {
    SLURM_JOB_ID: jobId,
    SLURM_JOBID: jobId,
    SLURM_JOB_NODELIST: list,
    SLURM_NODELIST: list,
    SLURM_TASKS_PER_NODE: countsText(nodes.map(({ tasks }) => tasks)),
    ...slurmSize(size),
    SLURM_OVERLAP: "1",
    // Else Slurm ends steps on all nodes when one is down, and srun ends with 0: a job that goes on after it
    // looks done. So its gang is killed as lost.
    SLURM_NO_KILL: "set",
    // Tutti gives each gang its CPUs; srun would put all gangs on the first ones.
    ...(bindsTasks && { SLURM_CPU_BIND: "none" }),
    // It follows the administrator's own, and a job may replace it.
    ...(spec.env[variableOf(GPU)] !== undefined && { [PROLOG]: spec.env[PROLOG] ?? prolog }),
    [FORWARDED]: spec.env[FORWARDED] ?? "none",
    ...(SLURM_CONF !== undefined && { SLURM_CONF }),
  };
}
