/** `tutti attach JOB`: connects this terminal with that of a job of `tutti run --pty`. */

import { isEnded } from "@tutti/protocol/states.ts";
import { outcomeText } from "@tutti/words/jobs.ts";
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { exitCodeOf, reportEnd } from "../live/job-exit.ts";
import { selectJobs } from "../live/selectors.ts";
import { attachTerminal, DETACH_HELP, needTerminal, terminalConnection } from "../live/terminal.ts";
import { hint } from "../text/text.ts";

export function configure(command: Command): void {
  command
    .argument("<job>", "a job of tutti run --pty, such as 12 or last")
    .addHelpText(
      "after",
      `
Shows the last part of the job's screen, and passes on what you type.
${DETACH_HELP}.
Any number of terminals can be attached to a job; all show the same.
When the job ends, the exit code is that of the job; after detaching, it is 0.
  tutti attach 12
  tutti attach last`,
    )
    .action(run);
}

async function run(word: string): Promise<void> {
  needTerminal("attach to a job");
  const connection = terminalConnection(`tutti attach ${word}`);
  const numbers = await connection.retry((client) => selectJobs(client, [word]));
  const [number] = numbers;
  if (number === undefined || numbers.length > 1) {
    throw new UsageError(`Cannot attach to "${word}": these are ${numbers.length} jobs, expected one`);
  }
  const { job } = await connection.retry((client) => client.job(number));
  if (job.input !== "terminal") {
    throw new UsageError(
      `Cannot attach to job ${number}: it has no terminal, expected a job of tutti run --pty; tutti logs -f ${number} shows its output`,
    );
  }
  if (isEnded(job.state)) {
    throw new UsageError(`Cannot attach: ${outcomeText(job)}; tutti logs --raw ${number} shows its screen`);
  }
  if (job.startedAtMs === undefined) hint(`tutti: waiting until job ${number} starts`);
  const ended = await attachTerminal(connection, job, false);
  if (ended === undefined)
    return hint(`tutti: detached from job ${number}; tutti attach ${number} returns to it`);
  process.exitCode = exitCodeOf(ended);
  reportEnd(ended);
}
