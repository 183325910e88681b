/** `tutti wait JOBS`: until they have ended; 0 when all ended well. */
import type { Command } from "commander";
import type { Client } from "../api/client.ts";
import type { Job } from "../api/contract.ts";
import { CheckFailed, NotFoundError } from "./errors.ts";
import { outcomeText } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { Patience } from "./patience.ts";
import { ACTIVE, SELECTOR_HELP, selectJobs } from "./selectors.ts";
import { hint, writeOut } from "./text.ts";

/** Requests at a time: each holds a connection open. */
const AT_ONCE = 16;

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print the jobs as JSON when all have ended")
    .action(async (words: readonly string[], { json = false }: { readonly json?: boolean }) => {
      const patience = new Patience(`tutti wait ${words.join(" ")}`);
      const numbers = await patience.keep((client) => chosen(client, words));
      const jobs = await waitForAll(patience, numbers, (job) => {
        if (!json) writeOut(`${outcomeText(job)}\n`);
      });
      if (json) writeJson({ schema: "tutti.jobs/1", jobs });
      if (jobs.some(({ state }) => state !== "done")) throw new CheckFailed("a job did not end well");
    });
}

/** `all` are those that have not ended; when there are none, the wait is over. */
async function chosen(client: Client, words: readonly string[]): Promise<number[]> {
  if (!words.includes("all")) return selectJobs(client, words);
  try {
    return await selectJobs(client, words, ACTIVE);
  } catch (error) {
    if (!(error instanceof NotFoundError) || words.length > 1) throw error;
    hint("No job waits or runs.");
    return [];
  }
}

/** The jobs when they have ended, in the order given; each is told when it has. */
async function waitForAll(
  patience: Patience,
  numbers: readonly number[],
  onEnd: (job: Job) => void,
): Promise<Job[]> {
  const jobs: Job[] = [];
  let next = 0;
  const worker = async () => {
    while (next < numbers.length) {
      const i = next++;
      const job = await patience.keep((client) => client.ended(numbers[i]!));
      jobs[i] = job;
      onEnd(job);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, numbers.length) }, worker));
  return jobs;
}
