/** `tutti jobs [JOBS]`: lists the jobs that are waiting or running; with `--ended`, those that have ended. */

import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, StatusAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, ENDED_STATES } from "@tutti/protocol/states.ts";
import { noJobsText } from "@tutti/words/status.ts";
import { clockText } from "@tutti/words/times.ts";
import { type Command, Option } from "commander";
import { NotFoundError } from "../errors.ts";
import { type AskedJobs, type JobsPage, jobPages } from "../live/job-lists.ts";
import { namedJobs, SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { integer } from "../options/parse.ts";
import { addRenamedOption } from "../options/renamed.ts";
import { addColumnOptions, type ChosenColumns, type ColumnOptions, columnsOf } from "../text/job-columns.ts";
import { historyTable, JobLines, type JobTable, jobsTable } from "../text/job-text.ts";
import { Progress, withProgress } from "../text/progress.ts";
import { commandName, hint, writeJsonList, writeOut, writePiece } from "../text/text.ts";

interface Options extends ColumnOptions {
  readonly all?: boolean;
  readonly ended?: boolean;
  readonly first: number;
  readonly last: number;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `${SELECTOR_HELP} (default: jobs that have not ended)`)
    .option("--all", "also list jobs that have ended")
    .addOption(
      new Option("--ended", "list only jobs that have ended, the newest last").conflicts(["all", "first"]),
    )
    .addOption(
      new Option("--last <n>", "number of jobs that have ended; implies --ended")
        .argParser(integer(1, 1_000_000))
        .default(20)
        .implies({ ended: true }),
    );
  const lines = "maximum number of lines; running jobs come first";
  addRenamedOption(command, "--first <n>", "--limit <n>", lines, integer(1), 50);
  addColumnOptions(command, "print all jobs as JSON").action(
    (words: readonly string[], { ended, ...options }: Options) =>
      ended ? listEnded(words, options) : list(words, options),
  );
}

async function list(
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
    writeOut(all ? "No jobs are known.\n" : `${noJobsText(counts)}\n`);
    hint(
      `next: ${commandName()} submit -- COMMAND, or ${commandName()} jobs --ended for those that have ended`,
    );
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

async function listEnded(words: readonly string[], { last, json, ...options }: Options): Promise<void> {
  const chosen = columnsOf(options);
  const client = new Client();
  const numbers =
    words.length === 0 ? undefined : (await selectJobs(client, words, ENDED_STATES)).slice(-last);
  const asked = numbers === undefined ? { states: ENDED_STATES, last } : { numbers: rangesOf(numbers) };
  const pages = jobPages(client, asked);
  if (json) return writeJsonList("tutti.jobs/1", "jobs", jobsOf(pages));
  const { isAdministrator, keptSinceMs } = await client.ask<StatusAnswer>("/v1/status");
  const count = await writeTable(client, pages, numbers?.length ?? last, { isAdministrator, chosen });
  if (count === 0 && chosen?.hasHeading !== false) writeOut("No jobs have ended yet.\n");
  if (keptSinceMs !== undefined && words.length === 0 && count < last) {
    hint(`Jobs that ended before ${clockText(keptSinceMs)} are forgotten`);
  }
}

interface Shape {
  /** Whether the caller may see jobs of others. */
  readonly isAdministrator: boolean;
  readonly chosen: ChosenColumns | undefined;
}

/** Prints the table page by page; the first page decides the widths. Returns the number of jobs. */
async function writeTable(
  client: Client,
  pages: AsyncIterable<JobsPage>,
  last: number,
  shape: Shape,
): Promise<number> {
  let count = 0;
  let table: JobTable | undefined;
  // On a terminal, the printed lines show the progress.
  const progress = new Progress("jobs", !process.stdout.isTTY);
  for await (const { jobs, hasMore } of withProgress(progress, pages, ({ jobs }) => jobs.length, last)) {
    if (table === undefined && jobs.length > 0) {
      table = await tableFor(client, jobs, hasMore, shape);
      await writePiece(table.heading());
    }
    if (table !== undefined) await writePiece(table.lines(jobs));
    count += jobs.length;
  }
  writeOut(table?.foot() ?? "");
  return count;
}

async function tableFor(
  client: Client,
  first: readonly Job[],
  hasMore: boolean,
  { isAdministrator, chosen }: Shape,
): Promise<JobTable> {
  const isShared = new Set(first.map(({ user }) => user)).size > 1;
  if (!hasMore) return historyTable(first, 0, isShared, chosen);
  // The users of the jobs to come are not known yet. An administrator may see those of others.
  const { jobs } = await client.jobs({ last: 1 });
  return historyTable(first, jobs[0]?.job ?? 0, isAdministrator, chosen);
}

async function* jobsOf(pages: AsyncIterable<JobsPage>): AsyncGenerator<readonly Job[]> {
  for await (const { jobs } of pages) yield jobs;
}
