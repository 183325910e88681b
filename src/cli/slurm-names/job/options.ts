/**
 * The options of sbatch, srun and salloc that describe a job, and where else than on the command line they
 * stand.
 */
import { splitWords } from "../../options/job-script.ts";
import { type GivenOption, parseWords } from "../getopt.ts";

const COMMON =
  "account,A= acctg-freq= begin,b= bb= bbf= chdir,D= cluster-constraint= clusters,M= cluster= comment= constraint,C= container= context= contiguous core-spec,S= cores-per-socket= cpu-freq= cpus-per-gpu= cpus-per-task,c= deadline= delay-boot= dependency,d= distribution,m= exclude,x= exclusive? extra-node-info,B= get-user-env? gid= gpu-bind= gpu-freq= gpus,G= gpus-per-node= gpus-per-socket= gpus-per-task= gres= gres-flags= help,h hint= hold,H job-name,J= licenses,L= mail-type= mail-user= mcs-label= mem= mem-bind= mem-per-cpu= mem-per-gpu= mincpus= network= nice? no-kill,k? nodefile,F= nodelist,w= nodes,N= ntasks,n= ntasks-per-core= ntasks-per-gpu= ntasks-per-node= ntasks-per-socket= tasks-per-node= overcommit,O oversubscribe,s partition,p= power= prefer= priority= profile= qos,q= quiet,Q reboot reservation= signal= sockets-per-node= spread-job switches= thread-spec= threads-per-core= time,t= time-min= tmp= uid= use-min-nodes usage verbose,v version,V wckey=";

export const SBATCH = {
  command: "sbatch",
  options: `${COMMON} array,a= batch= error,e= export= export-file= ignore-pbs input,i= kill-on-invalid-dep= no-requeue open-mode= output,o= parsable propagate? requeue test-only umask wait,W wait-all-nodes= wrap=`,
  stopsAtWord: true,
  unknownCode: 255,
};

export const SRUN = {
  command: "srun",
  options: `${COMMON} accel-bind= bcast? bcast-exclude= compress? cpu-bind= disable-status,X epilog= error,e= exact export= het-group= immediate,I? input,i= interactive jobid= kill-on-bad-exit,K? label,l mpi= msg-timeout= multi-prog no-allocate,Z open-mode= output,o= overlap? pack-group= preserve-env,E prolog= propagate? pty quit-on-interrupt relative,r= resv-ports? send-libs? slurmd-debug= task-epilog= task-prolog= test-only threads,T= unbuffered,u wait,W= whole x11?`,
  stopsAtWord: true,
  unknownCode: 255,
};

export const SALLOC = {
  command: "salloc",
  options: `${COMMON} bell immediate,I? kill-command,K? no-bell no-shell wait-all-nodes= x11?`,
  stopsAtWord: true,
  unknownCode: 255,
};

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
/**

 */
export type Options = ReadonlyMap<string, GivenOption>;

/** The last of each option. Later lists win: the script's, the environment's, the command line's. */
export function merged(...lists: readonly (readonly GivenOption[])[]): Options {
  const options = new Map<string, GivenOption>();
  for (const given of lists.flat()) {
    const name = given.name === "tasks-per-node" ? "ntasks-per-node" : given.name;
    options.delete(name);
    options.set(name, { ...given, name });
  }
  return options;
}

/** Options in the #SBATCH lines of a script, which end at its first command. */
export function optionsOfScript(script: string): readonly GivenOption[] {
  const words: string[] = [];
  for (const line of script.split("\n")) {
    if (!/^\s*(?:#|$)/.test(line)) break;
    const [, rest] = /^#SBATCH(?=\s)(.*)$/.exec(line) ?? [];
    if (rest !== undefined) words.push(...splitWords(rest));
  }
  return parseWords({ ...SBATCH, stopsAtWord: false }, words).given;
}

export function optionsOfVariables(env: NodeJS.ProcessEnv): readonly GivenOption[] {
  return Object.entries(VARIABLES).flatMap(([variable, name]) => {
    const value = env[variable];
    return value === undefined || value === "" ? [] : [{ name, value, text: `${variable}=${value}` }];
  });
}
