/**
 * Computes the order in which waiting jobs are considered, a parameter of most space-sharing policies. Jobs
 * with equal keys are in order of submission.
 */

import type { JobIndex, JobsView } from "../core/jobs.ts";
import { choice } from "../core/parameters.ts";
import type { ParameterValues } from "../core/policy.ts";
import { AgingJobs, valueAt } from "../structures/aging-jobs.ts";
import { OrderedJobs } from "../structures/ordered-jobs.ts";
import { SharedJobs } from "../structures/shared-jobs.ts";

const ORDERS = ["arrival", "shortest", "longest", "smallest", "largest", "wfp", "fair-share"] as const;
type OrderName = (typeof ORDERS)[number];

export const ORDER_PARAMETER = choice(
  "order",
  ORDERS,
  "queue order: by arrival; shortest or longest estimate first; smallest or largest size first; wfp: largest size × (wait ÷ estimate)³ first, re-sorted at every decision, with estimates below 1 s counted as 1 s (Tang et al., Cluster 2009); fair-share: users who have used least of their share first, re-sorted at every decision",
);

/** What policies do with the list of their waiting jobs; each is described in OrderedJobs. */
type WaitingList = Pick<
  OrderedJobs,
  | "length"
  | "first"
  | "insert"
  | "remove"
  | "removeFirst"
  | "startSearch"
  | "nextFitting"
  | "takeFound"
  | "skipFound"
  | "copyTo"
>;

/** The waiting jobs of a policy in its queue order. */
export class WaitingQueue {
  readonly list: WaitingList;
  /** Whether keys change over time, so that an order computed earlier is no longer valid. */
  readonly isDynamic: boolean;
  readonly #order: OrderName;
  readonly #jobs: JobsView;
  // The list, if its order is dynamic.
  readonly #aging: AgingJobs | undefined;
  readonly #shared: SharedJobs | undefined;
  #keyedAtS = 0;
  #scratch = new Int32Array(0);

  constructor(jobs: JobsView, parameters: ParameterValues) {
    this.#jobs = jobs;
    this.#order = parameters.order as OrderName;
    this.#aging = this.#order === "wfp" ? new AgingJobs(jobs) : undefined;
    this.#shared = this.#order === "fair-share" ? new SharedJobs(jobs) : undefined;
    this.list = this.#aging ?? this.#shared ?? new OrderedJobs(jobs, true);
    this.isDynamic = (this.#aging ?? this.#shared) !== undefined;
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
        const { size, estimateS, submitS } = this.#jobs;
        return -valueAt(this.#keyedAtS, size[job], estimateS[job], submitS[job]);
      }
      case "fair-share":
        return this.#shared!.levelOf(job);
    }
  }

  /** The jobs in the order that they have, or would have, in the queue. */
  inQueueOrder(jobs: readonly JobIndex[]): readonly JobIndex[] {
    return jobs.length > 1 ? [...jobs].sort((a, b) => this.key(a) - this.key(b) || a - b) : jobs;
  }

  add(job: JobIndex): void {
    this.list.insert(job, this.isDynamic ? 0 : this.key(job));
  }

  /** Removes a waiting job. */
  remove(job: JobIndex): void {
    this.list.remove(job, this.isDynamic ? 0 : this.key(job));
  }

  /** Updates a dynamic order. Call it in `decide` before you look at the queue. */
  update(nowS: number): void {
    this.#keyedAtS = nowS;
    this.#aging?.age(nowS);
    this.#shared?.update();
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
