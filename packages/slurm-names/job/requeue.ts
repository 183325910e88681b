/**
 * `scontrol requeue` and `requeuehold`. A job that Slurm may requeue is one with retries, as sbatch submits
 * it; each requeue raises them, so it is allowed as often as Slurm allows it. The messages are those of
 * Slurm 22.05.8.
 */

import { type Change, changesOf } from "@tutti/cli/live/job-changes.ts";
import { jobsNamed, parseJobName } from "@tutti/cli/live/slurm-numbers.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { MAX_RETRIES } from "@tutti/protocol/limits.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { isWaiting, jobId } from "./facts.ts";

const INVALID = "Invalid job id specified";
const DONE = "No error";

/**
 * Requeues the jobs of one word of the command line, such as `12`, `12_3,12_4` or the number of an array.
 * @returns lines that say what was not possible
 */
export async function requeueJobs(client: Client, word: string, hold: boolean): Promise<readonly string[]> {
  const texts = word.replace(/^job(?:id)?=/i, "").split(",");
  const names = texts.map(parseJobName).filter((name) => name !== undefined);
  const jobs = names.length < texts.length ? [] : await jobsNamed(client, names);
  if (jobs.length === 0)
    return texts.length === 1 ? [`${INVALID} for job ${word}`] : texts.map((text) => `${text}: ${INVALID}`);
  const results = new Map<string, Job[]>();
  for (const job of jobs) {
    const result = whyNot(job) ?? (await requeueOne(client, job, hold)) ?? DONE;
    results.set(result, [...(results.get(result) ?? []), job]);
  }
  if (jobs.length === 1)
    return [...results.keys()].filter((why) => why !== DONE).map((why) => `${why} for job ${word}`);
  if (results.size === 1 && results.has(DONE)) return [];
  return [...results].map(([why, some]) => `${some.map(jobId).join(",")}: ${why}`);
}

function whyNot(job: Job): string | undefined {
  if (isWaiting(job)) return "Job is pending execution";
  if (isEnded(job.state))
    return `Job/step already completing or completed: here, \`tutti rerun ${job.job}\` runs it again, as another job,`;
  if (job.state === "ending") return "Job/step already completing or completed";
  return (job.retries ?? 0) === 0 ? "Requested operation is presently disabled" : undefined;
}

/** @returns why it was refused */
async function requeueOne(
  client: Client,
  { job, attempt, retries = 0 }: Job,
  hold: boolean,
): Promise<string | undefined> {
  const more = Math.min(MAX_RETRIES, attempt + 1);
  const steps: readonly Change[] = [
    ...(retries < more ? [{ action: "update", update: { retries: more } } as const] : []),
    { action: "requeue", ...(hold && { hold }) },
  ];
  for (const step of steps) {
    const [result] = await changesOf(client, step, [job]);
    if (result !== undefined && !("job" in result)) return result.message;
  }
  return undefined;
}
