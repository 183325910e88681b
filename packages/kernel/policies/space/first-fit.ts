/** Implements first fit: at every instant, each waiting job that fits starts, in queue order. */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { NO_JOB } from "../../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { ORDER_PARAMETER, WaitingQueue } from "../queue-order.ts";
import { DECIDES_ONCE, ESTIMATES_BY_ORDER } from "./shared-rules.ts";

class FirstFit implements Policy {
  readonly #pool: Pool;
  readonly #queue: WaitingQueue;

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.#pool = pool;
    this.#queue = new WaitingQueue(jobs, parameters);
  }

  depart(): void {}

  withdraw(job: JobIndex): void {
    this.#queue.remove(job);
  }

  restore(): void {}

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) this.#queue.add(job);
    this.#queue.update(this.#pool.nowS);
    const list = this.#queue.list;
    list.startSearch(0);
    while (this.#pool.free > 0) {
      const job = list.nextFitting(this.#pool.free, Number.POSITIVE_INFINITY, 0);
      if (job === NO_JOB) return;
      if (this.#pool.resources.length > 0 && !this.#pool.fits(job)) {
        list.skipFound();
        continue;
      }
      const rule = job === list.first() ? StartRule.head : StartRule.firstFit;
      list.takeFound();
      this.#pool.start(job, rule);
    }
  }
}

export const firstFit: SpacePolicyDefinition = {
  name: "first-fit",
  title: "First fit",
  sharing: "space",
  summary: "At every instant, each waiting job that fits starts, in queue order; large jobs can starve.",
  rules: [
    "the queue is searched once, in order, and every job that fits on the processors still free starts",
    "there are no reservations, so small jobs can delay a large one forever",
    DECIDES_ONCE,
    ESTIMATES_BY_ORDER,
  ],
  source: "folklore; FPFS of Aida, Kasahara and Narita, JSSPP 1998",
  parameters: [ORDER_PARAMETER],
  copesWith: () => ["outages", "resources"],
  guarantees: () => ({ headNeverFits: true, workConserving: true, keepsPromises: false }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new FirstFit(pool, jobs, parameters),
};
