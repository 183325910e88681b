/** `tutti queues`: lists the queues, their limits and their numbers of jobs. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { QueuesAnswer } from "../../protocol/schema.ts";
import { plural } from "../../report/text/format.ts";
import { limitCell } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { leftColumn, rightColumn, table, writeJson, writeOut } from "../text/text.ts";

type Limits = NonNullable<QueuesAnswer["queues"][number]["limits"]>;

export function configure(command: Command): void {
  command.option("--json", "print as JSON").action(async ({ json }: { readonly json?: boolean }) => {
    const answer = await new Client().ask<QueuesAnswer>("/v1/queues");
    if (json) writeJson(answer);
    else writeOut(queuesText(answer));
  });
}

function queuesText({ queues, yours = [] }: QueuesAnswer): string {
  const columns = [
    leftColumn("queue"),
    rightColumn("waiting"),
    rightColumn("running"),
    rightColumn("max CPUs", 1),
    rightColumn("time limit", 2),
    leftColumn("limits on all its jobs"),
  ];
  const rows = queues.map(({ name, queued, running, mostCpus, limitMs, limits }) => [
    visibleLine(name),
    ...[queued, running, mostCpus].map(String),
    limitCell(limitMs),
    limits === undefined ? "" : limitsText(limits),
  ]);
  const hasLimits = queues.some(({ limits }) => limits !== undefined);
  const shown = hasLimits ? columns : columns.slice(0, -1);
  const lines = yours.map(
    ({ of, name, usedCpus, usedJobs, waiting, ...limits }) =>
      `Jobs of ${of} ${visibleLine(name)}: ${limitsText(limits)}. Yours use ${plural(usedCpus, "CPU")} in ${plural(usedJobs, "job")}, and ${waiting} ${waiting === 1 ? "waits" : "wait"}.\n`,
  );
  const tableText = table(
    shown,
    rows.map((row) => row.slice(0, shown.length)),
  );
  return [`${tableText}\n`, ...lines].join("");
}

function limitsText({ runningCpus, runningJobs, waitingJobs }: Limits): string {
  const most = [
    ...(runningCpus === undefined ? [] : [`${plural(runningCpus, "CPU")} at once`]),
    ...(runningJobs === undefined ? [] : [`${plural(runningJobs, "job")} at once`]),
    ...(waitingJobs === undefined ? [] : [`${waitingJobs} waiting`]),
  ];
  return `at most ${most.join(", ")}`;
}
