/** `tutti drain [--end]`: keeps jobs from starting, or lets them start again. */

import { MAX_REASON_LENGTH } from "@tutti/protocol/limits.ts";
import type { DrainAnswer } from "@tutti/protocol/schema.ts";
import { drainText } from "@tutti/words/status.ts";
import { type Command, Option } from "commander";
import { type Asked, show } from "../live/show.ts";
import { commandName } from "../text/text.ts";

const HELP = `
Administrators only. Jobs can still be submitted. The drain stays in force when
the scheduler is restarted, until tutti drain --end.`;

interface Options {
  readonly reason?: string;
  readonly end?: boolean;
}

export function configure(command: Command): void {
  command
    .option("--reason <text>", `why, at most ${MAX_REASON_LENGTH} characters; all users see it`)
    .addOption(new Option("--end", "let jobs start again").conflicts("reason"))
    .addHelpText("after", HELP);
  show(command, {
    ask: ({ client, options: { reason, end } }: Asked<Options>) =>
      client.ask<DrainAnswer>("/v1/drain", end ? { method: "DELETE" } : { method: "PUT", body: { reason } }),
    text: ({ drain }) => (drain === undefined ? "Jobs start again.\n" : `${drainText(drain)}.\n`),
    next: ({ drain }) =>
      drain === undefined
        ? undefined
        : `next: ${commandName()} status counts the jobs that still run, ${commandName()} wait state:running waits for them`,
  });
}
