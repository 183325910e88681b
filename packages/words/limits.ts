/** Says the limits of queues, users and groups in words: the same on the command line and on the page. */

import { formatCount, formatNumber, plural } from "@tutti/kernel/core/format.ts";
import type { QueuesAnswer } from "@tutti/protocol/schema.ts";
import { visibleLine } from "./visible.ts";

type Limits = NonNullable<QueuesAnswer["queues"][number]["limits"]> & Pick<OwnLimits, "cpuHours">;
type OwnLimits = NonNullable<QueuesAnswer["yours"]>[number];

const HOUR_MS = 3_600_000;

/** `6 CPUs and 4 jobs at once, 200 waiting` */
export function limitsText({ runningCpus, runningJobs, waitingJobs, cpuHours }: Limits): string {
  const running = [
    ...(runningCpus === undefined ? [] : [plural(runningCpus, "CPU")]),
    ...(runningJobs === undefined ? [] : [plural(runningJobs, "job")]),
  ];
  return [
    ...(running.length === 0 ? [] : [`${running.join(" and ")} at once`]),
    ...(waitingJobs === undefined ? [] : [`${formatCount(waitingJobs)} waiting`]),
    ...(cpuHours === undefined ? [] : [`${cpuHoursText(cpuHours)} used`]),
  ].join(", ");
}

/** A limit on the jobs of a user or a group, and what the jobs of the user who asks use of it. */
export function ownLimitsText(own: OwnLimits): string {
  const { of, name, usedCpus, usedJobs, waiting, usedCpuMs, ...limits } = own;
  const waits = `${formatCount(waiting)} ${waiting === 1 ? "waits" : "wait"}`;
  const used =
    usedCpuMs === undefined ? "" : ` What yours have used counts ${cpuHoursText(usedCpuMs / HOUR_MS)} now.`;
  return `Jobs of ${of} ${visibleLine(name)}: at most ${limitsText(limits)}. Yours use ${plural(usedCpus, "CPU")} in ${plural(usedJobs, "job")}, and ${waits}.${used}`;
}

/** Such as `212 of 200 CPU hours`. */
export function quotaText({ usedCpuMs, cpuHours }: { usedCpuMs: number; cpuHours: number }): string {
  return `${formatNumber(usedCpuMs / HOUR_MS)} of ${cpuHoursText(cpuHours)}`;
}

function cpuHoursText(hours: number): string {
  return `${formatNumber(hours)} CPU ${hours === 1 ? "hour" : "hours"}`;
}
