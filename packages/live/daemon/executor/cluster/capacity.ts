/** What jobs can have of an allocation: its nodes that are not lost, with their share of its memory. */
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { Capacity, Demand } from "../executor.ts";
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

/** @param allocation undefined: there is none now */
export function capacityOf(
  all: readonly ClusterNode[],
  allocation: Allocation | undefined,
  leaving: Leaving,
  { mostProcessors, mostLimitMs }: Pick<Cluster, "mostProcessors" | "mostLimitMs">,
): Capacity {
  const usable = all.filter(({ isGivenUp }) => !isGivenUp);
  const tableOf = (nodes: readonly ClusterNode[]) =>
    new NodeTable(nodes.map(({ name, cpus }) => ({ node: name, cpus })));
  const { memoryBytes = 0 } = allocation ?? {};
  const end = leaving.end ?? allocation?.end;
  return {
    nodes: tableOf(usable),
    memoryBytes: all.length === 0 ? 0 : Math.floor((memoryBytes * usable.length) / all.length),
    mostProcessors,
    mostLimitMs,
    ...(allocation !== undefined && !allocation.isPartial && { whole: { nodes: tableOf(all), memoryBytes } }),
    end,
  };
}
