/** `tutti queues`: lists the queues, their limits and their numbers of jobs. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { QueuesAnswer } from "../../protocol/schema.ts";
import { limitCell } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { leftColumn, rightColumn, table, writeJson, writeOut } from "../text/text.ts";

export function configure(command: Command): void {
  command.option("--json", "print as JSON").action(async ({ json }: { readonly json?: boolean }) => {
    const answer = await new Client().ask<QueuesAnswer>("/v1/queues");
    if (json) writeJson(answer);
    else writeOut(queuesText(answer));
  });
}

function queuesText({ queues }: QueuesAnswer): string {
  const columns = [
    leftColumn("queue"),
    rightColumn("waiting"),
    rightColumn("running"),
    rightColumn("max CPUs", 1),
    rightColumn("time limit", 2),
  ];
  const rows = queues.map(({ name, queued, running, mostCpus, limitMs }) => [
    visibleLine(name),
    ...[queued, running, mostCpus].map(String),
    limitCell(limitMs),
  ]);
  return `${table(columns, rows)}\n`;
}
