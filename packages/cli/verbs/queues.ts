/** `tutti queues`: lists the queues, their limits and their numbers of jobs. */

import type { QueuesAnswer } from "@tutti/protocol/schema.ts";
import { limitsText, ownLimitsText } from "@tutti/words/limits.ts";
import { limitCell } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { show } from "../live/show.ts";
import { left, right, tableOf, wrap } from "../text/text.ts";

export function configure(command: Command): void {
  show(command, { ask: ({ client }) => client.ask<QueuesAnswer>("/v1/queues"), text: queuesText });
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
