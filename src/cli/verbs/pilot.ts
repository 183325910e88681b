/** `tutti pilot [start]`: shows the jobs of Slurm that hold the scheduler's nodes, or asks for one. */
import { Argument, type Command } from "commander";
import type { PilotAnswer } from "../../protocol/schema.ts";
import { pilotLines } from "../../words/status.ts";
import { type Asked, show } from "../live/show.ts";

const HELP = `
A pilot is one job of Slurm that holds nodes, on which tutti serve --on slurm
runs its own jobs. If somebody cancels the pilot, the scheduler submits no other
one until tutti pilot start.`;

export function configure(command: Command): void {
  const action = new Argument("[action]", "start: ask for a pilot again; status: show them");
  show(command.addArgument(action.choices(["start", "status"])).addHelpText("after", HELP), {
    ask: ({ client, words: [action] }: Asked<object, [string | undefined]>) =>
      client.ask<PilotAnswer>("/v1/pilot", action === "start" ? { method: "POST" } : {}),
    text: (answer) => `${pilotLines(answer).join("\n")}\n`,
    next: (_, { words: [action] }) => (action === "start" ? "tutti: Slurm is asked for a pilot" : undefined),
  });
}
