/**
 * Makes a job of Tutti's from the options of sbatch, srun or salloc. What cannot be honoured is refused in
 * Slurm's words; what has no effect here is named once on standard error.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { UsageError } from "@tutti/cli/errors.ts";
import { remarkMail } from "@tutti/cli/live/mail-remark.ts";
import type { GivenOption } from "@tutti/cli/options/getopt.ts";
import type { Given } from "@tutti/cli/options/slurm-given.ts";
import { forgetOuterJob, ownWords, type SlurmVoice, settled } from "@tutti/cli/options/slurm-job.ts";
import { givenFields, parseOptions, surroundings } from "@tutti/cli/options/submit-options.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { Job, JobsAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { SlurmError } from "../errors.ts";

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

/** Messages in Slurm's words. */
const voiceOf = (remark: SlurmVoice["remark"]): SlurmVoice => ({
  remark,
  refusal,
  unavailable: (_, slurm) => new SlurmError(slurm.startsWith("--") ? slurm : `${FAILED}${slurm}`),
});

interface Program {
  readonly command: readonly string[];
  readonly name: string;
  readonly script?: NonNullable<SubmitJob["script"]>;
  /** Options of `tutti submit` in the script, which count more than all others. */
  readonly ownWords?: readonly string[];
}

/** @throws SlurmError */
export async function jobOf(
  client: Client,
  command: "sbatch" | "srun" | "salloc",
  options: Given,
  program: Program,
): Promise<SubmitJob> {
  const given = new Map([...options].map(([name, option]) => [name, longOption(option)]));
  const remarks: string[] = [];
  const voice = voiceOf((text) => remarks.push(text));
  forgetOuterJob(process.env);
  // The options check the list too, but Slurm has words of its own for this.
  const array = options.get("array")?.value;
  const indices = array === undefined ? undefined : parseArray(array);
  if (typeof indices === "string")
    throw new SlurmError(`${FAILED}Invalid job array specification\n${indices}`);
  const read = (words: readonly string[]) => parseOptions(words, (problem) => new UsageError(problem));
  const fields = read([...ownWords(given, voice), ...(program.ownWords ?? [])]);
  const job = {
    name: program.name,
    ...surroundings(command, fields),
    ...givenFields(fields),
    command: [...program.command],
    script: program.script,
  };
  const isBatch = command === "sbatch";
  // Jobs of srun and salloc begin with one of these commands.
  const names = (isElsewhere: boolean) =>
    isElsewhere && isBatch ? undefined : process.env.TUTTI_SLURM_NAMES;
  const whole = await settled(client, job, { given, isBatch, voice, names }, read);
  // What is refused has no remarks.
  for (const remark of remarks) process.stderr.write(`${command}: ${remark}\n`);
  return whole;
}

/** The option as messages say it. */
function longOption({ name, value }: GivenOption): GivenOption {
  return { name, value, text: value === undefined ? `--${name}` : `--${name}=${value}` };
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
