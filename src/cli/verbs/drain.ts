/** `tutti drain` and `undrain`: keep jobs from starting, and let them start again. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import { MAX_REASON_LENGTH } from "../../protocol/limits.ts";
import type { DrainAnswer } from "../../protocol/schema.ts";
import { drainText } from "../../words/status.ts";
import { commandName, hint, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly reason?: string;
  readonly json?: boolean;
}

const HELP = `
Administrators only. Jobs can still be submitted. The drain stays in force when
the scheduler is restarted, until tutti undrain.`;

export function configure(command: Command): void {
  const drains = command.name() === "drain";
  if (drains) {
    command.option("--reason <text>", `why, at most ${MAX_REASON_LENGTH} characters; all users see it`);
  }
  command
    .option("--json", "print as JSON")
    .addHelpText("after", drains ? HELP : "\nAdministrators only.")
    .action(async ({ reason, json }: Options) => {
      const body = { reason };
      const how = drains ? { method: "PUT", body } : { method: "DELETE" };
      const answer = await new Client().ask<DrainAnswer>("/v1/drain", how);
      if (json) writeJson(answer);
      else writeOut(answer.drain === undefined ? "Jobs start again.\n" : `${drainText(answer.drain)}.\n`);
      if (drains && !json)
        hint(
          `next: ${commandName()} status counts the jobs that still run, ${commandName()} wait state:running waits for them`,
        );
    });
}
