/** What jobs can have of an allocation: its nodes that are not lost, with their share of its memory. */
import { NodeTable } from "../../../core/machine.ts";
import type { Capacity } from "../executor.ts";
import type { Allocation, Cluster } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";

/**
 * When a node is taken away, the others usually follow within moments, and the cluster itself says so seconds
 * later. Until then nothing starts.
 */
const LEAVING_MS = 10_000;

/** When the cluster took a node away, so that others may follow. */
export class Leaving {
  #untilMs = Number.NEGATIVE_INFINITY;

  begin(nowMs: number): void {
    this.#untilMs = nowMs + LEAVING_MS;
  }

  /** @returns whether it has just ended */
  isOver(nowMs: number): boolean {
    if (nowMs < this.#untilMs || this.#untilMs < 0) return false;
    this.#untilMs = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** When nothing could start any longer, while it lasts. */
  get end(): Capacity["end"] {
    if (this.#untilMs < 0) return undefined;
    const atMs = this.#untilMs - LEAVING_MS;
    return { drainAtMs: atMs, stopAtMs: atMs };
  }
}

/** @param allocation undefined: there is none now */
export function capacityOf(
  all: readonly ClusterNode[],
  allocation: Allocation | undefined,
  leaving: Leaving,
  { mostProcessors }: Pick<Cluster, "mostProcessors">,
): Capacity {
  const usable = all.filter(({ isGivenUp }) => !isGivenUp);
  const { memoryBytes = 0 } = allocation ?? {};
  const end = leaving.end ?? allocation?.end;
  return {
    nodes: new NodeTable(usable.map(({ name, cpus }) => ({ node: name, cpus }))),
    memoryBytes: all.length === 0 ? 0 : Math.floor((memoryBytes * usable.length) / all.length),
    mostProcessors,
    ...(end !== undefined && { end }),
  };
}
