/** `tutti allocations [start]`: shows the nodes that the scheduler has for a while, or asks for some. */

import type { AllocationsAnswer, PilotAnswer } from "@tutti/protocol/schema.ts";
import { allocationLines } from "@tutti/words/status.ts";
import { Argument, type Command } from "commander";
import { type Asked, show } from "../live/show.ts";

const HELP = `
An allocation is a set of nodes that the scheduler has for a while. With tutti
serve --on slurm, it is a pilot: one job of Slurm that holds nodes, on which the
scheduler runs its own jobs. If somebody cancels it, the scheduler asks for no
other one until tutti allocations start.`;

export function configure(command: Command): void {
  // By its older name, the command prints the older names of the fields.
  const path = command.name() === "pilot" ? "/v1/pilot" : "/v1/allocations";
  const action = new Argument("[action]", "start: ask for nodes again; status: show them");
  show(command.addArgument(action.choices(["start", "status"])).addHelpText("after", HELP), {
    ask: ({ client, words: [action] }: Asked<object, [string | undefined]>) =>
      client.ask<AllocationsAnswer | PilotAnswer>(path, action === "start" ? { method: "POST" } : {}),
    text: (answer) => `${allocationLines("pilots" in answer ? byNewNames(answer) : answer).join("\n")}\n`,
    next: (_, { words: [action] }) => (action === "start" ? "tutti: nodes are asked for" : undefined),
  });
}

function byNewNames({ pilots, ...why }: PilotAnswer): Omit<AllocationsAnswer, "schema"> {
  return { ...why, allocations: pilots.map(({ jobId: name, ...rest }) => ({ name, ...rest })) };
}
