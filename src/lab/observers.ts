/** Small pieces for listening to a simulation. */
import type { Observer } from "../core/schedule.ts";

/** Tells two observers everything, the first one first. */
export function both(a: Observer, b: Observer): Observer {
  return {
    arrived(timeS, job) {
      a.arrived?.(timeS, job);
      b.arrived?.(timeS, job);
    },
    departed(timeS, job) {
      a.departed?.(timeS, job);
      b.departed?.(timeS, job);
    },
    started(timeS, job, rule) {
      a.started?.(timeS, job, rule);
      b.started?.(timeS, job, rule);
    },
    promised(timeS, job, startS) {
      a.promised?.(timeS, job, startS);
      b.promised?.(timeS, job, startS);
    },
    decided(timeS) {
      a.decided?.(timeS);
      b.decided?.(timeS);
    },
    placed(timeS, job, row, first, stretches) {
      a.placed?.(timeS, job, row, first, stretches);
      b.placed?.(timeS, job, row, first, stretches);
    },
    released(timeS, job, row) {
      a.released?.(timeS, job, row);
      b.released?.(timeS, job, row);
    },
    rowAdded(timeS, row) {
      a.rowAdded?.(timeS, row);
      b.rowAdded?.(timeS, row);
    },
    rowDeleted(timeS, row) {
      a.rowDeleted?.(timeS, row);
      b.rowDeleted?.(timeS, row);
    },
    exchanged(timeS, x, y, first, end) {
      a.exchanged?.(timeS, x, y, first, end);
      b.exchanged?.(timeS, x, y, first, end);
    },
    migrated(timeS, job, row, first, costS) {
      a.migrated?.(timeS, job, row, first, costS);
      b.migrated?.(timeS, job, row, first, costS);
    },
  };
}

/** Doubles of one kind after another in one buffer that grows. */
export class Numbers {
  length = 0;
  values: Float64Array = new Float64Array(1024);

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }
}

/** A set of job rows that is walked often: members side by side in an array, in no particular order. */
export class JobSet {
  size = 0;
  readonly members: Int32Array;
  readonly #position: Int32Array;

  /** @param count number of job rows */
  constructor(count: number) {
    this.members = new Int32Array(count);
    this.#position = new Int32Array(count).fill(-1);
  }

  has(job: number): boolean {
    return this.#position[job] >= 0;
  }

  add(job: number): void {
    this.#position[job] = this.size;
    this.members[this.size++] = job;
  }

  delete(job: number): void {
    const at = this.#position[job];
    const last = this.members[--this.size];
    this.members[at] = last;
    this.#position[last] = at;
    this.#position[job] = -1;
  }
}
