/** What cancel, hold, release and requeue have in common: jobs are chosen, each is changed, what cannot be changed is told at the end. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { Job, JobAnswer, JobState } from "../api/contract.ts";
import { RefusedError } from "../api/errors.ts";
import { formatCount } from "../report/format.ts";
import { outcomeText, stateText } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { isNamed, SELECTOR_HELP, selectJobs } from "./selectors.ts";
import { hint, plural, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

export interface Change {
  readonly method: "POST" | "PATCH";
  readonly path: (job: number) => string;
  readonly body?: object;
  /** The last jobs first. */
  readonly isBackwards?: boolean;
}

/** Requests under way at once: the scheduler writes to the disk what comes in together. */
const AT_ONCE = 64;
/** Lines of output; of more jobs there is a count. */
const MOST_LINES = 20;

export function addSelectors(command: Command): Command {
  return command.argument("<jobs...>", SELECTOR_HELP).option("--json", "print as JSON");
}

/**
 * Changes the jobs and prints them.
 * @param among which jobs a selector such as `all` means; one of several that cannot be changed is told and is no failure
 * @throws RefusedError the first refusal, after all have been tried; also when nothing could be changed
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
  const left: RefusedError[] = [];
  const changeOne = async (number: number): Promise<void> => {
    try {
      const { method, path, body } = change;
      const options = body === undefined ? { method } : { method, body };
      jobs.push((await client.ask<JobAnswer>(path(number), options)).job);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      (error.refused !== "wrong-state" || isNamed(number, words) ? refusals : left).push(error);
    }
  };
  const order = change.isBackwards ? numbers.toReversed() : numbers;
  for (let i = 0; i < order.length; i += AT_ONCE) {
    await Promise.all(order.slice(i, i + AT_ONCE).map(changeOne));
  }
  jobs.sort((a, b) => a.job - b.job);
  if (jobs.length === 0 && refusals.length === 0) refusals.push(...left.splice(0, 1));
  if (json) writeJson({ schema: "tutti.jobs/1", jobs });
  else if (jobs.length > MOST_LINES) writeOut(`${countText(jobs)}\n`);
  else for (const job of jobs) writeOut(`${changeText(job)}\n`);
  for (const { message } of refusals.slice(1)) hint(`tutti: ${visibleLine(message)}`);
  if (left[0] !== undefined)
    hint(`tutti: ${plural(left.length, "job")} left unchanged: ${visibleLine(left[0].message)}`);
  if (refusals[0] !== undefined) throw refusals[0];
}

/** `2,300 jobs: 2,296 cancelled, 4 ending`. */
function countText(jobs: readonly Job[]): string {
  const counts = new Map<JobState, number>();
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${formatCount(count)} ${state}`);
  return `${plural(jobs.length, "job")}: ${states.join(", ")}`;
}

function changeText(job: Job): string {
  return job.endedAtMs === undefined
    ? `job ${job.job} (${visibleLine(job.name)}): ${stateText(job.state)}${job.priority === 0 ? "" : `, priority ${job.priority}`}`
    : outcomeText(job);
}
