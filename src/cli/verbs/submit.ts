/**
 * `tutti submit [options] -- COMMAND` or `tutti submit [options] SCRIPT`: submits a job or an array of jobs.
 */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { RefusedError } from "../../api/client/errors.ts";
import type { JobsAnswer, SubmitBody, SubmitJob } from "../../protocol/schema.ts";
import { visibleLine } from "../../words/visible.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { addSubmitOptions, type SubmitOptions, submitJob } from "../options/submit-options.ts";
import { commandName, hint, writeJson, writeOut } from "../text/text.ts";

interface Options extends SubmitOptions {
  readonly json?: boolean;
}

export function configure(command: Command): void {
  addSubmitOptions(command, [
    "tutti submit -n 4 --time 10m -- ./a.out input.dat",
    "tutti submit job.sh",
    "tutti submit --array 1-100%4 -- sh -c './a.out $TUTTI_ARRAY_INDEX'",
  ])
    .option("--json", "print the jobs as JSON")
    .action(run);
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const job = await submitJob("submit", words, options, process.argv);
  const answer = await submit(new ReconnectingClient("tutti jobs shows whether it was submitted"), job);
  const [first] = answer.jobs;
  if (options.json) return writeJson(answer);
  if (first === undefined) return;
  const numbers = answer.jobs.map(({ job }) => job);
  writeOut(
    numbers.length === 1
      ? `submitted job ${first.job}\n`
      : `submitted jobs ${first.job}-${numbers.at(-1)}: an array of ${numbers.length}\n`,
  );
  if (process.stderr.isTTY) {
    const jobs = numbers.length === 1 ? String(first.job) : `${first.job}-${numbers.at(-1)}`;
    hint(
      `${visibleLine(first.name)} waits in queue ${visibleLine(first.queue)}; next: ${commandName()} why ${first.job}, ${commandName()} wait ${jobs}`,
    );
  }
}

/**
 * Sends the request. If the scheduler goes away before it answers, the request is sent again with the same
 * key, so nothing runs twice.
 */
export async function submit(connection: ReconnectingClient, job: SubmitJob): Promise<JobsAnswer> {
  const body: SubmitBody = { jobs: [job], key: randomUUID() };
  try {
    return await send(connection, body);
  } catch (error) {
    if (!isUnknownMask(error)) throw error;
    const { umask, ...without } = job;
    hint(
      `tutti: the scheduler is an earlier version, so the job gets umask 022 instead of ${umask}; tutti down and tutti serve start the new version`,
    );
    return send(connection, { ...body, jobs: [without] });
  }
}

function send(connection: ReconnectingClient, body: SubmitBody): Promise<JobsAnswer> {
  return connection.retry((client) => client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body }));
}

/**
 * Whether a scheduler of the first release refused the umask, which it does not know. It may still run after
 * the command line was upgraded.
 */
function isUnknownMask(error: unknown): boolean {
  return (
    error instanceof RefusedError &&
    error.refused === "invalid" &&
    /unrecognized key.*"umask"/i.test(error.message)
  );
}
