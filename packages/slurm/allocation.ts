/** The nodes of a running pilot, with their CPUs and memory, and when they will be taken away. */
import type { Clock } from "@tutti/host/clock.ts";
import type { Allocation } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { QueuedJob } from "./formats/queue.ts";
import type { StoredPilot } from "./pilot-file.ts";
import type { Slurm } from "./slurm.ts";
import { haveOwnEnds, type PilotKind } from "./slurm-options.ts";

export interface EndSettings {
  /** How long before its end a pilot begins to drain. */
  readonly drainMs: number;
  /** How long before its end what still runs is stopped. */
  readonly stopBeforeMs: number;
  readonly kinds: readonly PilotKind[];
}

export async function allocationOf(
  slurm: Slurm,
  clock: Clock,
  job: QueuedJob,
  settings: EndSettings,
  pilot: Pick<StoredPilot, "lostJobs" | "nodes">,
): Promise<Allocation> {
  const { lostJobs = {}, nodes: asked } = pilot;
  const { id, nodes: names } = job;
  const end = endOf(job, clock.nowMs(), settings);
  const nodes = (await slurm.nodesOfJob(id)).filter(({ node }) => names.includes(node));
  // Where Slurm does not count memory, jobs may use that of the whole node.
  const isCounted = nodes.every(({ memoryMib }) => memoryMib > 0);
  const memories = isCounted ? nodes : await slurm.nodes(names);
  const memoryMib = memories.reduce((sum, node) => sum + node.memoryMib, 0);
  return {
    name: id,
    nodes: nodes.map(({ node, cpus }) => ({ node, cpus, lostJobs: lostJobs[node] })),
    memoryBytes: memoryMib * 2 ** 20,
    ...(asked !== undefined && names.length < asked && { isPartial: true as const }),
    end,
  };
}

/** When the nodes will be taken away, by an answer of Slurm. */
export function endOf(
  { leftS }: QueuedJob,
  answeredMs: number,
  { drainMs, stopBeforeMs, kinds }: EndSettings,
): Allocation["end"] {
  if (leftS === undefined) return undefined;
  const endMs = answeredMs + leftS * 1000;
  const keeps = haveOwnEnds(kinds) && { keepsLimits: true as const };
  return { drainAtMs: endMs - drainMs, stopAtMs: endMs - stopBeforeMs, ...keeps };
}
