/**
 * Makes a job of Tutti's from the options of sbatch, srun or salloc. What cannot be honoured is refused in
 * Slurm's words; what has no effect here is named once on standard error.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { UsageError } from "@tutti/cli/errors.ts";
import { remarkMail } from "@tutti/cli/live/mail-remark.ts";
import type { GivenOption } from "@tutti/cli/options/getopt.ts";
import { type OptionsOrigin, SlurmOptions } from "@tutti/cli/options/slurm-options.ts";
import { queueOf } from "@tutti/cli/options/slurm-queue.ts";
import { givenFields, parseOptions, surroundings } from "@tutti/cli/options/submit-options.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { Job, JobsAnswer, QueuesAnswer, SubmitJob, WindowsAnswer } from "@tutti/protocol/schema.ts";
import { SlurmError } from "../errors.ts";
import { ACCOUNT, CLUSTER, nodeName, QOS } from "./facts.ts";
import type { Options } from "./options.ts";
import { jobNames, jobsNamed } from "./select.ts";

/** Options that are not the job's, or that are dealt with here. */
const NOT_FOR_THE_JOB: ReadonlySet<string> = new Set(
  "help usage version quiet verbose parsable test-only wait wrap export-file ignore-pbs label mpi unbuffered overlap exact disable-status quit-on-interrupt kill-on-bad-exit cpu-bind cluster clusters bell no-bell partition dependency nodelist array-size get-user-env immediate input no-kill no-requeue pty requeue".split(
    " ",
  ),
);

/** Without a text, they are as if left out: scripts pass variables that may be empty. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(["mail-user", "job-name", "comment", "account", "qos"]);

const FAILED = "Batch job submission failed: ";

/** What Slurm says about a value that it cannot read, and its exit code. */
function refusal({ name, value = "" }: Pick<GivenOption, "name" | "value">, expected: string): Error {
  const why = `\nexpected ${expected}`;
  if (["ntasks", "nodes", "cpus-per-task", "ntasks-per-node"].includes(name))
    return new SlurmError(`Invalid numeric value "${value}" for --${name}.`);
  if (name === "dependency") return new SlurmError(`${FAILED}Job dependency problem${why}`);
  if (/^gres$|^gpus/.test(name)) return new SlurmError(`Invalid generic resource (gres) specification${why}`);
  return new SlurmError(`Invalid --${name} specification${why}`, 255);
}

const ORIGIN: OptionsOrigin = { prefix: "", refusal };

interface Program {
  readonly command: readonly string[];
  readonly name: string;
  readonly script?: NonNullable<SubmitJob["script"]>;
}

/** @throws SlurmError */
export async function jobOf(
  client: Client,
  command: "sbatch" | "srun" | "salloc",
  options: Options,
  program: Program,
): Promise<SubmitJob> {
  const remarks: string[] = [];
  await refuseUnavailable(client, options);
  const words = [...options.values()].filter(
    ({ name, value }) =>
      !NOT_FOR_THE_JOB.has(name) && !isUsual(options, name) && !(value === "" && MAY_BE_EMPTY.has(name)),
  );
  const queue = await queueFor(client, options.get("partition"), remarks);
  const dependency = await dependencyOf(client, options.get("dependency"));
  const slurm = new SlurmOptions(ORIGIN);
  const own = dependency === undefined ? [] : [{ name: "dependency", value: dependency }];
  slurm.read({ given: [...words, ...own].map(longOption), words: [] });
  forgetOuterJob(process.env);
  // The options check the list too, but Slurm has words of its own for this.
  const array = options.get("array")?.value;
  const indices = array === undefined ? undefined : parseArray(array);
  if (typeof indices === "string")
    throw new SlurmError(`${FAILED}Invalid job array specification\n${indices}`);
  const given = parseOptions(slurm.words(), (problem) => new UsageError(problem));
  const ignored = slurm.warnings;
  for (const remark of [...remarks, ...ignored]) process.stderr.write(`${command}: ${remark}\n`);
  const job: SubmitJob = {
    name: program.name,
    ...surroundings(command, given),
    ...givenFields(given),
    command: [...program.command],
    script: program.script,
    ...(queue !== undefined && { queue }),
    ...(command === "sbatch" && mayBeRequeued(options) && { retries: 1 }),
  };
  return { ...job, env: environmentOf(job, options, indices?.indices) };
}

/** As where Slurm's JobRequeue is 1, its default. Of two options, the last one counts. */
function mayBeRequeued(options: Options): boolean {
  return [...options.keys()].findLast((name) => /^(?:no-)?requeue$/.test(name)) !== "no-requeue";
}

/** What a site without accounts always grants. */
function isUsual(options: Options, name: string): boolean {
  const { value } = options.get(name) ?? {};
  return (name === "account" && value === ACCOUNT) || (name === "qos" && value === QOS);
}

/** The option as messages say it. */
function longOption({ name, value: given }: Pick<GivenOption, "name" | "value">): GivenOption {
  const value = given === undefined ? undefined : filePattern(name, given);
  return { name, value, text: value === undefined ? `--${name}` : `--${name}=${value}` };
}

/** In a batch script, the only task is the first one, on the first node. */
function filePattern(name: string, value: string): string {
  if (name !== "output" && name !== "error") return value;
  return value.replace(/%(%|\d*[tns])/g, (match, letter: string) =>
    letter === "%" ? match : letter.endsWith("s") ? "batch" : "0",
  );
}

/** @throws SlurmError for options that ask for something that is not there */
async function refuseUnavailable(client: Client, options: Options): Promise<void> {
  const value = (name: string) => options.get(name)?.value;
  const constraint = value("constraint");
  if (constraint !== undefined) throw new SlurmError(`${FAILED}Invalid feature specification`);
  const nodes = [nodeName(), hostname(), "localhost"];
  const wanted = value("nodelist")?.split(",") ?? [];
  if (wanted.some((node) => !nodes.includes(node)))
    throw new SlurmError(`${FAILED}Invalid node name specified`);
  const excluded = value("exclude")?.split(",") ?? [];
  if (excluded.some((node) => nodes.includes(node)))
    throw new SlurmError(`${FAILED}Requested node configuration is not available`);
  const reservation = value("reservation");
  if (reservation !== undefined) {
    const { windows } = await client.ask<WindowsAnswer>("/v1/windows");
    if (!windows.some(({ name }) => name === reservation))
      throw new SlurmError(`${FAILED}Requested reservation is invalid`);
  }
  const input = value("input");
  if (input !== undefined && input !== "none" && input !== "/dev/null")
    throw new SlurmError(
      "--input is not supported by Tutti: let the script read the file, as in `command < FILE`",
    );
  for (const name of ["export-file", "nodefile", "container", "x11", "multi-prog", "no-shell"]) {
    if (options.has(name)) throw new SlurmError(`--${name} is not supported by Tutti`);
  }
}

async function queueFor(
  client: Client,
  option: GivenOption | undefined,
  remarks: string[],
): Promise<string | undefined> {
  if (option?.value === undefined) return undefined;
  const partitions = { names: option.value.split(","), text: option.text };
  return queueOf(partitions, await client.ask<QueuesAnswer>("/v1/queues"), (text) => remarks.push(text));
}

/**
 * Dependencies with Tutti's numbers: `12_3` has a number of its own, and an array means all its jobs. In
 * aftercorr, an array stays.
 */
async function dependencyOf(client: Client, option: GivenOption | undefined): Promise<string | undefined> {
  if (!option?.value) return undefined;
  const parts = await Promise.all(
    option.value.split(",").map(async (part) => {
      const [kind, ...ids] = part.split(":");
      if (ids.length === 0 || kind === "aftercorr") return part;
      const numbers = await Promise.all(
        ids.map(async (id) => {
          const names = jobNames([id], () =>
            refusal({ name: "dependency", value: part }, "job numbers, such as afterok:12:13_4"),
          );
          const jobs = await jobsNamed(client, names);
          return jobs.length === 0 ? [names[0].number] : jobs.map(({ job }) => job);
        }),
      );
      return [kind, ...numbers.flat()].join(":");
    }),
  );
  return parts.join(",");
}

/** What a job inside another one must not take from it. */
function forgetOuterJob(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (
      /^SLURM_(?:JOB|ARRAY|STEP|TASK|PROCID|LOCALID|NODEID|NTASKS|NPROCS|NNODES|NODELIST|CPUS|MEM|GTIDS|GPUS|SUBMIT|CLUSTER_NAME|RESTART|PRIO|OPEN_MODE|UMASK)|^SLURMD_/.test(
        name,
      )
    )
      delete env[name];
  }
}

/** The job's environment with those of Slurm's variables that are known at the submit. */
function environmentOf(
  { env, memoryBytes }: SubmitJob,
  options: Options,
  indices: readonly number[] | undefined,
): Record<string, string> {
  const value = (name: string) => options.get(name)?.value;
  const folder = process.env.TUTTI_SLURM_NAMES ?? "";
  const isEmpty = Object.keys(env).length === 0;
  // With --export=NONE or names, Slurm still lets the job find programs and its home.
  const usual = Object.fromEntries(
    ["HOME", "LOGNAME", "PATH", "SHELL", "TUTTI_SOCKET", "USER"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );
  const own: Record<string, string> = isEmpty || env.PATH === undefined ? { ...usual, ...env } : { ...env };
  const path = (own.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter);
  const mebibytes = memoryBytes === undefined ? undefined : String(Math.ceil(memoryBytes / 2 ** 20));
  const perCpu = value("mem-per-cpu");
  const perNode = value("ntasks-per-node");
  const openMode = value("open-mode");
  return {
    ...own,
    PATH: path.includes(folder) ? path.join(delimiter) : [folder, ...path].join(delimiter),
    TUTTI_SLURM_NAMES: folder,
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
    ...(mebibytes !== undefined && perCpu === undefined && { SLURM_MEM_PER_NODE: mebibytes }),
    ...(perCpu !== undefined && { SLURM_MEM_PER_CPU: perCpu.replace(/[mM]B?$/, "") }),
    ...(perNode !== undefined && { SLURM_NTASKS_PER_NODE: perNode }),
    ...(openMode !== undefined && { SLURM_OPEN_MODE: openMode[0] }),
    ...(indices !== undefined && {
      SLURM_ARRAY_TASK_COUNT: String(indices.length),
      SLURM_ARRAY_TASK_MIN: String(indices[0]),
      SLURM_ARRAY_TASK_MAX: String(indices.at(-1)),
      SLURM_ARRAY_TASK_STEP: String(indices.length > 1 ? indices[1] - indices[0] : 1),
    }),
  };
}

/** The path of a command of Slurm's names. */
export function launcherOf(command: string): string {
  return join(process.env.TUTTI_SLURM_NAMES ?? "", command);
}

/**
 * Submits a job. Slurm takes a signal before a limit that the job does not have, or that is too short, and
 * never sends it; workflow tools ask for one for every job.
 */
export async function submit(
  client: Client,
  command: string,
  job: SubmitJob,
  prefix = FAILED,
): Promise<readonly Job[]> {
  await remarkMail(client, job, (remark) => process.stderr.write(`${command}: ${remark}\n`));
  // The same key twice is one submit.
  const send = (one: SubmitJob) =>
    client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs: [one], key: randomUUID() } });
  try {
    return (await send(job)).jobs;
  } catch (error) {
    if (!(error instanceof RefusedError) || !error.message.startsWith("Cannot send SIG"))
      throw submitRefusal(error, prefix);
  }
  process.stderr.write(`${command}: --signal: ignored, no time limit is so long\n`);
  const { limitSignal: _, ...without } = job;
  try {
    return (await send(without)).jobs;
  } catch (error) {
    throw submitRefusal(error, prefix);
  }
}

/** The scheduler's refusal as Slurm's. */
export function submitRefusal(error: unknown, prefix = FAILED): unknown {
  if (!(error instanceof RefusedError)) return error;
  const isResource = /^Cannot use "[^"]*": the scheduler has no such resource/.test(error.message);
  return new SlurmError(
    isResource
      ? `Invalid generic resource (gres) specification\n${error.message}`
      : `${prefix}${error.message}`,
  );
}
