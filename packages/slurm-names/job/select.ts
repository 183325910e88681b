/** Selects jobs as the options of Slurm's commands do. */

import { jobsOf } from "@tutti/cli/live/slurm-numbers.ts";
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, StatusAnswer } from "@tutti/protocol/schema.ts";
import { uidOf } from "../text/users.ts";
import { isWaiting } from "./facts.ts";
import { slurmState } from "./states.ts";

/** Conditions on jobs, as options give them; undefined ones do not count. */
interface Conditions {
  readonly states?: ReadonlySet<string> | undefined;
  readonly users?: ReadonlySet<string> | undefined;
  readonly names?: ReadonlySet<string> | undefined;
  readonly queues?: ReadonlySet<string> | undefined;
}

export function jobsWith(jobs: readonly Job[], { states, users, names, queues }: Conditions): readonly Job[] {
  return jobs.filter(
    (job) =>
      (states?.has(slurmState(job)) ?? true) &&
      (users === undefined || users.has(job.user) || users.has(String(uidOf(job.user)))) &&
      (names?.has(job.name) ?? true) &&
      (queues?.has(job.queue) ?? true),
  );
}

/** The texts between the commas of an option's value; undefined without the option. */
export function listed(value: string | undefined): ReadonlySet<string> | undefined {
  return value === undefined ? undefined : new Set(value.split(","));
}

/** Name of the user who asks. */
export async function ownName(client: Client): Promise<string> {
  return (await client.ask<StatusAnswer>("/v1/status")).user;
}

/** As Slurm, which forgets the dependencies of a waiting job on jobs that have ended. */
export async function withOpenDependencies(client: Client, jobs: readonly Job[]): Promise<readonly Job[]> {
  const waiting = jobs.filter(isWaiting);
  const others = await jobsOf(client, { numbers: rangesOf(waiting.flatMap(({ after }) => after)) });
  const open = new Set(others.filter(({ endedAtMs }) => endedAtMs === undefined).map(({ job }) => job));
  return jobs.map((job) => {
    const kept = job.after.flatMap((other, i) => (open.has(other) ? [i] : []));
    const { afterKinds: kinds } = job;
    return {
      ...job,
      after: kept.map((i) => job.after[i]),
      ...(kinds !== undefined && { afterKinds: kept.map((i) => kinds[i]) }),
    };
  });
}
