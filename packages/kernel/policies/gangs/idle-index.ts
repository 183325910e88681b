/**
 * Defines what a re-packing gang policy must know about the matrix: the number of idle slots of every
 * processor, and the least loaded window for a job. There are two kinds of window: any consecutive processors
 * (found with the workload vector of zhou1999) and buddy blocks (found with the workload tree of zhou2000).
 */
import { blockLevel } from "../../structures/matrix/buddy.ts";
import { WorkloadTree } from "../../structures/matrix/workload-tree.ts";
import { WorkloadVector } from "../../structures/matrix/workload-vector.ts";
import type { MatrixUse, MayBegin } from "./queryable-gangs.ts";

const NONE = -1;

export interface IdleIndex {
  readonly blocks: MatrixUse["blocks"];
  /** Adds `delta` idle slots to each of the processors first … first + size − 1. */
  add(first: number, size: number, delta: number): void;
  addEverywhere(delta: number): void;
  /** Whether every processor has an idle slot. */
  hasIdleRow(): boolean;
  /** Whether every processor of the window of a job that begins at `first` has an idle slot. */
  hasIdleSlot(first: number, size: number): boolean;
  /**
   * First processor of the least loaded window for a job of this size (ties: the leftmost), among the allowed
   * ones; −1 if no window has room.
   */
  leastLoaded(size: number, mayBegin?: MayBegin): number;
  /** Writes the idle slots of every processor. */
  copyTo(out: Int32Array): void;
}

/** Windows of any consecutive processors. */
export class WindowIndex extends WorkloadVector implements IdleIndex {
  readonly blocks = "side by side";

  hasIdleRow(): boolean {
    return this.least(0, this.processors) > 0;
  }

  hasIdleSlot(first: number, size: number): boolean {
    return this.least(first, size) > 0;
  }

  leastLoaded(size: number, mayBegin?: MayBegin): number {
    if (mayBegin === undefined) return this.leastLoadedWindow(size, 0, this.processors);
    let best = NONE;
    let maxIdle = 0;
    // Idle slots of the window that ends with `at`, and the number of consecutive processors up to `at` that
    // have an idle slot.
    let idle = 0;
    let free = 0;
    for (let at = 0; at < this.processors; at++) {
      const own = this.at(at);
      idle += own - (at >= size ? this.at(at - size) : 0);
      free = own > 0 ? free + 1 : 0;
      if (free < size || idle <= maxIdle || !mayBegin(at - size + 1)) continue;
      best = at - size + 1;
      maxIdle = idle;
    }
    return best;
  }
}

/** Windows that may wrap around from the last processor to the first. */
export class RingIndex extends WindowIndex {
  override leastLoaded(size: number): number {
    const { processors } = this;
    // A window as large as the ring begins at processor 0.
    return this.leastLoadedWindow(size, 0, size < processors ? processors + size - 1 : processors);
  }

  /** Like `leastLoaded`, on the linear array that begins at a cut. */
  leastLoadedFrom(cut: number, size: number): number {
    const { processors } = this;
    const first = this.leastLoadedWindow(size, cut, cut + processors);
    return first >= processors ? first - processors : first;
  }
}

/** Buddy blocks: aligned, and an extra slot needs all of the block's processors idle. */
export class BlockIndex extends WorkloadTree implements IdleIndex {
  readonly blocks = "buddy";

  addEverywhere(delta: number): void {
    this.add(0, this.processors, delta);
  }

  hasIdleRow(): boolean {
    return this.least(this.height, 0) > 0;
  }

  hasIdleSlot(first: number, size: number): boolean {
    const level = blockLevel(size);
    return this.least(level, first >> level) > 0;
  }

  leastLoaded(size: number, mayBegin?: MayBegin): number {
    const level = blockLevel(size);
    if (mayBegin === undefined) {
      const block = this.leastLoadedBlock(size);
      return block === NONE ? NONE : block << level;
    }
    let best = NONE;
    let bestValue = 0;
    for (let first = 0; first + size <= this.processors; first += 1 << level) {
      const value = this.value(level, first >> level);
      if (value <= bestValue || !mayBegin(first)) continue;
      best = first;
      bestValue = value;
    }
    return best;
  }
}
