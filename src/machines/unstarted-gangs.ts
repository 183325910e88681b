/** The gangs that have been placed and have not had a slot yet, in order of placement. */
import type { JobIndex } from "../core/jobs.ts";
import { doubled } from "../structures/grow.ts";

export class UnstartedGangs {
  #jobs = new Int32Array(16);
  #count = 0;

  add(job: JobIndex): void {
    if (this.#count === this.#jobs.length) this.#jobs = doubled(this.#jobs);
    this.#jobs[this.#count++] = job;
  }

  remove(job: JobIndex): void {
    this.keep((other) => other !== job);
  }

  /** Removes all others. */
  keep(isKept: (job: JobIndex) => boolean): void {
    const jobs = this.#jobs;
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      const job = jobs[i];
      if (isKept(job)) jobs[kept++] = job;
    }
    this.#count = kept;
  }
}
