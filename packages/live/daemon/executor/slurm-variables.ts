/**
 * Makes Slurm's variables for jobs whose script was written for Slurm. A script that `tutti submit` took gets
 * few: MPI libraries recognise Slurm by the others, and would look for srun. A job that was submitted by one
 * of Slurm's names (docs/slurm-names.md) has srun, so it gets all that Slurm sets for a job of one node.
 */
import { hostname } from "@tutti/host/ports/os.ts";
import { ofKind } from "@tutti/protocol/resources.ts";
import { isElsewhere, type JobRecord } from "../contract/record.ts";
import { nodeTasks } from "./cluster/node-tasks.ts";
import { countsText, slurmSize } from "./size-variables.ts";

type Variables = Readonly<Record<string, string>>;

/** @param environment the job's own, with what the command that submitted it has set */
export function slurmVariables(
  record: JobRecord,
  account: { readonly uid: number; readonly gid: number },
  environment: Variables,
): Variables {
  const { SLURM_SUBMIT_DIR, TUTTI_SLURM_NAMES } = environment;
  const isByName = TUTTI_SLURM_NAMES !== undefined;
  if (SLURM_SUBMIT_DIR === undefined || (record.script === undefined && !isByName)) return {};
  const { job, name, queue, user, array, arrayIndex } = record;
  return {
    SLURM_JOB_ID: String(job),
    SLURM_JOB_NAME: name,
    SLURM_JOB_PARTITION: queue,
    SLURM_JOB_USER: user,
    ...sizeOf(record, environment),
    ...(array !== undefined && { SLURM_ARRAY_JOB_ID: String(array) }),
    ...(arrayIndex !== undefined && { SLURM_ARRAY_TASK_ID: String(arrayIndex) }),
    ...(isByName && variablesOfNames(record, account)),
  };
}

/** As in Slurm, a job knows the number of its tasks only if its submit has named it. */
function sizeOf(record: JobRecord, environment: Variables): Variables {
  const { SLURM_CPUS_PER_TASK, SLURM_NTASKS: asked, TUTTI_SLURM_NAMES } = environment;
  if (TUTTI_SLURM_NAMES === undefined) return slurmSize(record, Number(SLURM_CPUS_PER_TASK) || 1);
  const { SLURM_NPROCS, SLURM_NTASKS, ...size } = slurmSize(record);
  return { ...size, ...(asked !== undefined && { SLURM_NPROCS, SLURM_NTASKS }) };
}

function variablesOfNames(
  record: JobRecord,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Variables {
  const { job, nodes, attempt } = record;
  const names = isElsewhere(nodes) ? nodes.map(({ node }) => node) : [hostname().split(".")[0]];
  const tasks = nodeTasks(record).map((each) => each.tasks);
  const gpus = ofKind(record.units, "gpu");
  return {
    SLURMD_NODENAME: names[0],
    SLURM_JOBID: String(job),
    SLURM_JOB_GID: String(gid),
    SLURM_JOB_NODELIST: names.join(","),
    SLURM_JOB_UID: String(uid),
    SLURM_NODELIST: names.join(","),
    SLURM_TASKS_PER_NODE: countsText(tasks),
    ...(gpus !== undefined && { SLURM_JOB_GPUS: gpus.join(","), SLURM_GPUS_ON_NODE: String(gpus.length) }),
    ...(attempt > 1 && { SLURM_RESTART_COUNT: String(attempt - 1) }),
  };
}
