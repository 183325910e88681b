import type { JobIndex } from "../core/jobs.ts";

const NO_JOBS: readonly JobIndex[] = [];

/**
 * Collects the jobs that have arrived since the last decision. The list that `take` returns is valid only
 * until the next decision, which reuses it.
 */
export class Arrivals {
  readonly #jobs: JobIndex[] = [];
  #count = 0;

  add(job: JobIndex): void {
    this.#jobs[this.#count++] = job;
  }

  /** The arrivals for the next decision of the policy. */
  take(): readonly JobIndex[] {
    const count = this.#count;
    if (count === 0) return NO_JOBS;
    this.#count = 0;
    // Setting the length to 0 would free the array's memory.
    if (this.#jobs.length !== count) this.#jobs.length = count;
    return this.#jobs;
  }
}
