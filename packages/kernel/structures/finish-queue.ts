/**
 * Orders jobs by the slot in which they finish, in an indexed binary heap over (round, row, job). When a job
 * gains or loses slots, only its own round and row (by rank within the round) change. Callers without rounds
 * can store times instead of rounds, and processors instead of jobs.
 */
import { assert } from "../core/errors.ts";
import { type JobIndex, NO_JOB } from "../core/jobs.ts";
import { doubled, grown } from "./grow.ts";

export class FinishQueue {
  #round: Float64Array<ArrayBuffer>;
  #rank: Float64Array<ArrayBuffer>;
  /** Index of each job in the heap; −1 for a job that is not in it. */
  #place: Int32Array<ArrayBuffer>;
  #heap = new Int32Array(64);
  #count = 0;

  /** @param jobs number of job indices, 0 … jobs − 1, for which there is room; more jobs make more room */
  constructor(jobs: number) {
    this.#round = new Float64Array(jobs);
    this.#rank = new Float64Array(jobs);
    this.#place = new Int32Array(jobs).fill(-1);
  }

  get count(): number {
    return this.#count;
  }

  /** The job that finishes first; NO_JOB if there is none. */
  first(): JobIndex {
    return this.#count === 0 ? NO_JOB : this.#heap[0];
  }

  /** The round of the job that finishes first; Infinity if there is none. */
  firstRound(): number {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#round[this.#heap[0]];
  }

  roundOf(job: JobIndex): number {
    return this.#round[job];
  }

  /** Adds a job, or changes the key of a job in the queue. */
  set(job: JobIndex, round: number, rank: number): void {
    if (job >= this.#place.length) this.#makeRoom(job);
    let place = this.#place[job];
    if (place === -1) {
      place = this.#count++;
      if (place === this.#heap.length) this.#heap = doubled(this.#heap);
      this.#round[job] = round;
      this.#rank[job] = rank;
      this.#up(job, place);
      return;
    }
    const earlier = round < this.#round[job] || (round === this.#round[job] && rank < this.#rank[job]);
    this.#round[job] = round;
    this.#rank[job] = rank;
    if (earlier) this.#up(job, place);
    else this.#down(job, place);
  }

  /** Removes a job. */
  remove(job: JobIndex): void {
    const place = this.#place[job] ?? -1;
    assert(place !== -1, `job ${job} is in the queue`);
    this.#place[job] = -1;
    const last = this.#heap[--this.#count];
    if (last === job) return;
    if (place > 0 && this.#before(last, this.#heap[(place - 1) >> 1])) this.#up(last, place);
    else this.#down(last, place);
  }

  #makeRoom(job: JobIndex): void {
    const jobs = Math.max(job + 1, 2 * this.#place.length);
    this.#round = grown(this.#round, jobs, 0);
    this.#rank = grown(this.#rank, jobs, 0);
    this.#place = grown(this.#place, jobs, -1);
  }

  #before(a: JobIndex, b: JobIndex): boolean {
    const rounds = this.#round[a] - this.#round[b];
    if (rounds !== 0) return rounds < 0;
    const ranks = this.#rank[a] - this.#rank[b];
    return ranks !== 0 ? ranks < 0 : a < b;
  }

  #up(job: JobIndex, place: number): void {
    const heap = this.#heap;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#before(job, heap[parent])) break;
      heap[place] = heap[parent];
      this.#place[heap[place]] = place;
      place = parent;
    }
    heap[place] = job;
    this.#place[job] = place;
  }

  #down(job: JobIndex, place: number): void {
    const heap = this.#heap;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#count) break;
      if (child + 1 < this.#count && this.#before(heap[child + 1], heap[child])) child++;
      if (!this.#before(heap[child], job)) break;
      heap[place] = heap[child];
      this.#place[heap[place]] = place;
      place = child;
    }
    heap[place] = job;
    this.#place[job] = place;
  }
}
