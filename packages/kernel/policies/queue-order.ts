/**
 * Computes the order in which waiting jobs are considered, a parameter of most space-sharing policies. Jobs
 * with equal keys are in order of submission.
 */

import type { JobIndex, JobsView } from "../core/jobs.ts";
import { choice } from "../core/parameters.ts";
import type { ParameterValues } from "../core/policy.ts";
import { OrderedJobs } from "../structures/ordered-jobs.ts";

const ORDERS = ["arrival", "shortest", "longest", "smallest", "largest", "wfp", "fair-share"] as const;
type OrderName = (typeof ORDERS)[number];

export const ORDER_PARAMETER = choice(
  "order",
  ORDERS,
  "queue order: by arrival; shortest or longest estimate first; smallest or largest size first; wfp: largest size × (wait ÷ estimate)³ first, re-sorted at every decision, with estimates below 1 s counted as 1 s (Tang et al., Cluster 2009); fair-share: users who have used least of their share first, re-sorted at every decision",
);

/** The waiting jobs of a policy in its queue order. */
export class WaitingQueue {
  readonly list: OrderedJobs;
  /** Whether keys change over time, so that an order computed earlier is no longer valid. */
  readonly isDynamic: boolean;
  readonly #order: OrderName;
  readonly #jobs: JobsView;
  #keyedAtS = 0;
  /** Keys with which jobs were added, if keys change over time. */
  readonly #keys: number[] = [];
  #scratch = new Int32Array(0);

  constructor(jobs: JobsView, parameters: ParameterValues) {
    this.#jobs = jobs;
    this.list = new OrderedJobs(jobs, true);
    this.#order = parameters.order as OrderName;
    this.isDynamic = this.#order === "wfp" || this.#order === "fair-share";
  }

  /** The job's sort key in the queue; the smallest is first. */
  key(job: JobIndex): number {
    switch (this.#order) {
      case "arrival":
        return 0;
      case "shortest":
        return this.#jobs.estimateS[job];
      case "longest":
        return -this.#jobs.estimateS[job];
      case "smallest":
        return this.#jobs.size[job];
      case "largest":
        return -this.#jobs.size[job];
      case "wfp": {
        // An estimate below a second counts as one second, so that the quotient exists.
        const estimateS = Math.max(this.#jobs.estimateS[job], 1);
        const ratio = (this.#keyedAtS - this.#jobs.submitS[job]) / estimateS;
        return -this.#jobs.size[job] * ratio * ratio * ratio;
      }
      case "fair-share":
        return this.#jobs.shares?.level(job) ?? 0;
    }
  }

  /** The jobs in the order that they have, or would have, in the queue. */
  inQueueOrder(jobs: readonly JobIndex[]): readonly JobIndex[] {
    return jobs.length > 1 ? [...jobs].sort((a, b) => this.key(a) - this.key(b) || a - b) : jobs;
  }

  add(job: JobIndex): void {
    const key = this.key(job);
    if (this.isDynamic) this.#keys[job] = key;
    this.list.insert(job, key);
  }

  /** Removes a waiting job. */
  remove(job: JobIndex): void {
    // Usage may have been counted again since the job was added, for people who look at it.
    this.list.remove(job, this.isDynamic ? this.#keys[job] : this.key(job));
  }

  /** Updates a dynamic order. Call it in `decide` before you look at the queue. */
  update(nowS: number): void {
    if (!this.isDynamic) return;
    const count = this.copyInOrder();
    this.#keyedAtS = nowS;
    if (this.#order === "fair-share") this.#jobs.shares?.update();
    this.list.clear();
    for (let i = 0; i < count; i++) this.add(this.#scratch[i]);
  }

  /**
   * Copies the queue, in order, into `inOrder` and returns its length; the copy is valid until the next call.
   */
  copyInOrder(): number {
    if (this.#scratch.length < this.list.length) this.#scratch = new Int32Array(2 * this.list.length);
    return this.list.copyTo(this.#scratch);
  }

  get inOrder(): Int32Array {
    return this.#scratch;
  }
}
