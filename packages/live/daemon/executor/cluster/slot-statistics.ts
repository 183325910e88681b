/** Merges what the nodes say about the punctuality of their slots, and finds the skew between nodes. */
import { selectInPlace } from "@tutti/kernel/core/selection.ts";
import type { SlotStatistics } from "@tutti/protocol/attempts.ts";

const WINDOW_MS = 60_000;

/** How much later than the first node a node began its slots. */
interface Skew {
  readonly skewP50Ms: number;
  readonly skewP99Ms: number;
}

/**
 * As bad as the worst node; shares of gangs are means over their nodes. What a node says is not kept: objects
 * that live for a second are copied by the garbage collector, which cost more than reading them.
 */
export class MergedStatistics {
  readonly #worst = noStatistics();
  readonly #gangs = new Map<number, { count: number; share: number; gradeCompute: number }>();
  #count = 0;

  add(statistics: SlotStatistics): void {
    this.#count++;
    const worst = this.#worst;
    worst.slots = Math.max(worst.slots, statistics.slots);
    worst.lateP50Ms = Math.max(worst.lateP50Ms, statistics.lateP50Ms);
    worst.lateP99Ms = Math.max(worst.lateP99Ms, statistics.lateP99Ms);
    worst.lateMaxMs = Math.max(worst.lateMaxMs, statistics.lateMaxMs);
    worst.switchP50Us = Math.max(worst.switchP50Us, statistics.switchP50Us);
    worst.switchP99Us = Math.max(worst.switchP99Us, statistics.switchP99Us);
    worst.skipped = Math.max(worst.skipped, statistics.skipped);
    for (const { job, share, gradeCompute } of statistics.gangs) {
      const sum = this.#gangs.get(job);
      if (sum === undefined) this.#gangs.set(job, { count: 1, share, gradeCompute });
      else {
        sum.count++;
        sum.share += share;
        sum.gradeCompute += gradeCompute;
      }
    }
  }

  /** What was added since the last call; undefined: nothing. */
  take(): SlotStatistics | undefined {
    if (this.#count === 0) return undefined;
    const gangs = [...this.#gangs].map(([job, { count, share, gradeCompute }]) => ({
      job,
      share: share / count,
      gradeCompute: gradeCompute / count,
    }));
    const merged = { ...this.#worst, gangs };
    this.#count = 0;
    this.#gangs.clear();
    Object.assign(this.#worst, noStatistics());
    return merged;
  }
}

function noStatistics() {
  return {
    slots: 0,
    lateP50Ms: 0,
    lateP99Ms: 0,
    lateMaxMs: 0,
    switchP50Us: 0,
    switchP99Us: 0,
    skipped: 0,
  };
}

/**
 * Keeps the lateness of all nodes by slot, for the last minute: a place for each slot, which a later slot
 * takes over. So an answer costs as many steps as a minute has slots, however many nodes there are.
 */
export class SkewRecord {
  /** Lateness of the first node of each slot, and how many nodes have reported it. */
  #first = new Places(0);
  #reports = new Uint32Array(0);
  /** For the answer in the making. */
  #skews = new Float64Array(0);
  readonly #nodes = new Map<string, Places>();
  #slotMs = 0;
  #newest = Number.NEGATIVE_INFINITY;

  add(node: string, { lateOfSlots = [] }: SlotStatistics, slotMs: number): void {
    // Slots of another length have other numbers.
    if (slotMs !== this.#slotMs) this.#begin(slotMs);
    let own = this.#nodes.get(node);
    if (own === undefined) {
      own = new Places(this.#first.size);
      this.#nodes.set(node, own);
    }
    for (const [slot, lateMs] of lateOfSlots) {
      const isAgain = own.get(own.placeOf(slot), slot) !== undefined;
      const place = own.set(slot, lateMs);
      if (place === undefined) continue;
      this.#newest = Math.max(this.#newest, slot);
      const firstMs = this.#first.get(place, slot);
      if (firstMs === undefined || lateMs < firstMs) this.#first.set(slot, lateMs);
      if (firstMs === undefined) this.#reports[place] = 1;
      else if (!isAgain) this.#reports[place]++;
    }
  }

  /** Undefined if no slot of this node was reported by another node, too. */
  of(node: string): Skew | undefined {
    const own = this.#nodes.get(node);
    if (own === undefined) return undefined;
    const [skews, first, reports] = [this.#skews, this.#first, this.#reports];
    const oldest = this.#newest - own.size + 1;
    let count = 0;
    for (let place = 0; place < own.size; place++) {
      const slot = own.slots[place];
      if (slot >= oldest && first.slots[place] === slot && reports[place] > 1)
        skews[count++] = own.values[place] - first.values[place];
    }
    if (count === 0) return undefined;
    return { skewP50Ms: quantileInPlace(skews, count, 0.5), skewP99Ms: quantileInPlace(skews, count, 0.99) };
  }

  /** The slots are counted from another beginning. */
  clear(): void {
    this.#begin(0);
  }

  #begin(slotMs: number): void {
    this.#slotMs = slotMs;
    const size = slotMs === 0 ? 0 : Math.ceil(WINDOW_MS / slotMs) + 1;
    this.#first = new Places(size);
    this.#reports = new Uint32Array(size);
    this.#skews = new Float64Array(size);
    this.#nodes.clear();
    this.#newest = Number.NEGATIVE_INFINITY;
  }
}

/** A value for each of the last slots. */
class Places {
  readonly size: number;
  readonly slots: Float64Array;
  readonly values: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.slots = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
    this.values = new Float64Array(size);
  }

  placeOf(slot: number): number {
    return ((slot % this.size) + this.size) % this.size;
  }

  /** @returns the place of the slot; undefined: a later slot has it */
  set(slot: number, value: number): number | undefined {
    const place = this.placeOf(slot);
    if (this.slots[place] > slot) return undefined;
    this.slots[place] = slot;
    this.values[place] = value;
    return place;
  }

  get(place: number, slot: number): number | undefined {
    return this.slots[place] === slot ? this.values[place] : undefined;
  }
}

/** The smallest of the first values for which at least this share of them is not greater. */
function quantileInPlace(values: Float64Array, count: number, share: number): number {
  const rank = Math.max(0, Math.ceil(share * count) - 1);
  selectInPlace(values, 0, count - 1, rank);
  return values[rank];
}
