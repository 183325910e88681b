/** `tutti logs JOBS [-f]`: prints the output of jobs. */

import { outcomeText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { copyLog } from "../live/log-stream.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { integer } from "../options/parse.ts";
import { hint, writeOut } from "../text/text.ts";

interface Options {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly tail?: number;
  readonly raw?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("-f, --follow", "keep printing until the job has ended")
    .option("--stderr", "show standard error instead of standard output")
    .option("--tail <lines>", "show only this many lines from the end", integer(0))
    .option("--raw", "on a terminal, obey escape sequences instead of showing them as text")
    .action(run);
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const { follow = false, stderr = false, tail, raw = false } = options;
  const connection = new ReconnectingClient(`tutti logs -f ${words.join(" ")}`);
  const numbers = await connection.retry((client) => selectJobs(client, words));
  for (const number of numbers) {
    const { job } = await connection.retry((client) => client.job(number));
    if (numbers.length > 1) writeOut(`==> job ${number} (${visibleLine(job.name)}) <==\n`);
    const stream = stderr ? "stderr" : "stdout";
    const choice = { stream, follow, raw, tail } as const;
    const bytes = await copyLog(connection, job, choice, process.stdout);
    if (bytes > 0 || tail === 0) continue;
    const { job: now } = await connection.retry((client) => client.job(number));
    const other =
      job.stdout === job.stderr
        ? ""
        : stderr
          ? "; without --stderr, this shows its standard output"
          : "; --stderr shows its standard error";
    const state = now.endedAtMs === undefined ? `job ${number} is ${now.state}` : outcomeText(now);
    hint(`tutti: nothing was written; ${state}${other}`);
  }
}
