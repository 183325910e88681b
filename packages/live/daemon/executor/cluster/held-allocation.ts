/** An allocation in use: its nodes, whether they can be used yet, and when nothing more starts on them. */
import type { Part } from "../executor.ts";
import { Leaving, partOf } from "./capacity.ts";
import type { Allocation } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { FirstAnswers, isAwaited, Ownership } from "./first-answers.ts";

export class HeldAllocation {
  allocation: Allocation;
  nodes: readonly ClusterNode[] = [];
  readonly leaving = new Leaving();
  readonly ownership: Ownership;
  /** Its nodes are part of the capacity. */
  isInUse = false;
  readonly #firstAnswers = new FirstAnswers();
  #cancelMakeRoom: (() => void) | undefined;

  constructor(allocation: Allocation, nowMs: number) {
    this.allocation = allocation;
    this.ownership = new Ownership(nowMs);
  }

  get name(): string {
    return this.allocation.name;
  }

  /** Undefined until it is in use. */
  get part(): Part | undefined {
    return this.isInUse ? partOf(this.allocation, this.nodes, this.leaving) : undefined;
  }

  /** Nodes that may still answer for the first time. */
  get awaited(): ClusterNode[] {
    return this.nodes.filter(isAwaited);
  }

  /** Whether enough of its nodes have answered, or none can. */
  hasAnswered(nowMs: number): boolean {
    return this.#firstAnswers.isEnough(this.nodes, nowMs) || this.nodes.every((node) => !isAwaited(node));
  }

  /** @param cancel ends the call that will stop what runs at its end */
  setMakeRoom(cancel: (() => void) | undefined): void {
    this.#cancelMakeRoom?.();
    this.#cancelMakeRoom = cancel;
  }

  close(): void {
    this.#cancelMakeRoom?.();
    for (const node of this.nodes) node.close();
    this.nodes = [];
  }
}
