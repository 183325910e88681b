/** `tutti queues`: lists the queues, their limits and their numbers of jobs. */
import type { Command } from "commander";
import type { QueuesAnswer } from "../../protocol/schema.ts";
import { limitsText, ownLimitsText } from "../../words/limits.ts";
import { limitCell } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { show } from "../live/show.ts";
import { leftColumn, rightColumn, table, wrap } from "../text/text.ts";

export function configure(command: Command): void {
  show(command, { ask: ({ client }) => client.ask<QueuesAnswer>("/v1/queues"), text: queuesText });
}

function queuesText({ queues, yours = [] }: QueuesAnswer): string {
  const columns = [
    leftColumn("queue"),
    leftColumn("aliases"),
    rightColumn("waiting"),
    rightColumn("running"),
    rightColumn("max CPUs", 1),
    rightColumn("time limit", 2),
    leftColumn("limits on all its jobs"),
  ];
  const rows = queues.map(({ name, aliases = [], queued, running, mostCpus, limitMs, limits }) => [
    visibleLine(name),
    aliases.map(visibleLine).join(", "),
    ...[queued, running, mostCpus].map(String),
    limitCell(limitMs),
    limits === undefined ? "" : limitsText(limits),
  ]);
  const hasLimits = queues.some(({ limits }) => limits !== undefined);
  const hasAliases = queues.some(({ aliases }) => aliases !== undefined);
  const isShown = (_: unknown, i: number) =>
    (i !== 1 || hasAliases) && (i !== columns.length - 1 || hasLimits);
  const tableText = table(
    columns.filter(isShown),
    rows.map((row) => row.filter(isShown)),
  );
  return [tableText, ...yours.map((limits) => wrap(ownLimitsText(limits), 2)), ""].join("\n");
}
