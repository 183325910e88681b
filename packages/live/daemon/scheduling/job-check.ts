/** Whether a policy can be made here, and whether it can schedule a job at all, before either is accepted. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import { NONE, type ParameterValues, type PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { QueueClass } from "@tutti/kernel/core/queue-classes.ts";
import { processesOf, processorsOf } from "@tutti/protocol/job-size.ts";
import type { JobRecord } from "../contract/record.ts";
import { processorsWithMemory } from "./live-limits.ts";
import { type LiveMachine, placingOf } from "./live-machine.ts";
import { LivePool } from "./live-pool.ts";
import { LiveRounds } from "./live-rounds.ts";

/** The scheduler's options. */
interface Facts {
  readonly machine: LiveMachine;
  readonly slotMs: number;
  readonly maxRows: number;
  readonly queueClasses: readonly QueueClass[];
}

/**
 * The parameters with which a policy would be made here, with the live limit on rows.
 * @throws InputError if the policy refuses this combination of parameters
 */
export function parametersFor(choice: PolicyChoice, { maxRows, slotMs, machine }: Facts): ParameterValues {
  const { definition, parameters } = choice;
  if (machine.givesWholeNodes && definition.sharing === "time" && placingOf(choice) === "any") {
    throw new InputError(
      `Cannot use the policy ${definition.name} with pack = "whole-node": it may put a gang on any CPUs, so nodes would be shared; expected another policy, or pack = "cpus"`,
    );
  }
  const isLimited = parameters.rows === NONE && Number.isFinite(maxRows);
  const limited = isLimited ? { ...parameters, rows: maxRows } : parameters;
  // Makes the policy only to see whether it throws.
  const common = { parameters: limited, processors: machine.mostProcessors, originMs: 0 };
  if (definition.sharing === "space") new LivePool({ ...common, definition }, 0);
  else new LiveRounds({ ...common, definition, slotMs, epochMs: 0 }, 0, 0);
  return limited;
}

/**
 * Whether jobs with countable resources can run under the policy. Under time sharing, they wait in the
 * admission queue in front of any policy. Under space sharing, the policy itself must count, also what the
 * jobs hold that it takes over.
 */
export function copesWithResources({ definition, parameters }: PolicyChoice): boolean {
  if (definition.sharing === "time") return true;
  const canRestore = definition.capabilities?.restore === true;
  return canRestore && definition.copesWith?.(parameters).includes("resources") === true;
}

/** Why the policy can never schedule the job; the text follows the words "the job". */
export function whyRefused(
  { machine, queueClasses }: Facts,
  choice: PolicyChoice,
  job: Pick<JobRecord, "tasks" | "threads" | "memoryBytes" | "estimateMs" | "queue" | "use">,
): string | undefined {
  const { definition, parameters } = choice;
  if (job.use !== undefined && !copesWithResources(choice))
    return `uses ${Object.keys(job.use).join(" and ")}, and this policy counts only processors; expected a policy such as easy`;
  const check = definition.jobCheck?.(parameters);
  if (check === undefined) return undefined;
  // A cluster may have less now, or nothing.
  const most = { processors: machine.mostProcessors, memoryBytes: machine.mostMemoryBytes };
  const { threads = 1 } = job;
  const needed = processorsOf(job);
  const processors =
    definition.sharing === "time" || job.memoryBytes === undefined
      ? needed
      : processorsWithMemory(needed, job.memoryBytes, most);
  const queue = queueClasses.findIndex(({ name }) => name === job.queue);
  return check({
    processors,
    processes: processesOf(processors, threads),
    threads,
    estimateS: job.estimateMs / 1000,
    queue: queue >= 0 ? queue : UNKNOWN,
  });
}
