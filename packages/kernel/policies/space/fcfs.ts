/** Implements first come, first served: jobs start strictly in queue order, and no job passes another. */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { NO_JOB } from "../../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { ORDER_PARAMETER, WaitingQueue } from "../queue-order.ts";
import { DECIDES_ONCE, ESTIMATES_BY_ORDER } from "./shared-rules.ts";

class FirstComeFirstServed implements Policy {
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
    for (let head = list.first(); head !== NO_JOB; head = list.first()) {
      if (!this.#pool.fits(head)) return;
      list.removeFirst();
      this.#pool.start(head, StartRule.head);
    }
  }
}

export const fcfs: SpacePolicyDefinition = {
  name: "fcfs",
  title: "First come, first served",
  sharing: "space",
  summary: "Jobs start strictly in queue order; a job that does not fit blocks all jobs after it.",
  rules: [
    "the first job in the queue starts as soon as its processors are free, and no job passes it",
    DECIDES_ONCE,
    ESTIMATES_BY_ORDER,
  ],
  source: "folklore; the baseline of Feitelson and Rudolph, JSSPP 1995",
  parameters: [ORDER_PARAMETER],
  copesWith: () => ["outages", "resources"],
  guarantees: () => ({ headNeverFits: true, workConserving: false, keepsPromises: false }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new FirstComeFirstServed(pool, jobs, parameters),
};
