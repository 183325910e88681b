/**
 * Makes the variables that tell programs how many CPUs a job has and how it divides them:
 *
 *   -c C            each task has C threads: OMP_NUM_THREADS is C
 *   -n 1            one thread
 *   -n N alone      N ranks of one thread, or one program with N threads: nobody says which. The variable
 *                   stays unset: the CPUs of the job bound OpenMP and nproc, and Open MPI gives each of its
 *                   ranks one thread.
 *
 * On a cluster, a job with -n alone has ranks of one thread, as in Slurm: not all of its CPUs are on the node
 * of its command, and not every site pins.
 */
import { keepingShell } from "@tutti/host/shell.ts";
import { isElsewhere, type JobRecord } from "../contract/record.ts";
import { nodeTasks } from "./cluster/node-tasks.ts";

type Size = Pick<JobRecord, "tasks" | "threads" | "nodes">;
type Variables = Readonly<Record<string, string>>;

/**
 * What Open MPI starts in place of a rank's program, with the program as arguments. Open MPI splits it at
 * spaces, so the script has tabs. A number that the job's script has set stays.
 */
const ONE_THREAD = `${keepingShell().join(" ")} -c export\tOMP_NUM_THREADS="\${OMP_NUM_THREADS:-1}";exec\t"$0"\t"$@"`;
/**
 * Open MPI binds ranks to the first CPUs of the machine, even if the job may use others: it respects a
 * cpuset, but not taskset. So ranks share the CPUs of their job. Options of mpirun override this. Open MPI 5
 * reads the variables of PRRTE.
 */
const OPEN_MPI: Variables = {
  OMPI_MCA_hwloc_base_binding_policy: "none",
  PRTE_MCA_hwloc_default_binding_policy: "none",
};
const OPEN_MPI_RANKS: Variables = {
  OMPI_MCA_orte_fork_agent: ONE_THREAD,
  PRTE_MCA_odls_base_exec_agent: ONE_THREAD,
};
/** On one machine, a plain mpirun starts a rank for each slot. Without a number, each CPU counts as one. */
const openMpiSlots = (tasks: number | string): Variables => ({
  OMPI_MCA_orte_set_default_slots: String(tasks),
  PRTE_MCA_prte_set_default_slots: String(tasks),
});

/** @param environment the job's own, which wins, except for what Tutti set in a job that submitted it */
export function sizeVariables(size: Size, environment: Variables): Variables {
  const { tasks, threads } = size;
  const own = withoutOuterJob(environment);
  const isHere = !isElsewhere(size.nodes);
  const isOpen = threads === undefined && tasks > 1 && isHere;
  const isChosen = own.OMP_NUM_THREADS !== undefined;
  return {
    ...(!isOpen && { OMP_NUM_THREADS: String(threads ?? 1) }),
    ...OPEN_MPI,
    ...(isHere && openMpiSlots(tasks)),
    ...(isOpen && !isChosen && OPEN_MPI_RANKS),
    ...own,
    TUTTI_NTASKS: String(tasks),
    TUTTI_THREADS: String(threads ?? 1),
  };
}

/** A job that submits another one passes its environment on, with what Tutti has set there. */
function withoutOuterJob(environment: Variables): Variables {
  if (environment.TUTTI_JOB_ID === undefined) return environment;
  const set: Variables = {
    ...OPEN_MPI,
    ...OPEN_MPI_RANKS,
    ...openMpiSlots(environment.TUTTI_NTASKS ?? "1"),
    OMP_NUM_THREADS: environment.TUTTI_THREADS ?? "1",
  };
  return Object.fromEntries(Object.entries(environment).filter(([name, value]) => set[name] !== value));
}

/**
 * Slurm's variables of a job's size. Those by which MPI libraries recognise Slurm (SLURM_JOBID,
 * SLURM_NODELIST) are left out: the libraries would look for srun.
 * @param perTask SLURM_CPUS_PER_TASK of a job that an older client has submitted
 */
export function slurmSize({ tasks, threads, nodes }: Size, perTask = 1): Variables {
  const ranks = threads === undefined ? Math.max(1, Math.floor(tasks / perTask)) : tasks;
  const counts = nodes.map(({ cpus }) => cpus.length);
  return {
    SLURM_NTASKS: String(ranks),
    SLURM_NPROCS: String(ranks),
    ...(threads !== undefined && { SLURM_CPUS_PER_TASK: String(threads) }),
    SLURM_CPUS_ON_NODE: String(counts[0] ?? 0),
    SLURM_JOB_CPUS_PER_NODE: countsText(counts),
    SLURM_NNODES: String(nodes.length),
    SLURM_JOB_NUM_NODES: String(nodes.length),
  };
}

/** A host file for mpirun: a slot for each task. */
export function hostsOf(size: Size): string {
  return nodeTasks(size)
    .map(({ node, tasks }) => `${node} slots=${tasks}\n`)
    .join("");
}

/** Counts of nodes as Slurm writes them: `2(x3),1` for 2, 2, 2, 1. */
export function countsText(counts: readonly number[]): string {
  const runs: { count: number; times: number }[] = [];
  for (const count of counts) {
    const run = runs.at(-1);
    if (run?.count === count) run.times++;
    else runs.push({ count, times: 1 });
  }
  return runs.map(({ count, times }) => (times === 1 ? `${count}` : `${count}(x${times})`)).join(",");
}
