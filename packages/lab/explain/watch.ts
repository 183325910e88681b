/** Defines what the watchers of both kinds of machine (space.ts, gangs.ts) have in common. */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { StartRule } from "@tutti/kernel/core/policy.ts";
import type { Observer, Schedule } from "@tutti/kernel/core/schedule.ts";
import type { Explanation, NamedJob } from "../results/explanation.ts";

/** Watches one job during a simulation and reports what it has seen. */
export interface JobWatch extends Observer {
  rule: StartRule | undefined;
  facts(schedule: Schedule): Explanation["facts"];
}

export function namedJob(instance: Instance, job: JobIndex): NamedJob {
  return { id: instance.id[job], size: instance.size[job] };
}

/** JSON has no NaN. */
export function orNull(timeS: number): number | null {
  return Number.isNaN(timeS) ? null : timeS;
}
