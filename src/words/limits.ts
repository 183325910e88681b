/** Says the limits of queues, users and groups in words: the same on the command line and on the page. */
import type { QueuesAnswer } from "../protocol/schema.ts";
import { formatCount, plural } from "../report/text/format.ts";
import { visibleLine } from "./visible.ts";

type Limits = NonNullable<QueuesAnswer["queues"][number]["limits"]>;
type OwnLimits = NonNullable<QueuesAnswer["yours"]>[number];

/** `6 CPUs and 4 jobs at once, 200 waiting` */
export function limitsText({ runningCpus, runningJobs, waitingJobs }: Limits): string {
  const running = [
    ...(runningCpus === undefined ? [] : [plural(runningCpus, "CPU")]),
    ...(runningJobs === undefined ? [] : [plural(runningJobs, "job")]),
  ];
  return [
    ...(running.length === 0 ? [] : [`${running.join(" and ")} at once`]),
    ...(waitingJobs === undefined ? [] : [`${formatCount(waitingJobs)} waiting`]),
  ].join(", ");
}

/** A limit on the jobs of a user or a group, and what the jobs of the user who asks use of it. */
export function ownLimitsText({ of, name, usedCpus, usedJobs, waiting, ...limits }: OwnLimits): string {
  const waits = `${formatCount(waiting)} ${waiting === 1 ? "waits" : "wait"}`;
  return `Jobs of ${of} ${visibleLine(name)}: at most ${limitsText(limits)}. Yours use ${plural(usedCpus, "CPU")} in ${plural(usedJobs, "job")}, and ${waits}.`;
}
