/**
 * What a machine has free from each instant on, of its processors and of each kind of resource, by the expected ends of the jobs that run
 * and by the outages that are known. A policy that plans with it starts no job into an outage.
 */
import type { KnownOutage } from "../../core/interruptions.ts";
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { Pool } from "../../core/policy.ts";
import { AvailabilityProfile } from "../../structures/availability-profile.ts";
import type { JobNumbers } from "../../structures/job-column.ts";
import type { OrderedJobs } from "../../structures/ordered-jobs.ts";

export class Plan {
  readonly processors: AvailabilityProfile;
  /** By kind of resource. */
  readonly #kinds: readonly AvailabilityProfile[];
  readonly #jobs: JobsView;

  /** Everything is free. */
  constructor(pool: Pool, jobs: JobsView) {
    this.processors = new AvailabilityProfile(pool.processors);
    this.#kinds = pool.resources.map(({ amount }) => new AvailabilityProfile(amount));
    this.#jobs = jobs;
  }

  /** @param running the jobs that run, by expected end */
  static of(pool: Pool, jobs: JobsView, running: OrderedJobs, expectedEndS: JobNumbers): Plan {
    const plan = new Plan(pool, jobs);
    const order = new Int32Array(running.length);
    // Latest end first: each reservation then cuts the profile's first segment only.
    for (let i = running.copyTo(order) - 1; i >= 0; i--) {
      plan.reserve(order[i], pool.nowS, expectedEndS.get(order[i]));
    }
    plan.noteOutages(pool.outages, pool.nowS, 1);
    return plan;
  }

  /** Notes outages, or takes them back (sign −1), as far as they lie ahead. Jobs that run into one are stopped then: they may overlap. */
  noteOutages(outages: readonly KnownOutage[], nowS: number, sign: 1 | -1): void {
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

  /** Earliest start at or after fromS for which all that the job needs is free for `durationS`; Infinity for none. */
  earliest(job: JobIndex, durationS: number, fromS: number): number {
    return this.earlier(job, durationS, fromS, Number.POSITIVE_INFINITY);
  }

  /** The same for a job that holds a reservation from heldS on, which counts as free; heldS when there is no earlier one. */
  earlier(job: JobIndex, durationS: number, fromS: number, heldS: number): number {
    const size = this.#jobs.size[job];
    let startS = this.processors.earlier(size, durationS, fromS, heldS);
    for (let k = 0; k < this.#kinds.length; k++) {
      const laterS = this.#kinds[k].earlier(this.#jobs.demand[k][job], durationS, startS, heldS);
      if (laterS === startS) continue;
      // All have to agree.
      startS = this.processors.earlier(size, durationS, laterS, heldS);
      k = -1;
    }
    return startS;
  }
}
