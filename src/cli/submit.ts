/** `tutti submit [options] -- COMMAND` or `tutti submit [options] SCRIPT`: a job, or an array of them, to be run when there is room. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { JobsAnswer, SubmitBody } from "../api/contract.ts";
import { writeJson } from "./json.ts";
import { addSubmitOptions, type SubmitOptions, submitJob } from "./submit-options.ts";
import { hint, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

interface Options extends SubmitOptions {
  readonly json?: boolean;
}

export function configure(command: Command): void {
  addSubmitOptions(command.option("--json", "print the jobs as JSON")).action(run);
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const answer = await submit(words, options);
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
      `${visibleLine(first.name)} waits in queue ${visibleLine(first.queue)}; next: tutti why ${first.job}, tutti wait ${jobs}`,
    );
  }
}

/** Sends the request; sent again with the same key after a lost answer it would not run twice. */
export async function submit(words: readonly string[], options: SubmitOptions): Promise<JobsAnswer> {
  const job = await submitJob(words, options, process.argv);
  const body: SubmitBody = { jobs: [job] };
  return new Client().ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
}
