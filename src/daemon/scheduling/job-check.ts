/** Whether a policy can schedule a job at all, before the job is accepted or the policy is switched to. */
import { UNKNOWN } from "../../core/jobs.ts";
import type { PolicyChoice } from "../../core/policy.ts";
import type { JobRecord } from "../contract/record.ts";
import { processorsWithMemory } from "./live-limits.ts";
import type { Scheduler } from "./scheduler.ts";

/** Why the policy can never schedule the job; the text follows the words "the job". */
export function whyRefused(
  { options: { nodes, memoryBytes, queueClasses } }: Scheduler,
  { definition, parameters }: PolicyChoice,
  job: Pick<JobRecord, "tasks" | "memoryBytes" | "estimateMs" | "queue">,
): string | undefined {
  const check = definition.jobCheck?.(parameters);
  if (check === undefined) return undefined;
  const machine = { processors: nodes.processors, memoryBytes };
  const processors =
    definition.sharing === "time" || job.memoryBytes === undefined
      ? job.tasks
      : processorsWithMemory(job.tasks, job.memoryBytes, machine);
  const queue = queueClasses.findIndex(({ name }) => name === job.queue);
  return check({
    processors,
    processes: processors,
    threads: 1,
    estimateS: job.estimateMs / 1000,
    queue: queue >= 0 ? queue : UNKNOWN,
  });
}
