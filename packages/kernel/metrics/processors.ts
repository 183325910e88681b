/**
 * Assigns processors to the jobs of a space-sharing schedule. The simulator only counts processors, but a
 * Gantt chart needs their numbers. So every job gets the free processors with the lowest numbers afterwards,
 * in as many runs (stretches of consecutive processors) as necessary.
 *
 * A heap holds the free runs by first processor. It does not merge adjacent runs; they rejoin when a job
 * takes them. A job with run time 0 is shown on processors that were free at its instant, and does not keep
 * other jobs from using these.
 */
import { assert } from "../core/errors.ts";
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import { orderOf } from "./quantiles.ts";
import { type Stretches, stretchesOf } from "./stretches.ts";

/**
 * Runs of consecutive processors for each stretch of a job: rows offset[row] … offset[row + 1] − 1 of
 * `first`, `size`.
 */
interface ProcessorRuns {
  readonly stretches: Stretches;
  readonly offset: Uint32Array;
  readonly first: Int32Array;
  readonly size: Int32Array;
}

/** Assigns the processors; O(runs × log runs). Jobs that never started have no run. */
export function dealProcessors(instance: Instance, schedule: Schedule): ProcessorRuns {
  const stretches = stretchesOf(instance, schedule);
  const { startS, endS, size } = stretches;
  const free = new FreeRuns(instance.processors);
  const dealt = new RunLists(size.length);
  const ends = orderOf(endS);
  const starts = orderOf(startS);
  let nextEnd = 0;
  let from = 0;
  while (from < starts.length) {
    const nowS = startS[starts[from]];
    let to = from;
    while (to < starts.length && startS[starts[to]] === nowS) to++;
    for (; nextEnd < ends.length && endS[ends[nextEnd]] <= nowS; nextEnd++) {
      const job = ends[nextEnd];
      if (startS[job] < nowS && endS[job] > startS[job]) dealt.giveBack(job, free);
    }
    for (let i = from; i < to; i++) {
      const job = starts[i];
      if (endS[job] !== nowS) continue;
      dealt.take(job, size[job], free);
      dealt.giveBack(job, free);
    }
    for (let i = from; i < to; i++) {
      const job = starts[i];
      if (endS[job] !== nowS) dealt.take(job, size[job], free);
    }
    from = to;
  }
  return { stretches, ...dealt.inRowOrder() };
}

/** Binary heap of free runs by first processor. */
class FreeRuns {
  readonly first: Int32Array;
  readonly size: Int32Array;
  length = 0;

  constructor(processors: number) {
    this.first = new Int32Array(processors + 1);
    this.size = new Int32Array(processors + 1);
    this.push(0, processors);
  }

  push(first: number, size: number): void {
    let at = this.length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.first[parent] < first) break;
      this.first[at] = this.first[parent];
      this.size[at] = this.size[parent];
      at = parent;
    }
    this.first[at] = first;
    this.size[at] = size;
  }

  /** Removes the lowest run. It is at index 0 of both arrays and must be read before. */
  pop(): void {
    const length = --this.length;
    const first = this.first[length];
    const size = this.size[length];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && this.first[child + 1] < this.first[child]) child++;
      if (this.first[child] > first) break;
      this.first[at] = this.first[child];
      this.size[at] = this.size[child];
      at = child;
    }
    this.first[at] = first;
    this.size[at] = size;
  }
}

/** Runs of all jobs in the order in which they were assigned. */
class RunLists {
  readonly #begin: Uint32Array;
  readonly #length: Uint32Array;
  #first: Int32Array;
  #size: Int32Array;
  #used = 0;

  constructor(jobs: number) {
    this.#begin = new Uint32Array(jobs);
    this.#length = new Uint32Array(jobs);
    this.#first = new Int32Array(2 * jobs + 16);
    this.#size = new Int32Array(2 * jobs + 16);
  }

  take(job: JobIndex, wanted: number, free: FreeRuns): void {
    const begin = this.#used;
    this.#begin[job] = begin;
    let missing = wanted;
    while (missing > 0) {
      assert(free.length > 0, `job row ${job} was started on processors that were not free`);
      const first = free.first[0];
      const size = free.size[0];
      const taken = Math.min(size, missing);
      free.pop();
      if (taken < size) free.push(first + taken, size - taken);
      missing -= taken;
      const last = this.#used - 1;
      if (last >= begin && this.#first[last] + this.#size[last] === first) this.#size[last] += taken;
      else this.#append(first, taken);
    }
    this.#length[job] = this.#used - begin;
  }

  giveBack(job: JobIndex, free: FreeRuns): void {
    const begin = this.#begin[job];
    const end = begin + this.#length[job];
    for (let run = begin; run < end; run++) free.push(this.#first[run], this.#size[run]);
  }

  inRowOrder(): Omit<ProcessorRuns, "stretches"> {
    const jobs = this.#begin.length;
    const offset = new Uint32Array(jobs + 1);
    const first = new Int32Array(this.#used);
    const size = new Int32Array(this.#used);
    for (let job = 0; job < jobs; job++) {
      const begin = this.#begin[job];
      const length = this.#length[job];
      first.set(this.#first.subarray(begin, begin + length), offset[job]);
      size.set(this.#size.subarray(begin, begin + length), offset[job]);
      offset[job + 1] = offset[job] + length;
    }
    return { offset, first, size };
  }

  #append(first: number, size: number): void {
    if (this.#used === this.#first.length) {
      this.#first = grown(this.#first);
      this.#size = grown(this.#size);
    }
    this.#first[this.#used] = first;
    this.#size[this.#used++] = size;
  }
}

function grown(column: Int32Array): Int32Array {
  const larger = new Int32Array(2 * column.length);
  larger.set(column);
  return larger;
}
