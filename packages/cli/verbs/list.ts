/** `tutti list queues`, `policies` and `models`: what a job or an experiment can be given by its name. */

import type { QueuesAnswer } from "@tutti/protocol/schema.ts";
import { limitsText, ownLimitsText } from "@tutti/words/limits.ts";
import { limitCell } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { show } from "../live/show.ts";
import { left, right, tableOf, wrap, writeOut } from "../text/text.ts";

const POLICIES_HELP = `
To run your own policy, give the path of a module: --policy ./mine.ts. The
module imports definePolicy from the package "tutti", and its default export
is definePolicy({ name, sharing, make }). sharing is "space" or "time", and
make(machine, jobs, parameters) returns the policy. examples/my-policy.ts is a
complete one.`;

export function configure(command: Command): void {
  command.addHelpText("after", "\nFor jobs: tutti jobs. For windows: tutti window list.");
  show(command.command("queues").description("the queues, their limits, and the limits on your jobs"), {
    ask: ({ client }) => client.ask<QueuesAnswer>("/v1/queues"),
    text: queuesText,
  });
  command
    .command("policies [name]")
    .description("the policies; with NAME or NAME:PARAMETER=VALUE or a file, the exact rules of one")
    .option("--all", "print all rules, including those that several policies share")
    .option("--json", "print as JSON, with all rules")
    .addHelpText("after", POLICIES_HELP)
    .action(async (name, options) => {
      writeOut(await (await import("../text/policy-list.ts")).policiesText(name, options));
    });
  command
    .command("models [name]")
    .description("the models of jobs; with NAME, the rules and parameters of one")
    .option("--json", "print as JSON")
    .action(async (name, options) => {
      writeOut((await import("../text/model-list.ts")).modelsText(name, options));
    });
}

function queuesText({ queues, yours = [] }: QueuesAnswer): string {
  const texts = tableOf<QueuesAnswer["queues"][number]>(queues, [
    left("queue", ({ name }) => visibleLine(name)),
    queues.some(({ aliases }) => aliases !== undefined)
      ? left("aliases", ({ aliases = [] }) => aliases.map(visibleLine).join(", "))
      : undefined,
    right("waiting", ({ queued }) => String(queued)),
    right("running", ({ running }) => String(running)),
    right("max CPUs", ({ mostCpus }) => String(mostCpus), 1),
    right("time limit", ({ limitMs }) => limitCell(limitMs), 2),
    queues.some(({ limits }) => limits !== undefined)
      ? left("limits on all its jobs", ({ limits }) => (limits === undefined ? "" : limitsText(limits)))
      : undefined,
  ]);
  return [texts, ...yours.map((limits) => wrap(ownLimitsText(limits), 2)), ""].join("\n");
}
