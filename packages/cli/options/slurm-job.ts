/**
 * Makes a job from the options of sbatch, srun or salloc, in two steps: the words of `tutti submit` that mean
 * the same, and, when the scheduler is there, what only it can settle. Scripts with `#SBATCH` lines that
 * `tutti submit` takes go the same way, so both have the same options, files and variables.
 */
import { hostname } from "node:os";
import { delimiter, resolve } from "node:path";
import type { Client } from "@tutti/live/api/client/client.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { QueuesAnswer, StatusAnswer, SubmitJob, WindowsAnswer } from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { UsageError } from "../errors.ts";
import { jobNames, jobsNamed } from "../live/slurm-numbers.ts";
import { hint } from "../text/text.ts";
import type { GivenOption } from "./getopt.ts";
import { chooseEnvironment } from "./job-values.ts";
import type { Given } from "./slurm-given.ts";
import { type OptionsOrigin, SlurmOptions } from "./slurm-options.ts";
import { queueOf } from "./slurm-queue.ts";
import { ACCOUNT, CLUSTER, nodeName, QOS } from "./slurm-site.ts";

/** How messages are worded: as Slurm's, or as those of `tutti submit`. */
export interface SlurmVoice extends OptionsOrigin {
  remark(text: string): void;
  /**
   * The error of an option that asks for what is not there.
   * @param slurm what Slurm says
   * @param why the same for people who do not know Slurm's words
   */
  unavailable(option: GivenOption, slurm: string, why: string): Error;
}

/** That of the lines in a script, which `tutti submit` takes. */
export const SCRIPT_VOICE: SlurmVoice = {
  remark: (text) => hint(`tutti: ${visibleLine(text)}`),
  refusal: ({ text }, expected) => ofScript(text, `expected ${expected}`),
  unavailable: ({ text }, _, why) => ofScript(text, why),
};

function ofScript(text: string, why: string): UsageError {
  const isLine = text.startsWith("#");
  return new UsageError(
    `Cannot use ${isLine ? "the line" : "the variable"} "${text}": ${why}; correct it, or ${isLine ? "put a second # before it" : "unset it"}`,
  );
}

/** What the options of a job say that only the scheduler can settle. */
export interface SlurmWish {
  readonly given: Given;
  /** Whether it has the files and the restarts of a batch job; otherwise, its submitter sees it run. */
  readonly isBatch: boolean;
  readonly voice: SlurmVoice;
  /**
   * Folder of Slurm's commands for the job. Undefined: it finds those of its node.
   * @param isElsewhere its node is not this machine, so a real Slurm may be there
   */
  readonly names: (isElsewhere: boolean) => string | undefined;
}

/** Options that are not the job's, or that are dealt with here. */
const NOT_FOR_THE_JOB: ReadonlySet<string> = new Set(
  "help usage version quiet verbose parsable test-only wait wrap export-file ignore-pbs label mpi unbuffered overlap exact disable-status quit-on-interrupt kill-on-bad-exit cpu-bind cluster clusters bell no-bell partition dependency nodelist array-size get-user-env immediate input no-kill no-requeue pty requeue constraint exclude reservation".split(
    " ",
  ),
);

/** Without a text, they are as if left out: scripts pass variables that may be empty. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["mail-user", "job-name", "comment", "account", "qos"]);

/**
 * The words of `tutti submit` for the options. What has no effect here is said once.
 * @param unknown words that are no options
 * @throws what the voice makes of a value that cannot be read
 */
export function ownWords(
  given: Given,
  voice: SlurmVoice,
  unknown: readonly string[] = [],
): readonly string[] {
  const slurm = new SlurmOptions(voice);
  const ofTheJob = [...given.values()].filter(
    ({ name, value }) =>
      !NOT_FOR_THE_JOB.has(name) && !isUsual(given, name) && !(value === "" && MAY_BE_EMPTY.has(name)),
  );
  slurm.read({ given: ofTheJob.map(ofFirstTask), words: unknown });
  const words = slurm.words();
  dependencyWords(given.get("dependency"), voice);
  for (const warning of slurm.warnings) voice.remark(warning);
  return words;
}

/** In a batch script, the only task is the first one, on the first node. */
function ofFirstTask(option: GivenOption): GivenOption {
  if (option.name !== "output" && option.name !== "error") return option;
  const value = option.value?.replace(/%(%|\d*[tns])/g, (match, letter: string) =>
    letter === "%" ? match : letter.endsWith("s") ? "batch" : "0",
  );
  return { ...option, value };
}

/** What a site without accounts always grants. */
function isUsual(given: Given, name: string): boolean {
  const { value } = given.get(name) ?? {};
  return (name === "account" && value === ACCOUNT) || (name === "qos" && value === QOS);
}

/**
 * The job with its queue, the jobs it waits for, its files and its environment. What the job has already, for
 * example by an option of `tutti submit`, stays.
 * @param read makes fields of words of `tutti submit`
 */
export async function settled(
  client: Client,
  job: SubmitJob,
  { given, isBatch, voice, names }: SlurmWish,
  read: (words: readonly string[]) => Pick<Partial<SubmitJob>, "after" | "singleton">,
): Promise<SubmitJob> {
  const status = await client.ask<StatusAnswer>("/v1/status");
  await refuseUnavailable(client, status, given, voice);
  const partitions = job.queue === undefined ? given.get("partition") : undefined;
  const queue = partitions && (await queueFor(client, partitions, voice));
  const dependency = job.after || job.singleton ? undefined : await dependencyOf(client, given, voice);
  const { after, singleton } = read(dependencyWords(dependency, voice));
  const threads = threadsFor(job, given.get("nodes"), status.nodes, voice);
  return {
    ...(isBatch && batchFields(job, given)),
    ...job,
    ...(queue !== undefined && { queue }),
    ...(after !== undefined && { after }),
    ...(singleton !== undefined && { singleton }),
    ...(threads !== undefined && { threads }),
    env: environmentOf(job, given, dependency?.value, names(status.nodes !== undefined)),
  };
}

/**
 * CPUs of each task by which the job is on as many nodes as it asks for: the scheduler itself knows only how
 * many tasks of a size fit on a node. Undefined: as the job has it.
 * @param all of the scheduler; undefined: this machine is the only one
 */
function threadsFor(
  { tasks = 1, threads = 1 }: SubmitJob,
  option: GivenOption | undefined,
  all: StatusAnswer["nodes"],
  { remark }: SlurmVoice,
): number | undefined {
  const wanted = Number.parseInt(option?.value ?? "1", 10);
  if (option === undefined || wanted === 1) return undefined;
  const sizes = all?.map(({ cpus }) => cpus).filter((cpus) => cpus > 0) ?? [];
  if (sizes.length === 0) {
    remark(
      all === undefined
        ? `${option.text}: there is one node, which gives all CPUs`
        : `${option.text}: the scheduler chooses the nodes, of which it has none now; -c with the CPUs of a node gives each task a node`,
    );
    return undefined;
  }
  const each = Math.floor(Math.min(...sizes) / Math.ceil(tasks / wanted));
  if (each <= threads) return undefined;
  remark(`${option.text}: each task gets ${each} CPUs, so that the tasks are on as many nodes`);
  return each;
}

/** Files, and restarts as where Slurm's JobRequeue is 1, its default. Of two options, the last one counts. */
function batchFields({ array, values, stdout }: SubmitJob, given: Given): Partial<SubmitJob> {
  const output = array !== undefined || values !== undefined ? "slurm-%A_%a.out" : "slurm-%j.out";
  const mode = given.get("open-mode")?.value ?? "truncate";
  const isRequeued = [...given.keys()].findLast((name) => /^(?:no-)?requeue$/.test(name)) !== "no-requeue";
  return {
    stdout: output,
    stderr: stdout ?? output,
    ...("truncate".startsWith(mode) && { openMode: "truncate" }),
    ...(isRequeued && { retries: 1 }),
  };
}

/** Refuses what asks for something that is not there. */
async function refuseUnavailable(
  client: Client,
  { features = [], nodes: others }: StatusAnswer,
  given: Given,
  voice: SlurmVoice,
): Promise<void> {
  const refuse = (name: string, slurm: string, why: string): never => {
    throw voice.unavailable(given.get(name)!, slurm, why);
  };
  const value = (name: string) => given.get(name)?.value;
  const nodes = others?.map(({ node }) => node) ?? [nodeName(), hostname(), "localhost"];
  const isHere = (node: string) => nodes.includes(node);
  const here = others === undefined ? `the only node is ${nodeName()}` : `the nodes are ${nodes.join(", ")}`;
  const constraint = value("constraint");
  if (constraint !== undefined && !isMet(constraint, features))
    refuse(
      "constraint",
      "Invalid feature specification",
      `the nodes have ${features.length === 0 ? "no features" : `the features ${features.join(", ")}`}; the administrator names them in the setting features`,
    );
  const wanted = value("nodelist")?.split(",") ?? [];
  if (!wanted.every(isHere)) refuse("nodelist", "Invalid node name specified", `${here}, expected its name`);
  if (value("exclude")?.split(",").some(isHere))
    refuse("exclude", "Requested node configuration is not available", here);
  const reservation = value("reservation");
  if (reservation !== undefined) {
    const { windows } = await client.ask<WindowsAnswer>("/v1/windows");
    if (!windows.some(({ name }) => name === reservation))
      refuse("reservation", "Requested reservation is invalid", "there is no such window");
    voice.remark(`${given.get("reservation")!.text}: ignored; windows say which jobs they take`);
  }
  const input = value("input");
  const own = "let the script read the file, as in `command < FILE`";
  if (input !== undefined && input !== "none" && input !== "/dev/null")
    refuse("input", `--input is not supported by Tutti: ${own}`, `a batch job has no input; ${own}`);
  for (const name of ["export-file", "nodefile", "x11", "multi-prog", "no-shell"]) {
    if (given.has(name))
      refuse(name, `--${name} is not supported by Tutti`, "Tutti does not have this option");
  }
}

/**
 * Whether nodes that all have these features meet a constraint such as `a100&ssd`, `[rack1|rack2]` or
 * `a100*2`. As in Slurm, & and | have the same rank and are read from the left.
 */
export function isMet(constraint: string, features: readonly string[]): boolean {
  const words = constraint.replaceAll(/[()[\]\s]|\*\d+/g, "").split(/([&,|])/);
  let isFulfilled = features.includes(words[0]);
  for (let i = 1; i < words.length; i += 2) {
    const has = features.includes(words[i + 1]);
    isFulfilled = words[i] === "|" ? isFulfilled || has : isFulfilled && has;
  }
  return isFulfilled;
}

async function queueFor(
  client: Client,
  { value = "", text }: GivenOption,
  voice: SlurmVoice,
): Promise<string | undefined> {
  return queueOf(
    { names: value.split(","), text },
    await client.ask<QueuesAnswer>("/v1/queues"),
    voice.remark,
  );
}

/**
 * Dependencies with Tutti's numbers: `12_3` has a number of its own, and an array means all its jobs. In
 * aftercorr, an array stays.
 */
async function dependencyOf(
  client: Client,
  given: Given,
  voice: SlurmVoice,
): Promise<GivenOption | undefined> {
  const option = given.get("dependency");
  if (!option?.value) return undefined;
  const parts = await Promise.all(
    option.value.split(",").map(async (part) => {
      const [kind, ...ids] = part.split(":");
      if (ids.length === 0 || kind === "aftercorr") return part;
      const numbers = await Promise.all(
        ids.map(async (id) => {
          const names = jobNames([id], () =>
            voice.refusal({ ...option, value: part }, "job numbers, such as afterok:12:13_4"),
          );
          const jobs = await jobsNamed(client, names);
          if (jobs.length === 0)
            voice.remark(`${option.text}: there is no job ${id}, which is taken as done, as in Slurm`);
          return jobs.map(({ job }) => job);
        }),
      );
      return numbers.flat().length === 0 ? "" : [kind, ...numbers.flat()].join(":");
    }),
  );
  return { ...option, value: parts.filter((part) => part !== "").join(",") };
}

/** @param dependency `12_3` counts as 12 */
export function dependencyWords(dependency: GivenOption | undefined, voice: SlurmVoice): readonly string[] {
  if (!dependency?.value) return [];
  const slurm = new SlurmOptions(voice);
  slurm.read({ given: [{ ...dependency, value: dependency.value.replace(/_\d+/g, "") }], words: [] });
  return slurm.words();
}

/** What a job inside another one must not take from it. */
export function forgetOuterJob(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (
      /^SLURM_(?:EXPORT_ENV|JOB|ARRAY|STEP|TASK|PROCID|LOCALID|NODEID|NTASKS|NPROCS|NNODES|NODELIST|CPUS|MEM|GTIDS|GPUS|SUBMIT|CLUSTER_NAME|RESTART|PRIO|OPEN_MODE|UMASK)|^SLURMD_/.test(
        name,
      )
    )
      delete env[name];
  }
}

/**
 * The job's environment with those of Slurm's variables that are known at the submit.
 * @param dependency with Tutti's numbers
 * @param names the folder of Slurm's commands; undefined: the job finds those of its node
 */
function environmentOf(
  { env, memoryBytes, array, tasks = 1 }: SubmitJob,
  given: Given,
  dependency: string | undefined,
  names: string | undefined,
): Record<string, string> {
  const value = (name: string) => given.get(name)?.value;
  const counts = ["ntasks", "ntasks-per-node", "gpus-per-task"];
  const isCounted = counts.some((name) => given.has(name)) || Number.parseInt(value("nodes") ?? "1", 10) > 1;
  const asWritten = (options: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(options).flatMap(([variable, name]) =>
        given.has(name) ? [[variable, value(name) ?? ""]] : [],
      ),
    );
  const indices = array === undefined ? undefined : parseArray(array);
  const everywhere = {
    SLURM_CLUSTER_NAME: CLUSTER,
    SLURM_GTIDS: "0",
    SLURM_JOB_ACCOUNT: value("account") ?? ACCOUNT,
    SLURM_JOB_QOS: value("qos") ?? QOS,
    SLURM_LOCALID: "0",
    SLURM_NODEID: "0",
    SLURM_PRIO_PROCESS: "0",
    SLURM_PROCID: "0",
    SLURM_SUBMIT_DIR: resolve("."),
    SLURM_SUBMIT_HOST: hostname(),
    ...asWritten({ SLURM_EXPORT_ENV: "export", SLURM_NTASKS_PER_NODE: "ntasks-per-node" }),
    // The scheduler sets their values if they are there: as in Slurm, only if tasks were asked for.
    ...(isCounted && { SLURM_NPROCS: String(tasks), SLURM_NTASKS: String(tasks) }),
    ...(value("open-mode") !== undefined && { SLURM_OPEN_MODE: value("open-mode")![0] }),
    ...(dependency !== undefined && { SLURM_JOB_DEPENDENCY: dependency }),
    ...(typeof indices === "object" && arrayVariables(indices.indices)),
  };
  // The srun of a cluster would take those of memory and GPUs for what a step asks of its pilot.
  if (names === undefined) return { ...withoutNames(env), ...everywhere };
  const isEmpty = Object.keys(env).length === 0;
  // With --export=NONE or names, Slurm still lets the job find programs and its home.
  const usual = chooseEnvironment("HOME,LOGNAME,PATH,SHELL,TUTTI_SOCKET,USER", process.env);
  const own: Record<string, string> = isEmpty || env.PATH === undefined ? { ...usual, ...env } : { ...env };
  const path = (own.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter);
  const mebibytes = memoryBytes === undefined ? undefined : String(Math.ceil(memoryBytes / 2 ** 20));
  const perCpu = value("mem-per-cpu");
  return {
    ...own,
    PATH: path.includes(names) ? path.join(delimiter) : [names, ...path].join(delimiter),
    TUTTI_SLURM_NAMES: names,
    ...everywhere,
    ...(mebibytes !== undefined && perCpu === undefined && { SLURM_MEM_PER_NODE: mebibytes }),
    ...(perCpu !== undefined && { SLURM_MEM_PER_CPU: perCpu.replace(/[mM]B?$/, "") }),
    ...asWritten({
      SLURM_GPUS: "gpus",
      SLURM_GPUS_PER_NODE: "gpus-per-node",
      SLURM_GPUS_PER_TASK: "gpus-per-task",
      SLURM_MEM_PER_GPU: "mem-per-gpu",
    }),
  };
}

/** Without the commands that the submitter's shell has. */
function withoutNames({ TUTTI_SLURM_NAMES: names, ...env }: Record<string, string>): Record<string, string> {
  const { PATH } = env;
  if (names === undefined || PATH === undefined) return env;
  return {
    ...env,
    PATH: PATH.split(delimiter)
      .filter((folder) => folder !== names)
      .join(delimiter),
  };
}

function arrayVariables(indices: readonly number[]): Readonly<Record<string, string>> {
  return {
    SLURM_ARRAY_TASK_COUNT: String(indices.length),
    SLURM_ARRAY_TASK_MIN: String(indices[0]),
    SLURM_ARRAY_TASK_MAX: String(indices.at(-1)),
    SLURM_ARRAY_TASK_STEP: String(indices.length > 1 ? indices[1] - indices[0] : 1),
  };
}
