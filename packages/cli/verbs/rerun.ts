/** `tutti rerun JOBS`: runs ended jobs again, as new jobs with the same spec, environment and script. */
import { randomUUID } from "node:crypto";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { JobsAnswer, RerunBody } from "@tutti/protocol/schema.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";
import type { Command } from "commander";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { submittedText } from "../text/submitted-text.ts";
import { commandName, hint, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly json?: boolean;
  readonly parsable?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print the new jobs as JSON")
    .option("--parsable", "print only the numbers of the new jobs, such as 71 or 71-76")
    .addHelpText(
      "after",
      `
The new jobs have the same command, environment and script, and begin at once.
Of an array, only the selected jobs run again, with their indices.
  tutti rerun state:failed
  tutti rerun 12-40`,
    )
    .action(run);
}

async function run(words: readonly string[], { json, parsable }: Options): Promise<void> {
  const numbers = await selectJobs(new Client(), words, ENDED_STATES);
  const body: RerunBody = { jobs: rangesText(rangesOf(numbers)), key: randomUUID() };
  const connection = new ReconnectingClient("tutti jobs shows whether they run again");
  const answer = await connection.retry((client) =>
    client.ask<JobsAnswer>("/v1/rerun", { method: "POST", body }),
  );
  if (json) return writeJson(answer);
  const { jobs } = answer;
  if (parsable) return writeOut(`${rangesText(rangesOf(jobs.map(({ job }) => job)))}\n`);
  writeOut(`${submittedText(jobs)}\n`);
  if (process.stderr.isTTY && jobs[0] !== undefined) hint(`next: ${commandName()} why ${jobs[0].job}`);
}
