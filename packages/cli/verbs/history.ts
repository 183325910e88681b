/** `tutti history`: lists jobs that have ended, newest last. */

import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, StatusAnswer } from "@tutti/protocol/schema.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";
import { clockText } from "@tutti/words/times.ts";
import type { Command } from "commander";
import { type JobsPage, jobPages } from "../live/job-lists.ts";
import { integer } from "../options/parse.ts";
import { addColumnOptions, type ChosenColumns, type ColumnOptions, columnsOf } from "../text/job-columns.ts";
import { historyTable, type JobTable } from "../text/job-text.ts";
import { Progress, withProgress } from "../text/progress.ts";
import { hint, writeJsonList, writeOut, writePiece } from "../text/text.ts";

export function configure(command: Command): void {
  command.option("--last <n>", "number of jobs", integer(1, 1_000_000), 20);
  addColumnOptions(command, "print as JSON")
    .addHelpText("after", "\nTo select jobs, also those that have ended: tutti jobs state:failed 'name:sim*'")
    .showHelpAfterError("(tutti history --help lists its options; tutti jobs state:failed selects jobs)")
    .action(run);
}

interface Options extends ColumnOptions {
  readonly last: number;
  readonly json?: boolean;
}

async function run({ last, json, ...options }: Options): Promise<void> {
  const chosen = columnsOf(options);
  const client = new Client();
  const pages = jobPages(client, { states: ENDED_STATES, last });
  if (json) return writeJsonList("tutti.jobs/1", "jobs", jobsOf(pages));
  const { isAdministrator, keptSinceMs } = await client.ask<StatusAnswer>("/v1/status");
  const count = await writeTable(client, pages, last, { isAdministrator, chosen });
  if (count === 0 && chosen?.hasHeading !== false) writeOut("No job has ended yet.\n");
  if (keptSinceMs !== undefined && count < last) {
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
