/** Merges what the nodes say about the punctuality of their slots, and finds the skew between nodes. */
import type { SlotStatistics } from "@tutti/protocol/attempts.ts";

const WINDOW_MS = 60_000;

/** How much later than the first node a node began its slots. */
interface Skew {
  readonly skewP50Ms: number;
  readonly skewP99Ms: number;
}

/** As bad as the worst node; shares of gangs are means over their nodes. Undefined without any. */
export function mergeStatistics(all: readonly SlotStatistics[]): SlotStatistics | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const most = (of: (statistics: SlotStatistics) => number) => Math.max(...all.map(of));
  const gangs = new Map<number, SlotStatistics["gangs"][number][]>();
  for (const gang of all.flatMap((statistics) => statistics.gangs)) {
    gangs.set(gang.job, [...(gangs.get(gang.job) ?? []), gang]);
  }
  return {
    slots: most(({ slots }) => slots),
    lateP50Ms: most(({ lateP50Ms }) => lateP50Ms),
    lateP99Ms: most(({ lateP99Ms }) => lateP99Ms),
    lateMaxMs: most(({ lateMaxMs }) => lateMaxMs),
    switchP50Us: most(({ switchP50Us }) => switchP50Us),
    switchP99Us: most(({ switchP99Us }) => switchP99Us),
    skipped: most(({ skipped }) => skipped),
    gangs: [...gangs].map(([job, parts]) => ({
      job,
      share: mean(parts.map(({ share }) => share)),
      gradeCompute: mean(parts.map(({ gradeCompute }) => gradeCompute)),
    })),
  };
}

/** Collects the lateness of all nodes by slot, for the last minute. */
export class SkewRecord {
  readonly #slots = new Map<number, Map<string, number>>();

  add(node: string, { lateOfSlots = [] }: SlotStatistics, slotMs: number): void {
    for (const [slot, lateMs] of lateOfSlots) {
      const nodes = this.#slots.get(slot) ?? new Map<string, number>();
      this.#slots.set(slot, nodes.set(node, lateMs));
    }
    const newest = lateOfSlots.at(-1)?.[0];
    if (newest === undefined) return;
    const oldest = newest - WINDOW_MS / slotMs;
    for (const slot of this.#slots.keys()) if (slot < oldest) this.#slots.delete(slot);
  }

  /** Undefined if no slot of this node was reported by another node, too. */
  of(node: string): Skew | undefined {
    const skews: number[] = [];
    for (const nodes of this.#slots.values()) {
      const lateMs = nodes.get(node);
      if (lateMs !== undefined && nodes.size > 1) skews.push(lateMs - Math.min(...nodes.values()));
    }
    if (skews.length === 0) return undefined;
    skews.sort((a, b) => a - b);
    return { skewP50Ms: quantile(skews, 0.5), skewP99Ms: quantile(skews, 0.99) };
  }

  /** The slots are counted from another beginning. */
  clear(): void {
    this.#slots.clear();
  }
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
