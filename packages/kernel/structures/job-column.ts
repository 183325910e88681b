/**
 * Stores a policy's own columns: a number for each job. A column grows as it is written; a cell that has not
 * been written has the column's initial value.
 */
import type { JobIndex } from "../core/jobs.ts";
import { grown } from "./grow.ts";

const FIRST_LENGTH = 64;

/** 32-bit integers. */
export class JobIntegers {
  readonly #initial: number;
  #cells: Int32Array<ArrayBuffer>;

  constructor(initial = 0) {
    this.#initial = initial;
    this.#cells = new Int32Array(FIRST_LENGTH).fill(initial);
  }

  get(job: JobIndex): number {
    return job < this.#cells.length ? this.#cells[job] : this.#initial;
  }

  set(job: JobIndex, value: number): void {
    if (job >= this.#cells.length) this.#cells = grown(this.#cells, lengthFor(job), this.#initial);
    this.#cells[job] = value;
  }
}

/** Any numbers, such as times. */
export class JobNumbers {
  readonly #initial: number;
  #cells: Float64Array<ArrayBuffer>;

  constructor(initial = 0) {
    this.#initial = initial;
    this.#cells = new Float64Array(FIRST_LENGTH).fill(initial);
  }

  get(job: JobIndex): number {
    return job < this.#cells.length ? this.#cells[job] : this.#initial;
  }

  set(job: JobIndex, value: number): void {
    if (job >= this.#cells.length) this.#cells = grown(this.#cells, lengthFor(job), this.#initial);
    this.#cells[job] = value;
  }
}

/** The smallest power of two that is above the job's index. */
function lengthFor(job: JobIndex): number {
  return 2 ** (32 - Math.clz32(job));
}
