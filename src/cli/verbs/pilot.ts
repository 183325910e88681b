/** `tutti pilot [start]`: shows the jobs of Slurm that hold the scheduler's nodes, or asks for one. */
import { Argument, type Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { PilotAnswer } from "../../protocol/schema.ts";
import { pilotLines } from "../../words/status.ts";
import { hint, writeJson, writeOut } from "../text/text.ts";

const HELP = `
A pilot is one job of Slurm that holds nodes, on which tutti serve --on slurm
runs its own jobs. If somebody cancels the pilot, the scheduler submits no other
one until tutti pilot start.`;

export function configure(command: Command): void {
  command
    .addArgument(
      new Argument("[action]", "start: ask for a pilot again; status: show them").choices([
        "start",
        "status",
      ]),
    )
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action(async (action: string | undefined, { json }: { readonly json?: boolean }) => {
      const how = action === "start" ? { method: "POST" } : {};
      const answer = await new Client().ask<PilotAnswer>("/v1/pilot", how);
      if (json) writeJson(answer);
      else writeOut(`${pilotLines(answer).join("\n")}\n`);
      if (action === "start" && !json) hint("tutti: Slurm is asked for a pilot");
    });
}
