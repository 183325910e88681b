/** What sinfo and scontrol say about queues and nodes. */
import { totalmem } from "node:os";
import { noQueues } from "@tutti/cli/options/slurm-queue.ts";
import { nodeName } from "@tutti/cli/options/slurm-site.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { QueuesAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { limitMs, longDuration } from "../text/times.ts";

export interface Partition {
  readonly name: string;
  readonly isDefault: boolean;
  /** Such as `1-00:00:00` or `infinite`. */
  readonly limit: string;
  readonly mostCpus: number;
}

export interface Machine {
  readonly partitions: readonly Partition[];
  readonly nodes: readonly string[];
  readonly cpus: number;
  readonly busyCpus: number;
  readonly memoryMiB: number;
  /** Slurm's long name of the nodes' state. */
  readonly state: "idle" | "mixed" | "allocated" | "drained" | "draining";
  /** Countable resources such as `gpu:2`, or (null). */
  readonly gres: string;
  readonly version: string;
}

export const SHORT_STATES: Readonly<Record<Machine["state"], string>> = {
  idle: "idle",
  mixed: "mix",
  allocated: "alloc",
  drained: "drain",
  draining: "drng",
};

/**
 * The queues of partitions such as `short,compute`; undefined without them: all.
 * @param noteUnknown gets the names that are no queues, which do not count: jobs submitted to them are in
 *   queues that the scheduler chose
 */
export async function queuesOf(
  client: Client,
  partitions: string | undefined,
  noteUnknown: (problem: string) => void,
): Promise<ReadonlySet<string> | undefined> {
  if (partitions === undefined) return undefined;
  const { queues } = await client.ask<QueuesAnswer>("/v1/queues");
  const byName = new Map(
    queues.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((one) => [one, name] as const)),
  );
  const names = partitions.split(",");
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0) noteUnknown(noQueues(unknown, [...byName.keys()]));
  const found = new Set(names.flatMap((name) => byName.get(name) ?? []));
  return found.size === 0 ? undefined : found;
}

export async function readMachine(client: Client): Promise<Machine> {
  const [status, { queues }] = await Promise.all([
    client.ask<StatusAnswer>("/v1/status"),
    client.ask<QueuesAnswer>("/v1/queues"),
  ]);
  const busyCpus = Math.min(status.cpus, Math.ceil(status.busyCpus));
  const resources = status.resources?.map(({ name, units }) => `${name}:${units.length}`) ?? [];
  return {
    // Of several queues, Tutti chooses one for each job, so none of them is the default.
    partitions: queues.flatMap(({ name, aliases = [], limitMs: ms, mostCpus }) =>
      [name, ...aliases].map((one) => ({
        name: one,
        isDefault: queues.length === 1 && one === name,
        limit: ms === undefined ? "infinite" : longDuration(limitMs(ms)),
        mostCpus,
      })),
    ),
    nodes: status.nodes?.filter(({ isAwaited }) => !isAwaited).map(({ node }) => node) ?? [nodeName()],
    cpus: status.cpus,
    busyCpus,
    memoryMiB: Math.floor(totalmem() / 2 ** 20),
    state:
      status.drain !== undefined
        ? busyCpus > 0
          ? "draining"
          : "drained"
        : busyCpus === 0
          ? "idle"
          : busyCpus < status.cpus
            ? "mixed"
            : "allocated",
    gres: resources.join(",") || "(null)",
    version: status.version,
  };
}
