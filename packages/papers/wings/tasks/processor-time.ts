/**
 * Records what processors do with their time: every millisecond of every processor goes to one use. It also
 * records what a task does with its own slot; the grades of membership are computed from that.
 */
import { type BlockReason, Op } from "./contract.ts";

/**
 * Uses of a processor's time. While an own task is ready or is being switched to, its slot goes to `switch`
 * or `empty`, which count for no class.
 */
export const Use = { busy: 0, io: 1, message: 2, barrier: 3, switch: 4, empty: 5 } as const;
export type Use = (typeof Use)[keyof typeof Use];
const USES = 6;

/** Use of a processor's time while its own task is blocked. */
export function useWhileBlockedBy(reason: BlockReason): Use {
  return reason === Op.io ? Use.io : reason === Op.receive ? Use.message : Use.barrier;
}

export class ProcessorTime {
  /** Time of all processors by use, up to the last change of each processor. */
  readonly totalMs = new Float64Array(USES);
  readonly #use: Uint8Array;
  readonly #sinceMs: Float64Array;
  /** processor × USES + use */
  readonly #slotMs: Float64Array;
  readonly #ownUse: Uint8Array;
  readonly #ownSinceMs: Float64Array;

  constructor(processors: number) {
    this.#use = new Uint8Array(processors).fill(Use.empty);
    this.#sinceMs = new Float64Array(processors);
    this.#slotMs = new Float64Array(processors * USES);
    this.#ownUse = new Uint8Array(processors).fill(Use.empty);
    this.#ownSinceMs = new Float64Array(processors);
  }

  /** From now on the processor has this use. */
  set(p: number, use: Use, nowMs: number): void {
    this.totalMs[this.#use[p]] += nowMs - this.#sinceMs[p];
    this.#sinceMs[p] = nowMs;
    this.#use[p] = use;
  }

  /** Brings the totals up to a time. */
  settle(nowMs: number): void {
    for (let p = 0; p < this.#use.length; p++) this.set(p, this.#use[p] as Use, nowMs);
  }

  /** A slot of the processor's own task begins. */
  beginSlot(p: number, use: Use, nowMs: number): void {
    this.#slotMs.fill(0, p * USES, (p + 1) * USES);
    this.#ownUse[p] = use;
    this.#ownSinceMs[p] = nowMs;
  }

  /** From now on the processor's own task spends its slot on this use. */
  setOwn(p: number, use: Use, nowMs: number): void {
    this.#slotMs[p * USES + this.#ownUse[p]] += nowMs - this.#ownSinceMs[p];
    this.#ownSinceMs[p] = nowMs;
    this.#ownUse[p] = use;
  }

  /** The part of its slot that the processor's own task has spent on the use, up to the last change. */
  slotMs(p: number, use: Use): number {
    return this.#slotMs[p * USES + use];
  }
}
