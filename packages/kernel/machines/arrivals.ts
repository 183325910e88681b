import type { JobIndex } from "../core/jobs.ts";

const NO_JOBS: readonly JobIndex[] = [];

/**
 * Collects the jobs that have arrived since the last decision. The list that `take` returns is valid only
 * until the next decision, which reuses it. While the machine is closed, the jobs stay here.
 */
export class Arrivals {
  readonly #jobs: JobIndex[] = [];
  #count = 0;
  #isClosed = false;

  add(job: JobIndex): void {
    this.#jobs[this.#count++] = job;
  }

  /** Takes back a job that no policy has seen. Returns false if it is not here. */
  remove(job: JobIndex): boolean {
    this.#jobs.length = this.#count;
    const at = this.#jobs.indexOf(job);
    if (at < 0) return false;
    this.#jobs.splice(at, 1);
    this.#count--;
    return true;
  }

  /** @param waiting the jobs that have been taken away from the policy */
  close(waiting: readonly JobIndex[]): void {
    this.#isClosed = true;
    for (const job of waiting) this.add(job);
  }

  /** Whether the next decision gets some of them. */
  get hasSome(): boolean {
    return this.#count > 0 && !this.#isClosed;
  }

  /** The jobs that are here now. */
  get present(): ReadonlySet<JobIndex> {
    this.#jobs.length = this.#count;
    return new Set(this.#jobs);
  }

  /** The jobs that have been kept arrive in order of submission. */
  open(): void {
    this.#isClosed = false;
    this.sort();
  }

  sort(): void {
    this.#jobs.length = this.#count;
    this.#jobs.sort((a, b) => a - b);
  }

  /** The arrivals for the next decision of the policy. */
  take(): readonly JobIndex[] {
    const count = this.#count;
    if (count === 0 || this.#isClosed) return NO_JOBS;
    this.#count = 0;
    // Setting the length to 0 would free the array's memory.
    if (this.#jobs.length !== count) this.#jobs.length = count;
    return this.#jobs;
  }
}
