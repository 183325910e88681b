/** `tutti wait JOBS`: waits until the jobs have ended. The exit code is 0 if all of them succeeded. */

import { formatCount } from "@tutti/kernel/core/format.ts";
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, MissingJobs } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import { outcomeText } from "@tutti/words/jobs.ts";
import type { Command } from "commander";
import { CheckFailed, NotFoundError } from "../errors.ts";
import { jobPages, missingText } from "../live/job-lists.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { namedJobs, SELECTOR_HELP, type Selection, select } from "../live/selectors.ts";
import { untilEnded } from "../live/until-ended.ts";
import { Progress } from "../text/progress.ts";
import { hint, writeJson, writeOut } from "../text/text.ts";

/** Of more jobs, people see only the count and the jobs that did not succeed. */
const MAX_LINES = 10;

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print the jobs as JSON when all have ended")
    .addHelpText(
      "after",
      `\nEach job has a line when it has ended; of more than ${MAX_LINES} jobs, only those\nthat did not succeed have one.`,
    )
    .action(run);
}

async function run(words: readonly string[], { json = false }: { readonly json?: boolean }): Promise<void> {
  const connection = new ReconnectingClient(`tutti wait ${words.join(" ")}`);
  const { numbers, missing } = await connection.retry((client) => chosen(client, words));
  reportMissing(missing);
  let areAllWell = missing.length === 0;
  const counts = new Map<string, number>();
  const ended: Job[] = [];
  const isBrief = !json && numbers.length > MAX_LINES;
  const progress = new Progress("jobs", isBrief && process.stdout.isTTY);
  let done = 0;
  const forgotten = await untilEnded(connection, numbers, (job) => {
    areAllWell &&= job.state === "done";
    counts.set(job.state, (counts.get(job.state) ?? 0) + 1);
    if (json) ended.push(job);
    else if (!isBrief || job.state !== "done") {
      progress.end();
      writeOut(`${outcomeText(job)}\n`);
    }
    progress.update(++done, numbers.length);
  });
  progress.end();
  reportMissing(forgotten);
  // On standard error: standard output has only lines of jobs.
  if (!json && numbers.length > 1)
    hint([...counts].map(([state, count]) => `${formatCount(count)} ${state}`).join(", "));
  if (json) writeJson({ schema: "tutti.jobs/1", jobs: ended.sort((a, b) => a.job - b.job) });
  if (!areAllWell || forgotten.length > 0) throw new CheckFailed("a job did not succeed");
}

/** Reports numbers without a job: it is unknown whether these jobs succeeded. */
function reportMissing(missing: readonly MissingJobs[]): void {
  const notYet = missing.filter(({ because }) => because === "not given");
  const lost = missing.filter(({ because }) => because !== "not given");
  if (lost.length > 0) hint(`tutti: ${missingText(lost)}, so it is unknown how they ended`);
  if (notYet.length > 0) hint(`tutti: ${missingText(notYet)}, so they cannot be waited for`);
}

/** The selected jobs. Here, `all` means the jobs that have not ended; if there are none, the wait is over. */
async function chosen(client: Client, words: readonly string[]): Promise<Selection> {
  if (!words.includes("all")) return existing(client, words, await select(client, words));
  try {
    return await existing(client, words, await select(client, words, ACTIVE_STATES));
  } catch (error) {
    if (!(error instanceof NotFoundError) || words.length > 1) throw error;
    hint("No jobs are waiting or running.");
    return { numbers: [], missing: [] };
  }
}

/** @throws RefusedError when a single number has no job */
async function existing(client: Client, words: readonly string[], selection: Selection): Promise<Selection> {
  const unseen = new Set(namedJobs(words));
  if (unseen.size > 0) {
    for await (const { jobs } of jobPages(client, { numbers: rangesOf(unseen) }))
      for (const { job } of jobs) unseen.delete(job);
  }
  for (const number of unseen) await client.job(number);
  return selection;
}
