/**
 * Implements dynP (Streit, HiPC 2001 and HCW 2004): at every decision, the load decides the queue order:
 * first come, first served, shortest job first or longest job first. Then all waiting jobs are replanned in
 * that order, each at the earliest time that does not delay jobs planned before it. Jobs that are planned for
 * the present instant start.
 *
 * The simple decider uses the mean estimate of the waiting jobs:
 *
 *   0 ─── shortest first ──┤ lower ├── first come, first served ──┤ upper ├── longest first ──▶ mean estimate
 *
 * The later papers also have self-tuning deciders, which plan with all three orders and compare the plans.
 * They are not implemented.
 */

import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { number } from "../../core/parameters.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { JobNumbers } from "../../structures/job-column.ts";
import { OrderedJobs } from "../../structures/ordered-jobs.ts";
import { Plan } from "./plan.ts";
import { DECIDES_ONCE, SEES_ESTIMATES } from "./shared-rules.ts";

/** Each queue order as the factor of the estimate in the sort key. */
const FIRST_COME = 0;
const SHORTEST = 1;
const LONGEST = -1;

class DynamicPolicySwitching implements Policy {
  readonly #pool: Pool;
  readonly #jobs: JobsView;
  readonly #lowerS: number;
  readonly #upperS: number;
  /** Waiting jobs, in the order of the last decision. */
  readonly #queue: OrderedJobs;
  #order = FIRST_COME;
  #estimateSumS = 0;
  /** Running jobs by expected end. */
  readonly #running: OrderedJobs;
  readonly #expectedEndS = new JobNumbers();
  #scratch = new Int32Array(64);
  #smallestFrom = new Int32Array(64);

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.#pool = pool;
    this.#jobs = jobs;
    this.#lowerS = Number(parameters.lower);
    this.#upperS = Math.max(Number(parameters.upper), this.#lowerS);
    this.#queue = new OrderedJobs(jobs, false);
    this.#running = new OrderedJobs(jobs, false);
  }

  depart(job: JobIndex): void {
    this.#running.remove(job, this.#expectedEndS.get(job));
  }

  withdraw(job: JobIndex): void {
    this.#queue.remove(job, this.#key(job));
    this.#estimateSumS -= this.#jobs.estimateS[job];
  }

  restore(job: JobIndex, startS: number): void {
    this.#run(job, startS);
  }

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) {
      this.#queue.insert(job, this.#key(job));
      this.#estimateSumS += this.#jobs.estimateS[job];
    }
    if (this.#queue.length === 0) {
      this.#estimateSumS = 0; // also drops what rounding has left over
      return;
    }
    this.#chooseOrder();
    if (this.#pool.free > 0) this.#plan();
  }

  #chooseOrder(): void {
    const meanS = this.#estimateSumS / this.#queue.length;
    const order = meanS <= this.#lowerS ? SHORTEST : meanS <= this.#upperS ? FIRST_COME : LONGEST;
    if (order === this.#order) return;
    const count = this.#copy(this.#queue);
    this.#order = order;
    this.#queue.clear();
    for (let i = 0; i < count; i++) this.#queue.insert(this.#scratch[i], this.#key(this.#scratch[i]));
  }

  /** Plans the queue in order, until no unplanned job fits on the processors that are free now. */
  #plan(): void {
    const nowS = this.#pool.nowS;
    const plan = Plan.of(this.#pool, this.#jobs, this.#running, this.#expectedEndS);
    const count = this.#copy(this.#queue);
    this.#findSmallest(count);
    for (let i = 0; i < count; i++) {
      // A job with an estimate of 0 takes nothing from the profile, only from the pool.
      if (this.#smallestFrom[i] > Math.min(plan.processors.freeAt(nowS), this.#pool.free)) return;
      const job = this.#scratch[i];
      const lengthS = this.#jobs.estimateS[job];
      const startS = plan.earliest(job, lengthS, nowS);
      plan.reserve(job, startS, startS + lengthS);
      if (startS <= nowS && this.#pool.fits(job)) this.#launch(job);
    }
  }

  #launch(job: JobIndex): void {
    const isHead = job === this.#queue.first();
    this.withdraw(job);
    this.#run(job, this.#pool.nowS);
    this.#pool.start(job, isHead ? StartRule.head : StartRule.reserved);
  }

  #run(job: JobIndex, startS: number): void {
    const endS = startS + this.#jobs.estimateS[job];
    this.#expectedEndS.set(job, endS);
    this.#running.insert(job, endS);
  }

  /** For each index, computes the smallest size among the copied jobs from there on. */
  #findSmallest(count: number): void {
    if (this.#smallestFrom.length < count) this.#smallestFrom = new Int32Array(this.#scratch.length);
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = count - 1; i >= 0; i--) {
      smallest = Math.min(smallest, this.#jobs.size[this.#scratch[i]]);
      this.#smallestFrom[i] = smallest;
    }
  }

  #copy(list: OrderedJobs): number {
    if (this.#scratch.length < list.length) this.#scratch = new Int32Array(2 * list.length);
    return list.copyTo(this.#scratch);
  }

  #key(job: JobIndex): number {
    return this.#order * this.#jobs.estimateS[job];
  }
}

export const dynp: SpacePolicyDefinition = {
  name: "dynp",
  title: "dynP: policy chosen by load",
  sharing: "space",
  summary:
    "The mean estimate of the waiting jobs decides between first come, shortest first and longest first; the queue is replanned each time.",
  rules: [
    "the mean estimate of the waiting jobs decides the queue order: shortest first up to `lower`, first come, first served up to `upper`, longest first above that",
    "an `upper` below `lower` counts as `lower`",
    "all waiting jobs are replanned in that order, each at the earliest time at which it fits in with the expected ends of running jobs and with the jobs planned before it",
    "jobs that are planned for the present instant start",
    "the policy promises no start times, because a plan holds only until the next decision",
    DECIDES_ONCE,
    SEES_ESTIMATES,
  ],
  source: "Streit, HiPC 2001 (bounds on the mean estimate); the dynP of Kawanami et al. 2008, section 2.3",
  parameters: [
    number(
      "lower",
      { min: 0, max: 1e12, default: 7200, unit: "s" },
      "shortest first up to this mean estimate",
    ),
    number(
      "upper",
      { min: 0, max: 1e12, default: 9000, unit: "s" },
      "longest first above this mean estimate",
    ),
  ],
  copesWith: () => ["outages", "resources"],
  guarantees: () => ({
    headNeverFits: false,
    workConserving: false,
    keepsPromises: true,
    avoidsOutages: true,
  }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new DynamicPolicySwitching(pool, jobs, parameters),
};
