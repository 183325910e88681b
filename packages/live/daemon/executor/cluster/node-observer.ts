/** Reports how the nodes are: their health and clocks, and how punctual their slots are. */
import type { Clock } from "@tutti/host/clock.ts";
import type { SlotStatistics } from "@tutti/protocol/attempts.ts";
import type { NodeHealth, Report } from "../executor.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { MergedStatistics, SkewRecord } from "./slot-statistics.ts";

const NODES_MS = 10_000;
/** Uncertainty of a clock, in slots, above which people are warned. */
const UNCERTAIN_SLOTS = 0.1;

interface NodeObserverOptions {
  readonly clock: Clock;
  readonly nodes: () => readonly ClusterNode[];
  readonly slotMs: () => number;
  readonly report: (report: Report) => void;
}

export class NodeObserver {
  readonly #options: NodeObserverOptions;
  readonly #statistics = new MergedStatistics();
  readonly #skew = new SkewRecord();
  readonly #uncertain = new Set<string>();
  #reportedMs = Number.NEGATIVE_INFINITY;
  #isDue = false;

  constructor(options: NodeObserverOptions) {
    this.#options = options;
  }

  slots(node: string, statistics: SlotStatistics): void {
    this.#statistics.add(statistics);
    this.#skew.add(node, statistics, this.#options.slotMs());
  }

  /** Called each second. */
  tick(): void {
    const { clock, nodes, report } = this.#options;
    const statistics = this.#statistics.take();
    if (statistics !== undefined) report({ type: "slots", statistics });
    if (clock.nowMs() < this.#reportedMs + NODES_MS) return;
    for (const node of nodes()) this.#warnIfUncertain(node);
    this.nodesChanged();
  }

  /** Reports all nodes, once for all changes of this moment. */
  nodesChanged(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const { clock, nodes, report } = this.#options;
    this.#reportedMs = clock.nowMs();
    clock.soon(() => {
      this.#isDue = false;
      report({ type: "nodes", nodes: nodes().map((node) => this.#healthOf(node)) });
    });
  }

  /** Another allocation has begun, with another grid of slots. */
  clear(): void {
    this.#statistics.take();
    this.#skew.clear();
    this.#uncertain.clear();
  }

  #healthOf({ name, offset, health: { state } }: ClusterNode): NodeHealth {
    const shown = state === "starting" ? "silent" : state;
    return { node: name, state: shown, ...offset, ...this.#skew.of(name) };
  }

  #warnIfUncertain({ name, offset, isUp }: ClusterNode): void {
    const { slotMs, report } = this.#options;
    const mostMs = UNCERTAIN_SLOTS * slotMs();
    // A node that does not answer is less certain every second, which is no fault of its clock.
    if (offset === undefined || !isUp) return;
    if (offset.uncertaintyMs <= mostMs / 2) this.#uncertain.delete(name);
    else if (offset.uncertaintyMs > mostMs && !this.#uncertain.has(name)) {
      this.#uncertain.add(name);
      const text = `node ${name}: its clock is known to ${offset.uncertaintyMs.toFixed(1)} ms only, expected a tenth of a slot, ${mostMs.toFixed(1)} ms; use longer slots`;
      report({ type: "notice", kind: "clock-uncertain", text, node: name });
    }
  }
}
