/** Names the limits that a workload file needs, so that the simulator decides as this machine does. */
import type { LimitSettings, RunLimits } from "@tutti/kernel/core/limits/job-limits.ts";
import type { JobRecord } from "../contract/record.ts";
import type { JobLimit, JobLimits } from "./job-limits.ts";

/**
 * The limits of queues, and of these users with their groups. Of groups it names only these users, so nobody
 * learns about others. Undefined: there are none.
 */
export function exportedLimits(
  limits: Pick<JobLimits, "of">,
  owners: Iterable<Pick<JobRecord, "uid" | "user">>,
  queueNames: readonly string[],
): LimitSettings | undefined {
  const users = new Map<string, RunLimits>();
  const groups = new Map<string, RunLimits & { users: string[] }>();
  const queues = new Map<string, RunLimits>();
  // Most jobs are of a few users, and each question about one asks for the user's groups.
  const distinct = new Map([...owners].map((owner) => [`${owner.uid} ${owner.user}`, owner]));
  for (const owner of distinct.values()) {
    for (const queue of queueNames) {
      for (const limit of limits.of({ ...owner, queue })) {
        const { of, name } = limit;
        const most = runLimits(limit);
        if (most === undefined) continue;
        if (of === "user") users.set(name, most);
        else if (of === "queue") queues.set(name, most);
        else if (!groups.has(name)) groups.set(name, { ...most, users: [owner.user] });
        else if (!groups.get(name)!.users.includes(owner.user)) groups.get(name)!.users.push(owner.user);
      }
    }
  }
  const tables = Object.entries({ users, groups, queues }).filter(([, { size }]) => size > 0);
  if (tables.length === 0) return undefined;
  return Object.fromEntries(tables.map(([field, table]) => [field, Object.fromEntries(table)]));
}

function runLimits({ maxCpus, maxJobs }: JobLimit): RunLimits | undefined {
  if (maxCpus === Number.POSITIVE_INFINITY && maxJobs === Number.POSITIVE_INFINITY) return undefined;
  return {
    ...(maxCpus < Number.POSITIVE_INFINITY && { runningCpus: maxCpus }),
    ...(maxJobs < Number.POSITIVE_INFINITY && { runningJobs: maxJobs }),
  };
}
