/**
 * Begins to use an allocation. First one node accepts this front end (`Ownership`), then all are asked what
 * they have (`FirstAnswers`).
 */
import type { ClusterNode } from "./cluster-node.ts";
import { SILENT_MS } from "./node-health.ts";

/**
 * Decides when an allocation can be used: when all its nodes have answered or are lost, or when one has
 * answered and the others have been silent for as long as a node may be. So a new front end does not wait for
 * a node that is cut off.
 */
export class FirstAnswers {
  /** When the first node took part; undefined: none has. */
  #firstMs: number | undefined;

  isEnough(nodes: readonly ClusterNode[], nowMs: number): boolean {
    if (!nodes.some(({ isUp }) => isUp)) return false;
    this.#firstMs ??= nowMs;
    return nowMs >= this.#firstMs + SILENT_MS || nodes.every((node) => !isAwaited(node));
  }
}

/** How long the other nodes wait for the answer of the first one, of the first two, … */
const TURN_MS = 1000;

/**
 * Makes a front end the only one of an allocation: the first node that answers accepts or refuses it, and the
 * others are asked after that. So of two front ends, none gets a part of the nodes.
 */
export class Ownership {
  readonly #sinceMs: number;
  #isAccepted = false;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** @returns whether it was not accepted before */
  accepted(): boolean {
    const isNew = !this.#isAccepted;
    this.#isAccepted = true;
    return isNew;
  }

  /** Whether the node with this index may be asked. */
  mayAsk(index: number, nowMs: number): boolean {
    return this.#isAccepted || nowMs >= this.#sinceMs + index * TURN_MS;
  }
}

/** Whether the node may still answer for the first time. */
export function isAwaited({ isUp, health }: ClusterNode): boolean {
  return !isUp && health.state !== "lost";
}

/** Start of slot 0 on this machine's clock: running conductors keep their grid of slots. */
export function epochOf(up: readonly ClusterNode[], nowMs: number): number {
  const running = up.filter(({ state }) => state!.sequence >= 0);
  running.sort((a, b) => a.offset!.uncertaintyMs - b.offset!.uncertaintyMs);
  const [best] = running;
  return best === undefined ? nowMs : best.state!.epochMs - best.offset!.offsetMs;
}
