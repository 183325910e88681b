/** `tutti efficiency JOBS`: says how much of what jobs asked for they used. */

import { plural } from "@tutti/kernel/core/format.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";
import { efficiencyText } from "@tutti/words/efficiency.ts";
import type { Command } from "commander";
import { wholeJobs } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { hint, wrap, writeJson, writeOut } from "../text/text.ts";

/** Maximum number of sentences. */
const MAX_JOBS = 20;

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print the jobs as JSON, with the field usage")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const states = words.includes("all") ? ENDED_STATES : undefined;
      const numbers = await selectJobs(client, words, states);
      const shown = json ? numbers : numbers.slice(0, MAX_JOBS);
      const jobs = await wholeJobs(client, shown);
      if (json) return writeJson({ schema: "tutti.jobs/1", jobs });
      for (const job of jobs) writeOut(`${wrap(efficiencyText(job), 2)}\n`);
      const left = numbers.length - shown.length;
      if (left > 0) hint(`and ${plural(left, "job")} more; tutti usage has the sums`);
    });
}
