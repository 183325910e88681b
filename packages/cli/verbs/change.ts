/**
 * `tutti cancel`, `hold`, `release`, `requeue`, `pause`, `resume` and `update`: change each job, and at the
 * end list those that could not be changed.
 */

import { plural } from "@tutti/kernel/core/format.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import type { Job, UpdateBody } from "@tutti/protocol/schema.ts";
import { JOB_SIGNALS } from "@tutti/protocol/signals.ts";
import { CHANGEABLE_STATES } from "@tutti/protocol/states.ts";
import { jobCountsText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../errors.ts";
import { type Change, changesOf } from "../live/job-changes.ts";
import { namedJobs, SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { signalNamed } from "../options/signal-names.ts";
import { addUpdateOptions } from "../options/submit-options.ts";
import { hint, writeJson, writeOut } from "../text/text.ts";
import { changeText, updatedText } from "../text/updated-text.ts";

const UPDATE_HELP = `
A waiting job keeps its place in the queue. Of a job that has started, only the
name and the options about retries can change.
  tutti update 12 --time 2h -n 8
  tutti update state:queued --queue night`;

const SIGNAL_HELP = `
With --signal, a running job gets the signal and goes on, unless it ends by it:
  tutti cancel --signal USR1 12`;

interface Options {
  readonly json?: boolean | undefined;
  readonly release?: boolean;
  readonly signal?: (typeof JOB_SIGNALS)[number];
}

/** Maximum number of lines of output. More jobs are only counted. */
const MAX_LINES = 20;

const RELEASE_HELP =
  "under space sharing: other jobs may use its CPUs; when it is resumed, it waits until it gets CPUs again";
const PAUSE_HELP = `
A paused job is stopped, and its running time and its limit stand still. It
keeps its memory. Under space sharing, it also keeps its CPUs. Jobs that have
not started can be held instead.
  tutti pause 12
  tutti resume 12`;

export function configure(command: Command): void {
  const action = command.name() as Change["action"];
  command.argument("<jobs...>", SELECTOR_HELP).option("--json", "print as JSON");
  if (action === "pause") command.option("--release", RELEASE_HELP).addHelpText("after", PAUSE_HELP);
  if (action === "update") addUpdateOptions(command).addHelpText("after", UPDATE_HELP);
  if (action === "cancel") {
    command
      .option("--signal <signal>", "send this signal to all processes of running jobs instead", jobSignal)
      .addHelpText("after", SIGNAL_HELP);
  }
  command.action((words: readonly string[], { json, signal, ...asked }: Options & UpdateBody) =>
    changeJobs(
      words,
      signal !== undefined
        ? { action: "signal", signal: { name: signal } }
        : action === "update"
          ? updateOf(asked)
          : { action, ...asked },
      json,
    ),
  );
}

/** A change of the priority alone is one of its own: it also selects only jobs that wait. */
function updateOf(update: UpdateBody): Change {
  const { priority, ...others } = update;
  if (Object.keys(others).length > 0) return { action: "update", update };
  if (priority !== undefined) return { action: "priority", priority };
  throw new UsageError("Cannot update jobs: nothing changes, expected an option such as --time 2h or -n 8");
}

function jobSignal(word: string): (typeof JOB_SIGNALS)[number] {
  const name = signalNamed(word);
  const found = JOB_SIGNALS.find((one) => one === name);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(
    name === "SIGSTOP" || name === "SIGCONT"
      ? "Jobs take turns by it: tutti pause stops a job, and tutti resume continues it."
      : "Expected the name or the number of a signal, such as USR1 or 10.",
  );
}

/**
 * Changes the jobs and prints them. A job that a range or pattern selects and that cannot be changed is
 * reported, but it is not a failure.
 * @throws RefusedError the first refusal, after all jobs have been tried; this includes the case that no job
 *   could be changed
 */
async function changeJobs(words: readonly string[], change: Change, json = false): Promise<void> {
  const client = new Client();
  const named = namedJobs(words);
  const jobs: Job[] = [];
  const refusals: RefusedError[] = [];
  const unchanged: RefusedError[] = [];
  const numbers = await selectJobs(client, words, CHANGEABLE_STATES[change.action]);
  for (const result of await changesOf(client, change, numbers)) {
    if ("job" in result) jobs.push(result.job);
    else {
      const isFailure = result.refused !== "wrong-state" || named.has(result.number);
      (isFailure ? refusals : unchanged).push(new RefusedError(result.refused, result.message));
    }
  }
  jobs.sort((a, b) => a.job - b.job);
  if (jobs.length === 0 && refusals.length === 0) refusals.push(...unchanged.splice(0, 1));
  if (json) writeJson({ schema: "tutti.jobs/1", jobs });
  else if (jobs.length > MAX_LINES) writeOut(`${jobCountsText(jobs)}\n`);
  else {
    const sent = change.signal === undefined ? "" : `, sent ${change.signal.name}`;
    for (const job of jobs) writeOut(`${changeText(job)}${updatedText(job, change.update ?? {})}${sent}\n`);
  }
  for (const { message } of refusals.slice(1)) hint(`tutti: ${visibleLine(message)}`);
  if (unchanged[0] !== undefined)
    hint(`tutti: ${plural(unchanged.length, "job")} left unchanged: ${visibleLine(unchanged[0].message)}`);
  if (refusals[0] !== undefined) throw refusals[0];
}
