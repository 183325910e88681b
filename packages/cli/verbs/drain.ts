/** `tutti drain` and `undrain`: keep jobs from starting, and let them start again. */

import { MAX_REASON_LENGTH } from "@tutti/protocol/limits.ts";
import type { DrainAnswer } from "@tutti/protocol/schema.ts";
import { drainText } from "@tutti/words/status.ts";
import type { Command } from "commander";
import { type Asked, show } from "../live/show.ts";
import { commandName } from "../text/text.ts";

const HELP = `
Administrators only. Jobs can still be submitted. The drain stays in force when
the scheduler is restarted, until tutti undrain.`;

export function configure(command: Command): void {
  const drains = command.name() === "drain";
  if (drains) {
    command.option("--reason <text>", `why, at most ${MAX_REASON_LENGTH} characters; all users see it`);
  }
  show(command.addHelpText("after", drains ? HELP : "\nAdministrators only."), {
    ask({ client, options: { reason } }: Asked<{ readonly reason?: string }>) {
      const how = drains ? { method: "PUT", body: { reason } } : { method: "DELETE" };
      return client.ask<DrainAnswer>("/v1/drain", how);
    },
    text: ({ drain }) => (drain === undefined ? "Jobs start again.\n" : `${drainText(drain)}.\n`),
    next: () =>
      drains
        ? `next: ${commandName()} status counts the jobs that still run, ${commandName()} wait state:running waits for them`
        : undefined,
  });
}
