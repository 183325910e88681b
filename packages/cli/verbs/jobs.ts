/** `tutti jobs [JOBS]`: lists the jobs that are waiting or running. */

import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, StatusAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import { noJobsText } from "@tutti/words/status.ts";
import type { Command } from "commander";
import { NotFoundError } from "../errors.ts";
import { type AskedJobs, jobPages } from "../live/job-lists.ts";
import { namedJobs, SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { integer } from "../options/parse.ts";
import { addRenamedOption } from "../options/renamed.ts";
import { addColumnOptions, type ColumnOptions, columnsOf } from "../text/job-columns.ts";
import { JobLines, jobsTable } from "../text/job-text.ts";
import { Progress, withProgress } from "../text/progress.ts";
import { commandName, hint, writeJsonList, writeOut } from "../text/text.ts";

interface Options extends ColumnOptions {
  readonly all?: boolean;
  readonly first: number;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `${SELECTOR_HELP} (default: jobs that have not ended)`)
    .option("--all", "also list jobs that have ended");
  const lines = "maximum number of lines; running jobs come first";
  addRenamedOption(command, "--first <n>", "--limit <n>", lines, integer(1), 50);
  addColumnOptions(command, "print all jobs as JSON").action(run);
}

async function run(
  words: readonly string[],
  { all = false, first, json, ...options }: Options,
): Promise<void> {
  const chosen = columnsOf(options);
  const client = new Client();
  const pages = listed(client, await askedFor(client, words, all), namedJobs(words));
  if (json) return writeJsonList("tutti.jobs/1", "jobs", pages);
  const lines = new JobLines(first, chosen === undefined);
  for await (const page of withProgress(new Progress("jobs", true), pages, ({ length }) => length))
    for (const job of page) lines.add(job);
  if (lines.count === 0) {
    // Without a heading, standard output holds only jobs.
    if (chosen?.hasHeading === false) return;
    const { counts } = await client.ask<StatusAnswer>("/v1/status");
    writeOut(all ? "There are no jobs.\n" : `${noJobsText(counts)}\n`);
    hint(`next: ${commandName()} submit -- COMMAND, or ${commandName()} history for jobs that have ended`);
    return;
  }
  // The number of lines keeps the table readable on a terminal. --json has all jobs.
  const { lines: shown, more } = lines.shown();
  const { user } = await client.ask<StatusAnswer>("/v1/status");
  writeOut(jobsTable(shown, user, chosen));
  if (more === 0) return;
  const rest = `and ${more} more; --first ${lines.count} shows all`;
  if (chosen?.hasHeading === false) hint(rest);
  else writeOut(`${rest}\n`);
}

/**
 * The query for one list in the order of job numbers. So a job that starts or ends meanwhile is listed
 * exactly once.
 */
async function askedFor(
  client: Client,
  words: readonly string[],
  all: boolean,
): Promise<AskedJobs | undefined> {
  if (words.length === 0 && !all) return { states: ACTIVE_STATES };
  const numbers = words.length === 0 ? await everyNumber(client) : await selectJobs(client, words);
  return numbers.length === 0 ? undefined : { numbers: rangesOf(numbers) };
}

/** The numbers that `all` selects; empty if there are no jobs. */
async function everyNumber(client: Client): Promise<readonly number[]> {
  try {
    return await selectJobs(client, ["all"]);
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

async function* listed(
  client: Client,
  asked: AskedJobs | undefined,
  named: ReadonlySet<number>,
): AsyncGenerator<readonly Job[]> {
  const unseen = new Set(named);
  if (asked !== undefined) {
    for await (const { jobs } of jobPages(client, asked)) {
      for (const { job } of jobs) unseen.delete(job);
      yield jobs;
    }
  }
  // For a single number without a job, the scheduler's error says why.
  for (const number of unseen) await client.job(number);
}
