import type { JobIndex } from "../core/jobs.ts";

const NOBODY: readonly JobIndex[] = [];

/** The jobs that have arrived since the last decision. The list that is handed over is used again for the next one. */
export class Arrivals {
  readonly #jobs: JobIndex[] = [];
  #count = 0;

  add(job: JobIndex): void {
    this.#jobs[this.#count++] = job;
  }

  /** What a policy is told when it decides. */
  take(): readonly JobIndex[] {
    const count = this.#count;
    if (count === 0) return NOBODY;
    this.#count = 0;
    // An array that has been emptied would be allocated anew.
    if (this.#jobs.length !== count) this.#jobs.length = count;
    return this.#jobs;
  }
}
