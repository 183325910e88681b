/**
 * Computes what a machine will have free at each future time: processors and each kind of resource, according
 * to the expected ends of running jobs and the known outages. A policy that plans with it starts no job that
 * would run into a known outage.
 */
import type { KnownOutage } from "../../core/interruptions.ts";
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { Pool } from "../../core/policy.ts";
import { AvailabilityProfile } from "../../structures/availability-profile.ts";
import type { JobNumbers } from "../../structures/job-column.ts";
import type { OrderedJobs } from "../../structures/ordered-jobs.ts";

export class Plan {
  readonly processors: AvailabilityProfile;
  /** One profile per kind of resource. */
  readonly #kinds: readonly AvailabilityProfile[];
  readonly #jobs: JobsView;

  /** Everything is free. */
  constructor(pool: Pool, jobs: JobsView) {
    this.processors = new AvailabilityProfile(pool.processors);
    this.#kinds = pool.resources.map(({ amount }) => new AvailabilityProfile(amount));
    this.#jobs = jobs;
  }

  /** @param running the running jobs by expected end */
  static of(pool: Pool, jobs: JobsView, running: OrderedJobs, expectedEndS: JobNumbers): Plan {
    const plan = new Plan(pool, jobs);
    const order = new Int32Array(running.length);
    // Latest end first, so that each reservation cuts only the profile's first segment.
    for (let i = running.copyTo(order) - 1; i >= 0; i--) {
      plan.reserve(order[i], pool.nowS, expectedEndS.get(order[i]));
    }
    plan.applyOutages(pool.outages, pool.nowS, 1);
    return plan;
  }

  /**
   * Adds the future part of outages, or removes it (sign −1). Outages may overlap with running jobs, which
   * will be stopped.
   */
  applyOutages(outages: readonly KnownOutage[], nowS: number, sign: 1 | -1): void {
    for (const { processors, fromS, untilS } of outages) {
      this.processors.block(Math.max(fromS, nowS), untilS, sign * processors);
    }
  }

  forgetBefore(timeS: number): void {
    this.processors.forgetBefore(timeS);
    for (const kind of this.#kinds) kind.forgetBefore(timeS);
  }

  reserve(job: JobIndex, startS: number, endS: number): void {
    this.processors.reserve(startS, endS, this.#jobs.size[job]);
    for (let k = 0; k < this.#kinds.length; k++)
      this.#kinds[k].reserve(startS, endS, this.#jobs.demand[k][job]);
  }

  release(job: JobIndex, startS: number, endS: number): void {
    this.processors.release(startS, endS, this.#jobs.size[job]);
    for (let k = 0; k < this.#kinds.length; k++)
      this.#kinds[k].release(startS, endS, this.#jobs.demand[k][job]);
  }

  /** Moves a reservation from `heldS` to an earlier start. What it keeps is not touched. */
  advance(job: JobIndex, startS: number, heldS: number, lengthS: number): void {
    const endS = startS + lengthS;
    this.release(job, Math.max(heldS, endS), heldS + lengthS);
    this.reserve(job, startS, Math.min(heldS, endS));
  }

  /**
   * Earliest start at or after `fromS` at which everything that the job needs is free for `durationS`, or
   * Infinity.
   */
  earliest(job: JobIndex, durationS: number, fromS: number): number {
    return this.earlier(job, durationS, fromS, Number.POSITIVE_INFINITY);
  }

  /**
   * The same for a job that holds a reservation from `heldS` on; what it reserves counts as free. Returns
   * `heldS` if no earlier start is possible.
   * @param beforeS starts from then on are known to be impossible
   */
  earlier(job: JobIndex, durationS: number, fromS: number, heldS: number, beforeS = heldS): number {
    const size = this.#jobs.size[job];
    let startS = this.processors.earlier(size, durationS, fromS, heldS, beforeS);
    for (let k = 0; k < this.#kinds.length; k++) {
      const laterS = this.#kinds[k].earlier(this.#jobs.demand[k][job], durationS, startS, heldS);
      if (laterS === startS) continue;
      // Processors and all kinds of resources must be free at the same time, so start again from the later
      // time.
      startS = this.processors.earlier(size, durationS, laterS, heldS);
      k = -1;
    }
    return startS;
  }
}
