/** Refuses jobs that limits on users, groups and queues do not allow: new ones, and changed ones. */
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import type { ChosenQueue, Submission } from "../contract/submission.ts";
import type { JobLimit, JobLimits } from "./job-limits.ts";

type Asked = Pick<Submission, "request" | "indices"> & { readonly queue: Pick<ChosenQueue, "queue"> };

/** A refusal if a job alone exceeds a limit, or if too many jobs would wait. */
export function refuseOverLimits(
  limits: JobLimits,
  { uid, user, isAdministrator }: Caller,
  batch: readonly Asked[],
): Refusal | undefined {
  const more = new Map<JobLimit, number>();
  for (const { request, indices, queue } of batch) {
    const { tasks = 1, threads } = request;
    const own = limits.of({ uid, user, queue: queue.queue });
    const never = refuseNever("submit this job", own, processorsOf({ tasks, threads }));
    if (never !== undefined) return never;
    for (const limit of own) more.set(limit, (more.get(limit) ?? 0) + indices.length);
  }
  for (const [limit, count] of more) {
    const waiting = limits.waitingOf(limit);
    if (waiting + count <= limit.maxWaiting) continue;
    // How many jobs of its other members wait is not for every member to know.
    const present = limit.of === "group" && !isAdministrator ? "" : ` ${waiting} wait,`;
    return refuse(
      "full",
      `Cannot accept ${count} ${count === 1 ? "job" : "jobs"}:${present} and at most ${limit.maxWaiting} ${jobsOf(limit)} may wait at a time (waitingJobs); try again when some have started`,
    );
  }
  return undefined;
}

/** A refusal if a job that waits could not wait, or never run, after a change. */
export function refuseChangeOverLimits(
  limits: JobLimits,
  record: JobRecord,
  changed: Pick<JobRecord, "tasks" | "threads" | "queue">,
): Refusal | undefined {
  const own = limits.of({ ...record, queue: changed.queue });
  const never = refuseNever(`change job ${record.job}`, own, processorsOf(changed));
  if (never !== undefined || changed.queue === record.queue) return never;
  const full = own.find((limit) => limit.of === "queue" && limits.waitingOf(limit) >= limit.maxWaiting);
  if (full === undefined) return undefined;
  return refuse(
    "full",
    `Cannot change job ${record.job}: ${limits.waitingOf(full)} wait, and at most ${full.maxWaiting} ${jobsOf(full)} may wait at a time (waitingJobs); try again when some have started`,
  );
}

function refuseNever(what: string, limits: readonly JobLimit[], cpus: number): Refusal | undefined {
  const limit = limits.find(({ maxCpus }) => cpus > maxCpus);
  if (limit === undefined) return undefined;
  return refuse(
    "too-large",
    `Cannot ${what}: it asks for ${cpus} CPUs and could never start, because ${jobsOf(limit)} may run on ${limit.maxCpus} at once (runningCpus); ask for ${limit.maxCpus} or fewer`,
  );
}

function jobsOf({ of, name }: JobLimit): string {
  return of === "queue" ? `jobs in queue ${JSON.stringify(name)}` : `jobs of ${of} ${JSON.stringify(name)}`;
}
