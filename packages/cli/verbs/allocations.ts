/** `tutti allocations`: shows the nodes that the scheduler has, asks for some, or says that some are off. */

import { NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import type { AllocationsAnswer, OffAnswer, PilotAnswer } from "@tutti/protocol/schema.ts";
import { nodeSourceLines } from "@tutti/words/status.ts";
import { elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { Argument, type Command, Option } from "commander";
import { UsageError } from "../errors.ts";
import { type Asked, show } from "../live/show.ts";
import { left, right, tableOf } from "../text/text.ts";

type Answers = AllocationsAnswer | PilotAnswer | OffAnswer;
interface Options {
  readonly asPilots?: boolean;
}
type Words = [action: "start" | "status" | "off" | undefined, hosts: readonly string[]];

const HELP = `
An allocation is a set of nodes that the scheduler has for a while. With tutti
serve --on slurm, it is a pilot: one job of Slurm that holds nodes, on which the
scheduler runs its own jobs. If somebody cancels it, the scheduler asks for no
other one until tutti allocations start.

With tutti serve --on ssh, all hosts are one allocation that has no end. A job
on a lost host does not end, and does not run again, until the host answers: it
may still run there. If you know that it does not, because the host is off or
was started again, tutti allocations off HOST says so. Only administrators may.`;

export function configure(command: Command): void {
  const action = new Argument(
    "[action]",
    "start: ask for nodes again; off: nothing runs on these lost hosts; status: show them",
  ).choices(["start", "status", "off"]);
  command.addArgument(action).argument("[hosts...]", "after off: names as tutti status shows them");
  command.addOption(new Option("--as-pilots", "with the older names of the fields").hideHelp());
  show(command.addHelpText("after", HELP), {
    ask: async ({
      client,
      words: [action, hosts],
      options: { asPilots },
    }: Asked<Options, Words>): Promise<Answers> => {
      if (action === "off") {
        if (hosts.length > 0)
          return client.ask<Answers>("/v1/allocations/off", { method: "POST", body: { nodes: hosts } });
        throw new UsageError(
          "Cannot say that nothing runs on a host: its name is missing, expected one such as tutti allocations off elm",
        );
      }
      if (hosts.length > 0)
        throw new UsageError(`Cannot use "${hosts[0]}": only tutti allocations off names hosts`);
      const method = action === "start" ? "POST" : "GET";
      return client.ask<Answers>(asPilots ? "/v1/pilot" : "/v1/allocations", { method });
    },
    text: (answer) =>
      "jobs" in answer
        ? `${offText(answer)}\n`
        : allocationsText("pilots" in answer ? byNewNames(answer) : answer),
    next: (answer, { words: [action] }) => {
      if (action !== "start" || !("allocations" in answer)) return undefined;
      return answer.allocations.length === 0 ? "tutti: nodes are asked for" : undefined;
    },
  });
}

function allocationsText(answer: Omit<AllocationsAnswer, "schema">): string {
  const { allocations } = answer;
  const kinds = new Set(allocations.map(({ kind }) => kind));
  const table = tableOf<(typeof allocations)[number]>(allocations, [
    right("allocation", ({ name = NO_VALUE }) => visibleLine(name)),
    kinds.size > 1 ? left("kind", ({ kind = NO_VALUE }) => visibleLine(kind)) : undefined,
    left("state", ({ state }) => visibleLine(state)),
    left("nodes", ({ nodes, askedNodes }) =>
      nodes.length > 0 || askedNodes === undefined
        ? nodes.map(visibleLine).join(", ")
        : `${plural(askedNodes, "node")} asked for`,
    ),
    right("ends in", ({ leftMs }) => (leftMs === undefined ? NO_VALUE : elapsedText(leftMs))),
  ]);
  const lines = [...(allocations.length === 0 ? [] : [table]), ...nodeSourceLines(answer)];
  return `${lines.join("\n")}\n`;
}

function offText({ nodes, jobs }: OffAnswer): string {
  const where = nodes.map(visibleLine).join(", ");
  if (jobs.length === 0) return `No job ran on ${where}.`;
  const retries = "those with --retries left run again";
  return `${plural(jobs.length, "job")} ran on ${where}: ${jobs.join(", ")}. Their attempts are lost; ${retries}.`;
}

function byNewNames({ pilots, ...why }: PilotAnswer): Omit<AllocationsAnswer, "schema"> {
  return { ...why, allocations: pilots.map(({ jobId: name, ...rest }) => ({ name, ...rest })) };
}
