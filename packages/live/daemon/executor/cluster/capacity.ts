/** What jobs can have of allocations: their nodes that are not lost, with their share of the memory. */
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { Capacity, Demand, Part } from "../executor.ts";
import type { Allocation, Cluster } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";

/**
 * When a node is taken away, the others usually follow within moments, and the cluster itself says so seconds
 * later. Until then nothing starts.
 */
const LEAVING_MS = 10_000;

/** When nothing starts: the cluster took a node away, so that others may follow, or it wants all back. */
export class Leaving {
  #sinceMs: number | undefined;
  #untilMs = Number.NEGATIVE_INFINITY;

  begin(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#untilMs = Math.max(this.#untilMs, nowMs + LEAVING_MS);
  }

  /** Until the end of the allocation. */
  beginForGood(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#untilMs = Number.POSITIVE_INFINITY;
  }

  /** @returns whether it has just ended */
  isOver(nowMs: number): boolean {
    if (this.#sinceMs === undefined || nowMs < this.#untilMs) return false;
    this.#sinceMs = undefined;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** When nothing could start any longer, while it lasts. */
  get end(): Capacity["end"] {
    if (this.#sinceMs === undefined) return undefined;
    return { drainAtMs: this.#sinceMs, stopAtMs: this.#sinceMs };
  }
}

/** Passes on what jobs want. What they wanted of another capacity says nothing about the present one. */
export class DemandGate {
  readonly #cluster: Pick<Cluster, "setDemand">;
  #last: Demand | undefined;

  constructor(cluster: Pick<Cluster, "setDemand">) {
    this.#cluster = cluster;
  }

  set(demand: Demand, capacity: Capacity): void {
    this.#last = demand;
    this.pass(capacity);
  }

  pass(capacity: Capacity): void {
    this.#cluster.setDemand(this.#last?.of === capacity ? this.#last : undefined);
  }
}

/** The nodes that are not lost, with their share of the memory. */
export function partOf(allocation: Allocation, all: readonly ClusterNode[], leaving: Leaving): Part {
  const { name, memoryBytes, isPartial } = allocation;
  const usable = all.filter(({ isGivenUp }) => !isGivenUp);
  const tableOf = (nodes: readonly ClusterNode[]) =>
    new NodeTable(nodes.map((node) => ({ node: node.name, cpus: node.cpus })));
  const known = all.flatMap(({ name, memoryBytes }) =>
    memoryBytes === undefined ? [] : [[name, memoryBytes] as const],
  );
  const memoryByNode = known.length === all.length ? new Map(known) : undefined;
  return {
    name,
    nodes: tableOf(usable),
    memoryBytes:
      memoryByNode !== undefined
        ? usable.reduce((sum, { name }) => sum + memoryByNode.get(name)!, 0)
        : Math.floor((memoryBytes * usable.length) / all.length),
    ...(memoryByNode !== undefined && { memoryByNode }),
    ...(!isPartial && { whole: { nodes: tableOf(all), memoryBytes } }),
    end: leaving.end ?? allocation.end,
  };
}

/** What jobs can have of all allocations together. */
export function capacityOf(
  parts: readonly Part[],
  { mostProcessors, mostLimitMs, whyNever }: Pick<Cluster, "mostProcessors" | "mostLimitMs" | "whyNever">,
): Capacity {
  const most = { mostProcessors, mostLimitMs, ...(whyNever !== undefined && { whyNever }) };
  if (parts.length === 1) return { ...parts[0], ...most };
  return {
    nodes: new NodeTable(parts.flatMap(({ nodes }) => nodes.nodes)),
    memoryBytes: parts.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
    ...most,
    ...(parts.length > 1 && { parts }),
  };
}
