/** `tutti show JOBS`: shows everything about jobs. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { Job } from "../../protocol/schema.ts";
import { jobFacts } from "../../words/jobs.ts";
import { visibleLine } from "../../words/visible.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { bold, wrap, writeJson, writeOut } from "../text/text.ts";

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const jobs: Job[] = [];
      for (const number of await selectJobs(client, words)) jobs.push((await client.job(number)).job);
      if (json) writeJson({ schema: "tutti.jobs/1", jobs });
      else writeOut(jobs.map(jobText).join("\n"));
    });
}

function jobText(job: Job): string {
  const facts = jobFacts(job).map(([name, value]) => `  ${name.padEnd(10)}${wrap(value, 12)}`);
  return `${bold(`job ${job.job}: ${visibleLine(job.name)}`)}\n${facts.join("\n")}\n`;
}
