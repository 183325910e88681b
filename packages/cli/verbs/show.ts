/** `tutti show JOBS`: shows everything about jobs. */

import type { Job } from "@tutti/protocol/schema.ts";
import { jobFacts } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { wholeJobs } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { type Asked, show } from "../live/show.ts";
import { bold, wrap } from "../text/text.ts";

export function configure(command: Command): void {
  show(command.argument("<jobs...>", SELECTOR_HELP), {
    ask: async ({ client, words: [words] }: Asked<object, [readonly string[]]>) => ({
      schema: "tutti.jobs/1",
      jobs: await wholeJobs(client, await selectJobs(client, words)),
    }),
    text: ({ jobs }) => jobs.map(jobText).join("\n"),
  });
}

function jobText(job: Job): string {
  const facts = jobFacts(job).map(([name, value]) => `  ${name.padEnd(10)}${wrap(value, 12)}`);
  return `${bold(`job ${job.job}: ${visibleLine(job.name)}`)}\n${facts.join("\n")}\n`;
}
