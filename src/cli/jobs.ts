/** `tutti jobs [JOBS]`: who waits and who runs. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { Job, JobsAnswer } from "../api/contract.ts";
import { jobLines, jobsIn, jobsTable } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { integer } from "./parse.ts";
import { ACTIVE, SELECTOR_HELP, selectJobs } from "./selectors.ts";
import { stoppedJobs } from "./stopped-jobs.ts";
import { commandName, hint, writeOut } from "./text.ts";

interface Options {
  readonly all?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `${SELECTOR_HELP} (default: those that have not ended)`)
    .option("--all", "those that have ended too")
    .option("--limit <n>", "show so many lines, those that run first", integer(1), 50)
    .option("--json", "print all of them as JSON")
    .action(run);
}

async function run(words: readonly string[], { all = false, limit, json }: Options): Promise<void> {
  const client = new Client();
  const answer = await client.jobs(all || words.length > 0 ? {} : { states: ACTIVE });
  const jobs = words.length === 0 ? answer.jobs : await chosen(client, words, answer);
  if (json) return writeJson({ ...answer, jobs });
  if (jobs.length === 0) {
    writeOut(all ? "There are no jobs.\n" : "No job waits or runs.\n");
    hint(`next: ${commandName()} submit -- COMMAND, or ${commandName()} history for those that have ended`);
    return;
  }
  // The limit is for a terminal's sake.
  const shown = jobLines(jobs).slice(0, limit);
  writeOut(jobsTable(shown, await stoppedJobs(client, jobs)));
  const more = jobs.length - jobsIn(shown);
  if (more > 0) writeOut(`and ${more} more; --limit ${jobs.length} shows all\n`);
}

async function chosen(client: Client, words: readonly string[], { jobs }: JobsAnswer): Promise<Job[]> {
  const numbers = new Set(await selectJobs(client, words));
  const found = jobs.filter(({ job }) => numbers.has(job));
  // A single number that is not among them: the scheduler says why.
  for (const number of numbers) if (!found.some(({ job }) => job === number)) await client.job(number);
  return found;
}
