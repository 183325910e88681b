/** The options of sbatch, srun and salloc that describe a job, from the command line and other places. */
import type { GivenOption } from "./getopt.ts";

/** Variables that set options of sbatch. */
const VARIABLES: Readonly<Record<string, string>> = {
  SBATCH_ACCOUNT: "account",
  SBATCH_ARRAY_INX: "array",
  SBATCH_EXPORT: "export",
  SBATCH_GPUS: "gpus",
  SBATCH_JOB_NAME: "job-name",
  SBATCH_MEM_PER_CPU: "mem-per-cpu",
  SBATCH_MEM_PER_NODE: "mem",
  SBATCH_NO_REQUEUE: "no-requeue",
  SBATCH_OPEN_MODE: "open-mode",
  SBATCH_PARTITION: "partition",
  SBATCH_QOS: "qos",
  SBATCH_REQUEUE: "requeue",
  SBATCH_RESERVATION: "reservation",
  SBATCH_TIMELIMIT: "time",
};

/** The last of each option, by its long name. */
export type Given = ReadonlyMap<string, GivenOption>;

/** The last of each option. Later lists win: the script's, the environment's, the command line's. */
export function merged(...lists: readonly (readonly GivenOption[])[]): Given {
  const options = new Map<string, GivenOption>();
  for (const given of lists.flat()) {
    const name = given.name === "tasks-per-node" ? "ntasks-per-node" : given.name;
    options.delete(name);
    options.set(name, { ...given, name });
  }
  return options;
}

export function optionsOfVariables(env: NodeJS.ProcessEnv): readonly GivenOption[] {
  return Object.entries(VARIABLES).flatMap(([variable, name]) => {
    const value = env[variable];
    return value === undefined || value === "" ? [] : [{ name, value, text: `${variable}=${value}` }];
  });
}
