/** Handles the executor's reports about its nodes: what it has now, and what happened to them. */
import type { Command, NodeHealth, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

export class NodeReports {
  readonly #context: FrontEndParts;
  #health: readonly NodeHealth[] = [];

  constructor(context: FrontEndParts) {
    this.#context = context;
  }

  /** All nodes of the executor, as it reported them last. */
  get health(): readonly NodeHealth[] {
    return this.#health;
  }

  /** Without nodes, none is silent or lost: the executor says so, but perhaps after it has disconnected. */
  disconnected(): void {
    if (this.#context.executor.capacity.nodes.processors === 0) this.#health = [];
  }

  onReport(report: Report, nowMs: number): void {
    const { feed, clock, executor, scheduler } = this.#context;
    switch (report.type) {
      case "connected":
        // Reports before it may have been lost.
        if (scheduler.machine.capacity !== executor.capacity)
          this.#capacity("the cluster has connected", nowMs);
        return;
      case "capacity":
        this.#capacity(report.because, nowMs);
        return;
      case "nodes":
        this.#health = report.nodes;
        return;
      case "notice": {
        const { kind: rule, text, node } = report;
        feed.add("node", clock.unixMs(), undefined, { rule, text, node });
      }
    }
  }

  /** A lost node waits for the end of all jobs that have lost an attempt on it. */
  admission({ node, jobs }: Extract<Report, { type: "node-clean" }>): readonly Command[] {
    const ended = jobs.filter((job) => this.#context.book.live(job) === undefined);
    return ended.length === 0 ? [] : [{ type: "admit", node, jobs: ended }];
  }

  #capacity(because: string, nowMs: number): void {
    const { feed, clock, executor, scheduler } = this.#context;
    const { capacity } = executor;
    scheduler.setCapacity(capacity, because, nowMs);
    feed.add("capacity", clock.unixMs(), undefined, {
      because,
      cpus: capacity.nodes.processors,
      nodes: capacity.nodes.nodes.length,
    });
  }
}
