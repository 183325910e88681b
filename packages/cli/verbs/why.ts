/** `tutti why JOBS`: explains why jobs wait, and when they are expected to start. */

import { plural } from "@tutti/kernel/core/format.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, WhyAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, type JobState } from "@tutti/protocol/states.ts";
import { outcomeText, stateText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { whySentences } from "@tutti/words/why.ts";
import type { Command } from "commander";
import { NotFoundError } from "../errors.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { bold, wrap, writeJson, writeOut } from "../text/text.ts";

/** Maximum number of paragraphs. The jobs of an array all have almost the same text. */
const MAX_PARAGRAPHS = 20;

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const numbers = await chosen(client, words);
      for (const number of json ? numbers : numbers.slice(0, MAX_PARAGRAPHS)) {
        const why = await client.ask<WhyAnswer>(`/v1/jobs/${number}/why`);
        if (json) {
          writeJson(why);
          continue;
        }
        const { job } = await client.job(number);
        writeOut(whyText(why, job));
      }
      if (!json && numbers.length > MAX_PARAGRAPHS) {
        writeOut(
          `and ${plural(numbers.length - MAX_PARAGRAPHS, "job")} more; tutti why NUMBER explains one\n`,
        );
      }
    });
}

/** The selected jobs that wait; if there are none, those that run; if there are none either, all of them. */
async function chosen(client: Client, words: readonly string[]): Promise<readonly number[]> {
  const among: (readonly JobState[] | undefined)[] = [["queued", "held"], ACTIVE_STATES];
  if (!words.includes("all")) among.push(undefined);
  for (const states of among.slice(0, -1)) {
    try {
      return await selectJobs(client, words, states);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
  return selectJobs(client, words, among.at(-1));
}

/**
 * One paragraph: how long and in which queue the job has waited, what is in its way, and when it is expected
 * to start.
 */
function whyText(why: WhyAnswer, job: Job): string {
  if (job.endedAtMs !== undefined) return `${wrap(outcomeText(job), 2)}\n`;
  const sentences = whySentences(why, job);
  const text = sentences.length === 0 ? "" : `\n  ${wrap(sentences.join(" "), 2)}`;
  return `${bold(`job ${job.job} (${visibleLine(job.name)})`)}: ${stateText(why.state)}${text}\n`;
}
