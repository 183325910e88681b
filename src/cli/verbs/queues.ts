/** `tutti queues`: the queues, their limits and what is in them. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { QueuesAnswer } from "../../protocol/schema.ts";
import { formatDuration, NO_VALUE } from "../../report/text/format.ts";
import { renderTable } from "../../report/text/table.ts";
import { writeJson } from "../text/json.ts";
import { isColourful, tableWidth, writeOut } from "../text/text.ts";
import { visibleLine } from "../text/visible.ts";

export function configure(command: Command): void {
  command.option("--json", "print as JSON").action(async ({ json }: { readonly json?: boolean }) => {
    const answer = await new Client().ask<QueuesAnswer>("/v1/queues");
    if (json) writeJson(answer);
    else writeOut(queuesText(answer));
  });
}

function queuesText({ queues }: QueuesAnswer): string {
  return renderTable(
    [
      { title: "queue", align: "left", dispensable: 0 },
      { title: "waiting", align: "right", dispensable: 0 },
      { title: "running", align: "right", dispensable: 0 },
      { title: "most CPUs", align: "right", dispensable: 1 },
      { title: "time limit", align: "right", dispensable: 2 },
    ],
    queues.map(({ name, queued, running, mostCpus, limitMs }) => [
      visibleLine(name),
      String(queued),
      String(running),
      String(mostCpus),
      limitMs === undefined ? NO_VALUE : formatDuration(limitMs / 1000),
    ]),
    { width: tableWidth(), colour: isColourful() },
  );
}
