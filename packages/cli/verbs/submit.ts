/**
 * `tutti submit [options] -- COMMAND` or `tutti submit [options] SCRIPT`: submits a job or an array of jobs.
 */
import { randomUUID } from "node:crypto";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type {
  DryRunAnswer,
  Job,
  JobsAnswer,
  StatusAnswer,
  SubmitBody,
  SubmitJob,
} from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { CheckFailed, NotFoundError, UsageError } from "../errors.ts";
import { remarkMail } from "../live/mail-remark.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { checkEnvironments, needsEnvironment } from "../options/job-environment.ts";
import { LAST_JOB } from "../options/job-values.ts";
import {
  type AskedJob,
  addSubmitOptions,
  givenFields,
  type SubmitOptions,
  settledJob,
  submitJob,
  surroundings,
} from "../options/submit-options.ts";
import { addSweepOptions, type SweepOptions, sweepOf } from "../options/sweep-options.ts";
import { dryRunText, submittedText } from "../text/submitted-text.ts";
import { commandName, hint, writeJson, writeOut } from "../text/text.ts";

interface Options extends SubmitOptions, SweepOptions {
  readonly json?: boolean;
  readonly parsable?: boolean;
  readonly dryRun?: boolean;
}

export const DRY_RUN_HELP = "submit nothing; say what a submit would do, and when the job should start";

export function configure(command: Command): void {
  addSubmitOptions(command, [
    "tutti submit -n 4 --time 10m -- ./a.out input.dat",
    "tutti submit job.sh",
    "tutti submit --array 1-100%4 -- sh -c './a.out $TUTTI_ARRAY_INDEX'",
    "tutti submit -a 1-20 --retries 2 --retry-on fail job.sh",
    "tutti submit -n 2 -c 4 -- mpirun ./hybrid",
    "tutti submit --use gpu --begin 23:00 -- ./train.py",
    "tutti submit --mail ada@example.org --notify start,fail -- ./sim",
    "tutti submit --each-line files.txt -- ./convert.sh {}",
    "tutti submit --grid lr=0.1,0.01 seed=1..5 -- ./train --lr {lr} --seed {seed}",
  ]);
  addSweepOptions(command)
    .optionsGroup("Options:")
    .option("--json", "print the jobs as JSON")
    .option("--parsable", "print only the number, or of an array the first and the last: 12-111")
    .option("--dry-run", DRY_RUN_HELP)
    .action(run);
}

async function run(words: readonly string[], options: Options): Promise<void> {
  // A mistake in a file is reported even if no scheduler runs.
  const connect = () => new ReconnectingClient("tutti jobs shows whether it was submitted");
  const asked = await jobsOf(connect, words, options);
  if (asked.length === 0) return;
  const connection = connect();
  if (options.dryRun) return tryOut(connection, asked, options.json);
  const answer = await submit(connection, asked);
  const [first] = answer.jobs;
  if (first === undefined) return options.json ? writeJson(answer) : undefined;
  const numbers = answer.jobs.map(({ job }) => job);
  if (options.json) writeJson(answer);
  else if (options.parsable) writeOut(`${rangesText(rangesOf(numbers))}\n`);
  else writeOut(`${submittedText(answer.jobs)}\n`);
  reportUnmet(answer.jobs);
  if (options.parsable) return;
  await reportUnkept(connection, asked);
  if (process.stderr.isTTY) {
    const jobs = numbers.length === 1 ? String(first.job) : `${first.job}-${numbers.at(-1)}`;
    hint(
      `${visibleLine(first.name)} waits in queue ${visibleLine(first.queue)}; next: ${commandName()} why ${first.job}, ${commandName()} wait ${jobs}`,
    );
  }
}

/** The jobs that the command line asks for. Empty if a workflow has nothing left to run. */
async function jobsOf(
  connect: () => ReconnectingClient,
  words: readonly string[],
  options: Options,
): Promise<readonly AskedJob[]> {
  const { fromJson, resume = false } = options;
  const flow = fromJson === undefined && process.argv.at(-words.length - 1) !== "--" ? words[0] : undefined;
  if (flow !== undefined && isWorkflow(flow)) {
    // Words after a script are its arguments, but a workflow has none.
    const [last, ...others] = words.slice(1);
    refuseWords(last === "--resume" ? others : words.slice(1), `the workflow "${flow}" has no arguments`);
    if (options.eachLine !== undefined || options.grid !== undefined) {
      throw new UsageError(
        "Cannot combine a workflow with --each-line or --grid: its tasks have grid and each-line",
      );
    }
    return workflowJobs(connect, flow, options, resume || last === "--resume");
  }
  if (resume) {
    throw new UsageError(
      "Cannot resume a job: expected a workflow file, such as tutti submit flow.toml --resume; tutti rerun runs jobs again",
    );
  }
  if (fromJson === undefined) {
    return [await sweepOf(await submitJob("submit", words, options, process.argv), options)];
  }
  refuseWords(words, "the jobs of --from-json have their own commands");
  if (options.eachLine !== undefined || options.grid !== undefined) {
    throw new UsageError("Cannot combine --from-json with --each-line or --grid: expected one of them");
  }
  const { env: _, ...given } = givenFields(options);
  // It loads all schemas of requests, which other submits leave to the scheduler.
  const { readJobs } = await import("../options/read-jobs.ts");
  return readJobs(fromJson, surroundings("submit", options), given);
}

function refuseWords(words: readonly string[], why: string): void {
  if (words.length > 0) throw new UsageError(`Cannot use "${words[0]}": ${why}`);
}

/** Says what a submit would do. It is refused if the submit would be refused. */
export async function tryOut(
  connection: ReconnectingClient,
  asked: readonly AskedJob[],
  json = false,
): Promise<void> {
  const body: SubmitBody = { jobs: await completed(connection, asked) };
  const answer = await connection.retry((client) =>
    client.ask<DryRunAnswer>("/v1/dry-run", { method: "POST", body }),
  );
  if (json) return writeJson(answer);
  writeOut(`${dryRunText(answer, asked[0])}\n`);
  await reportUnkept(connection, asked);
}

/** Says so if a memory limit was asked for that nothing enforces, or mail that nothing sends. */
export async function reportUnkept(
  connection: ReconnectingClient,
  jobs: readonly SubmitJob[],
): Promise<void> {
  const mailed = jobs.find(({ mail }) => mail !== undefined);
  if (mailed !== undefined) {
    await connection.retry((client) => remarkMail(client, mailed, (remark) => hint(`tutti: ${remark}`)));
  }
  if (jobs.every(({ memoryBytes }) => memoryBytes === undefined)) return;
  const { conductor } = await connection.retry((client) => client.ask<StatusAnswer>("/v1/status"));
  if (conductor.limitsMemory !== false) return;
  hint(
    "tutti: the job can have more than --mem for about a second before it is ended: this scheduler has no memory control group; tutti doctor says why",
  );
}

/**
 * Jobs may wait for others that have already ended in another way: they are cancelled at once.
 * @throws CheckFailed if none of them can run
 */
function reportUnmet(jobs: readonly Job[]): void {
  const cancelled = jobs.filter(({ state }) => state === "cancelled");
  const [first] = cancelled;
  if (first === undefined) return;
  const which = rangesText(rangesOf(cancelled.map(({ job }) => job)), ", ");
  hint(
    `tutti: cancelled at once: ${cancelled.length === 1 ? "job" : "jobs"} ${which}: ${visibleLine(first.reason ?? "")}`,
  );
  if (cancelled.length === jobs.length) throw new CheckFailed();
}

/** The jobs with what only the scheduler knows. */
async function completed(
  connection: ReconnectingClient,
  asked: readonly AskedJob[],
): Promise<readonly SubmitJob[]> {
  const jobs = await withLast(connection, await settledJobs(connection, asked));
  if (jobs.some(needsEnvironment)) {
    // What other nodes have, they find out when the job starts.
    const { machine } = await connection.retry((client) => client.ask<StatusAnswer>("/v1/status"));
    if (machine !== undefined) await checkEnvironments(jobs);
  }
  return jobs;
}

/** Only the scheduler knows what some options of scripts for Slurm mean, such as partitions. */
async function settledJobs(
  connection: ReconnectingClient,
  asked: readonly AskedJob[],
): Promise<readonly SubmitJob[]> {
  if (!asked.some(({ slurm }) => slurm !== undefined)) return asked;
  return connection.retry((client) => Promise.all(asked.map((job) => settledJob(client, job))));
}

/** `--after last` means the newest job. */
async function withLast(
  connection: ReconnectingClient,
  jobs: readonly SubmitJob[],
): Promise<readonly SubmitJob[]> {
  if (!jobs.some(({ after }) => after?.some((other) => other.job === LAST_JOB))) return jobs;
  const answer = await connection.retry((client) => client.jobs({ last: 1 }));
  const last = answer.jobs.at(-1)?.job;
  if (last === undefined) throw new NotFoundError("Cannot wait for the last job: there is none");
  return jobs.map((job) => ({
    ...job,
    ...(job.after && {
      after: job.after.map((other) => (other.job === LAST_JOB ? { ...other, job: last } : other)),
    }),
  }));
}

/**
 * Sends the request. If the scheduler goes away before it answers, the request is sent again with the same
 * key, so nothing runs twice.
 */
export async function submit(
  connection: ReconnectingClient,
  asked: readonly AskedJob[],
): Promise<JobsAnswer> {
  const jobs = await completed(connection, asked);
  const body: SubmitBody = { jobs, key: randomUUID() };
  return connection.retry((client) => client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body }));
}

/** Whether a word of the command line names a workflow, not a script. */
function isWorkflow(word: string): boolean {
  return word.endsWith(".toml");
}

/** The entries of a submit that runs the workflow, or resumes it: none if nothing is left to run. */
async function workflowJobs(
  connect: () => ReconnectingClient,
  file: string,
  options: SubmitOptions,
  resume: boolean,
): Promise<readonly SubmitJob[]> {
  const { readWorkflow } = await import("../options/workflow.ts");
  const { workflowEntries } = await import("../options/workflow-jobs.ts");
  const { name, tasks } = await readWorkflow(file, options);
  if (!resume) return workflowEntries(tasks);
  const { jobs } = await connect().retry(async (client) => {
    const { user } = await client.ask<StatusAnswer>("/v1/status");
    const query = new URLSearchParams({ name: `${name}/*`, user });
    return client.ask<JobsAnswer>(`/v1/jobs?${query}`);
  });
  const entries = workflowEntries(tasks, jobs);
  if (entries.length === 0) hint(`tutti: nothing to resume: all jobs of ${name} have succeeded, wait or run`);
  return entries;
}
