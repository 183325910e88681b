/** The surroundings of gangs: what they get from nodes, cluster and steps, and who hears of them. */
import type { Clock } from "@tutti/host/clock.ts";
import type { AttemptReport } from "@tutti/protocol/attempts.ts";
import type { Report } from "../executor.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { Gang, GangWorld } from "./gang.ts";
import type { Steps } from "./steps.ts";

interface WorldParts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly steps: Steps<Gang>;
  /** Undefined: the node is not in the allocation. */
  readonly nodeOf: (node: string) => ClusterNode | undefined;
  readonly rowsChanged: () => void;
  readonly report: (report: AttemptReport) => void;
}

export function gangWorld({ clock, cluster, steps, nodeOf, rowsChanged, report }: WorldParts): GangWorld {
  return {
    unixMs: () => clock.unixMs(),
    send: (node, message) => nodeOf(node)?.send(message),
    afterAll: (node, call) => nodeOf(node)?.afterAll(call),
    lostOn: (node, job) => nodeOf(node)?.addLostJob(job),
    report,
    rowsChanged,
    variables: (spec) => cluster.variables(spec),
    step: cluster.step?.bind(cluster),
    takeStep: (gang, call) => steps.take(gang, call),
    giveStep: (gang) => steps.give(gang),
    stepObstacle: (gang) => steps.obstacle(gang),
  };
}

/** Those who listen to the executor. A listener may remove itself while it is called. */
export class Listeners {
  readonly #reports = new Set<(report: Report) => void>();
  readonly #disconnects = new Set<(reason: string) => void>();

  /** @returns a function that removes both */
  add(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void {
    this.#reports.add(onReport);
    this.#disconnects.add(onDisconnect);
    return () => {
      this.#reports.delete(onReport);
      this.#disconnects.delete(onDisconnect);
    };
  }

  report(report: Report): void {
    for (const listener of [...this.#reports]) listener(report);
  }

  disconnect(reason: string): void {
    for (const listener of [...this.#disconnects]) listener(reason);
  }
}
