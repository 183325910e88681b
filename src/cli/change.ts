/** What cancel, hold, release and requeue have in common: jobs are chosen, each is changed, what cannot be changed is told at the end. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { Job, JobAnswer, JobState } from "../api/contract.ts";
import { RefusedError } from "../api/errors.ts";
import { outcomeText, stateText } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { SELECTOR_HELP, selectJobs } from "./selectors.ts";
import { hint, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

export interface Change {
  readonly method: "POST" | "PATCH";
  readonly path: (job: number) => string;
  readonly body?: object;
}

export function addSelectors(command: Command): Command {
  return command.argument("<jobs...>", SELECTOR_HELP).option("--json", "print as JSON");
}

/**
 * Changes the jobs and prints them.
 * @param among which jobs a selector such as `all` means
 * @throws RefusedError the first refusal, after all have been tried
 */
export async function changeJobs(
  words: readonly string[],
  among: readonly JobState[],
  change: Change,
  json: boolean,
): Promise<void> {
  const client = new Client();
  const numbers = await selectJobs(client, words, among);
  const jobs: Job[] = [];
  const refusals: RefusedError[] = [];
  for (const number of numbers) {
    try {
      const { method, path, body } = change;
      const options = body === undefined ? { method } : { method, body };
      jobs.push((await client.ask<JobAnswer>(path(number), options)).job);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      refusals.push(error);
    }
  }
  if (json) writeJson({ schema: "tutti.jobs/1", jobs });
  else for (const job of jobs) writeOut(`${changeText(job)}\n`);
  for (const { message } of refusals.slice(1)) hint(`tutti: ${visibleLine(message)}`);
  if (refusals[0] !== undefined) throw refusals[0];
}

function changeText(job: Job): string {
  return job.endedAtMs === undefined
    ? `job ${job.job} (${visibleLine(job.name)}): ${stateText(job.state)}`
    : outcomeText(job);
}
