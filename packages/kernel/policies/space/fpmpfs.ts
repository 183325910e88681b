/**
 * Implements Fit Processors Most Processors First Served (Aida, Kasahara and Narita, JSSPP 1998): of the
 * waiting jobs that fit, the one with the most processors starts. (Their FPFS, in order of arrival, is
 * `first-fit` here.) Small jobs could starve because of larger ones, and large ones because of small ones
 * that fit earlier. Therefore a job that has waited longer than a limit is treated like the head of a
 * first-come, first-served queue: until it starts, no other job starts.
 */

import { type JobIndex, type JobsView, NO_JOB } from "../../core/jobs.ts";
import { number } from "../../core/parameters.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { OrderedJobs } from "../../structures/ordered-jobs.ts";
import { DECIDES_ONCE } from "./shared-rules.ts";

class MostProcessorsFirst implements Policy {
  readonly #pool: Pool;
  readonly #jobs: JobsView;
  readonly #waitLimitS: number;
  // Both lists hold the same waiting jobs: in order of arrival and, keyed by −size, largest first.
  readonly #byArrival: OrderedJobs;
  readonly #bySize: OrderedJobs;

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.#pool = pool;
    this.#jobs = jobs;
    this.#waitLimitS = Number(parameters.waitLimit);
    this.#byArrival = new OrderedJobs(jobs, false);
    this.#bySize = new OrderedJobs(jobs, true);
  }

  depart(): void {}

  withdraw(job: JobIndex): void {
    this.#byArrival.remove(job, 0);
    this.#bySize.remove(job, -this.#jobs.size[job]);
  }

  restore(): void {}

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) {
      this.#byArrival.insert(job, 0);
      this.#bySize.insert(job, -this.#jobs.size[job]);
    }
    if (this.#startOverdue()) return;
    this.#bySize.startSearch(0);
    while (this.#pool.free > 0) {
      const job = this.#bySize.nextFitting(this.#pool.free, Number.POSITIVE_INFINITY, 0);
      if (job === NO_JOB) return;
      if (!this.#pool.fits(job)) {
        this.#bySize.skipFound();
        continue;
      }
      const rule = job === this.#byArrival.first() ? StartRule.head : StartRule.firstFit;
      this.#bySize.takeFound();
      this.#byArrival.remove(job, 0);
      this.#pool.start(job, rule);
    }
  }

  /**
   * Starts jobs past the limit in order of arrival. Returns whether one of them does not fit and blocks the
   * others.
   */
  #startOverdue(): boolean {
    for (;;) {
      const job = this.#byArrival.first();
      if (job === NO_JOB || this.#pool.nowS - this.#jobs.submitS[job] <= this.#waitLimitS) return false;
      if (!this.#pool.fits(job)) return true;
      this.withdraw(job);
      this.#pool.start(job, StartRule.head);
    }
  }
}

export const fpmpfs: SpacePolicyDefinition = {
  name: "fpmpfs",
  title: "Most processors first fit",
  sharing: "space",
  summary: "Of the waiting jobs that fit, the largest starts; a job past the wait limit blocks all others.",
  rules: [
    "jobs that have waited longer than waitLimit start in order of arrival",
    "while the first of these jobs does not fit, no other job starts",
    "otherwise, while any waiting job fits, the one with the most processors starts (ties: the one that arrived first)",
    "the wait beyond the limit is not bounded, because running jobs are not stopped",
    "estimates are not used",
    DECIDES_ONCE,
  ],
  source:
    "FPMPFS of Aida, Kasahara and Narita, JSSPP 1998; the wait limit as described by Kawanami et al. 2008, section 2.3",
  parameters: [
    number(
      "waitLimit",
      { min: 0, max: 1e12, default: 86_400, unit: "s" },
      "a job that has waited longer than this is treated like the head of a first-come, first-served queue",
    ),
  ],
  copesWith: () => ["outages", "resources"],
  guarantees: () => ({ headNeverFits: true, workConserving: false, keepsPromises: false }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new MostProcessorsFirst(pool, jobs, parameters),
};
