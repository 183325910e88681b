/** Checks whether the machine can ever have what a job asks for. */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { limitText } from "@tutti/kernel/core/format.ts";
import { processorsOf, tasksText } from "@tutti/protocol/job-size.ts";
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { Resource } from "@tutti/protocol/resources.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";

type Shape = Pick<SubmitJob, "threads" | "memoryBytes" | "limitMs"> & { readonly tasks: number };

/** What a job can have at most. */
export interface MachineLimits {
  readonly cpus: number;
  /** CPUs of the largest node; undefined: there is none now. */
  readonly cpusOfNode: number | undefined;
  /** How many tasks with these threads fit at once; infinity: unknown. */
  mostTasks(threads: number): number;
  readonly memoryBytes: number;
  /** The longest time limit of a job; infinity: any. */
  readonly limitMs: number;
  /** Why no CPUs that may come would hold the job, for people; undefined: some would. */
  whyNever(job: Shape): string | undefined;
  readonly resources: readonly Resource[];
  /** As of the executor. */
  readonly nodeResources?: string | undefined;
}

export function checkSize(
  { tasks = 1, threads = 1, memoryBytes = 0 }: SubmitJob,
  limits: MachineLimits,
): Refusal | undefined {
  const { cpus, cpusOfNode } = limits;
  const needed = processorsOf({ tasks, threads });
  if (needed > cpus) {
    return refuse(
      "too-large",
      threads === 1
        ? `Cannot run ${tasks} tasks: each needs a CPU of its own, and the scheduler has ${cpus}; ask for ${cpus} or fewer`
        : `Cannot run ${tasksText({ tasks, threads })}: they need ${needed} CPUs, and the scheduler has ${cpus}; ask for fewer tasks (-n) or threads (-c)`,
    );
  }
  if (cpusOfNode !== undefined && threads > cpusOfNode) {
    return refuse(
      "too-large",
      `Cannot run ${tasksText({ tasks, threads })}: the threads of a task need CPUs on one node, and the largest node has ${cpusOfNode}; ask for ${cpusOfNode} or fewer threads (-c), and for more tasks (-n)`,
    );
  }
  const most = limits.mostTasks(threads);
  if (tasks > most) {
    return refuse(
      "too-large",
      `Cannot run ${tasksText({ tasks, threads })}: the threads of a task need CPUs on one node, and the nodes have room for ${most} such tasks; ask for fewer tasks (-n) or threads (-c)`,
    );
  }
  if (memoryBytes > limits.memoryBytes) {
    return refuse(
      "too-large",
      `Cannot provide ${gibibytes(memoryBytes)} of memory: the scheduler has ${gibibytes(limits.memoryBytes)}; ask for less`,
    );
  }
  return undefined;
}

export function checkLimit(
  { tasks = 1, threads, memoryBytes, limitMs }: SubmitJob,
  limits: MachineLimits,
): Refusal | undefined {
  const { limitMs: mostMs } = limits;
  if (limitMs === undefined || limitMs <= mostMs) {
    const never = limits.whyNever({ tasks, threads, memoryBytes, limitMs });
    if (never === undefined) return undefined;
    return refuse(
      "too-large",
      `Cannot run the job: ${never}; ask for less, or start the scheduler with larger or longer pilots, or with other hosts (tutti serve)`,
    );
  }
  return refuse(
    "too-large",
    `Cannot run for ${limitText(limitMs)}: CPUs are there for at most ${limitText(mostMs)}, so each attempt could be stopped before its limit; ask for a shorter limit (--time), or start the scheduler with longer pilots (tutti serve --time)`,
  );
}

export function checkUse(
  { use = {} }: SubmitJob,
  { resources, nodeResources }: MachineLimits,
): Refusal | undefined {
  for (const [kind, amount] of Object.entries(use)) {
    const there = resources.filter(({ units }) => units.length > 0);
    const resource = there.find(({ name }) => name === kind);
    if (resource === undefined) {
      const names = there.map(({ name }) => name);
      const expected = names.length === 0 ? "a job without it" : `one of ${names.join(", ")}`;
      return refuse(
        "invalid",
        `Cannot use ${JSON.stringify(kind)}${closest(kind, names)}: the scheduler has no such resource, expected ${expected}; ${nodeResources === undefined ? "" : `${nodeResources}; `}administrators name ${nodeResources === undefined ? "them" : "others"} in the setting resources`,
      );
    }
    const most = resource.units.length;
    if (amount > most) {
      return refuse(
        "too-large",
        `Cannot provide ${amount} units of ${kind}: the scheduler has ${most}; ask for ${most} or fewer`,
      );
    }
  }
  return undefined;
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
