/**
 * The running jobs and the connected reservations on them (接続予約; Kawanami, Yoshihisa and Kanazawa 2008, section 3.2).
 * A waiting job, the requester, is connected to running jobs, its donors, and inherits their processors:
 *
 *   matching donor                       gathered donors, largest first
 *   ┌───────────────┬───────────┐        ┌───────────────┬─────┬─────────────┐
 *   │ donor, 16     │ requester │        │ donor, 32     │held │ requester   │
 *   └───────────────┴───────────┘        ├─────────┬─────┴─────┤ needs 48    │
 *                                        │ donor,24│ held 16   ├─────────────┘
 *                                        └─────────┴───────────┘ 8 released when this donor ends
 *
 * A running job is the donor of at most one requester. What a donor leaves to its requester is held back: nobody else
 * may use it. The pool only counts processors, so holding back is a matter of counting too.
 */
import { assert } from "../../core/errors.ts";
import { type JobIndex, NO_JOB, type ReadonlyColumn } from "../../core/jobs.ts";

export class ReservationBook {
  /** Processors of ended donors whose requesters still wait for others. */
  held = 0;
  /** Requesters whose donors have all ended, in the order in which the last donors ended; the owner empties it. */
  readonly due: JobIndex[] = [];

  readonly #size: ReadonlyColumn;
  readonly #threads: ReadonlyColumn | undefined;
  readonly #queue: Uint8Array;
  /** Reservations held by the jobs of each queue. */
  readonly #open: Int32Array;

  // Running jobs in no particular order, and where each of them stands.
  #running = new Int32Array(64);
  #count = 0;
  readonly #place: Int32Array;
  /** Number of the start: jobs that started earlier have smaller ones. */
  readonly #started: Int32Array;
  readonly #expectedEndS: Float64Array;
  #starts = 0;

  // Reservations: by donor its requester and what it leaves to it, by requester the donors that still run.
  readonly #requester: Int32Array;
  readonly #leaves: Int32Array;
  readonly #donors: Int32Array;

  /**
   * @param size processors by job
   * @param threads threads per process by job; undefined: all have one
   * @param queue place of the job's queue, filled in by the owner before the job starts or asks
   */
  constructor(
    size: ReadonlyColumn,
    threads: ReadonlyColumn | undefined,
    queue: Uint8Array,
    queueCount: number,
  ) {
    const count = queue.length;
    this.#size = size;
    this.#threads = threads;
    this.#queue = queue;
    this.#open = new Int32Array(queueCount);
    this.#place = new Int32Array(count);
    this.#started = new Int32Array(count);
    this.#expectedEndS = new Float64Array(count);
    this.#requester = new Int32Array(count).fill(NO_JOB);
    this.#leaves = new Int32Array(count);
    this.#donors = new Int32Array(count);
  }

  /** Reservations that jobs of the queue hold. */
  openIn(queue: number): number {
    return this.#open[queue];
  }

  /** Requester that the running job is a donor of, or NO_JOB. */
  requesterOf(donor: JobIndex): JobIndex {
    return this.#requester[donor];
  }

  start(job: JobIndex, expectedEndS: number): void {
    if (this.#count === this.#running.length) {
      const longer = new Int32Array(2 * this.#count);
      longer.set(this.#running);
      this.#running = longer;
    }
    this.#place[job] = this.#count;
    this.#running[this.#count++] = job;
    this.#started[job] = this.#starts++;
    this.#expectedEndS[job] = expectedEndS;
  }

  end(job: JobIndex): void {
    const last = this.#running[--this.#count];
    this.#running[this.#place[job]] = last;
    this.#place[last] = this.#place[job];
    const requester = this.#requester[job];
    if (requester === NO_JOB) return;
    this.held += this.#leaves[job];
    if (--this.#donors[requester] === 0) this.due.push(requester);
  }

  /** A requester whose donors have all ended starts: what was held for it is its own. */
  inherit(requester: JobIndex): void {
    this.held -= this.#size[requester];
    this.#open[this.#queue[requester]]--;
  }

  /**
   * Connects the job to donors: the running job of its queue with as many processors that started first; else the
   * largest of its queue (ties: most threads, then first start) until they suffice; else, when its queue's do not
   * suffice, the largest of all queues. Jobs that are donors already are not looked at.
   * @returns the instant by which all donors will have ended while estimates hold; NaN when there are not enough
   */
  request(job: JobIndex): number {
    const need = this.#size[job];
    const queue = this.#queue[job];
    let inQueue = 0;
    let inAll = 0;
    let match = NO_JOB;
    for (let i = 0; i < this.#count; i++) {
      const other = this.#running[i];
      if (this.#requester[other] !== NO_JOB) continue;
      const size = this.#size[other];
      inAll += size;
      if (this.#queue[other] !== queue) continue;
      inQueue += size;
      if (size === need && (match === NO_JOB || this.#started[other] < this.#started[match])) match = other;
    }
    if (inAll < need) return Number.NaN;
    this.#open[queue]++;
    if (match === NO_JOB) return this.#gather(job, need, inQueue >= need ? queue : -1);
    this.#connect(match, job, need);
    return this.#expectedEndS[match];
  }

  /** Recomputes the bookkeeping from the running jobs and throws where it disagrees. Linear in the jobs. */
  audit(): void {
    const left = new Map<JobIndex, number>();
    for (let i = 0; i < this.#count; i++) {
      const job = this.#running[i];
      assert(this.#place[job] === i, `running job ${job} does not stand at place ${i}`);
      const requester = this.#requester[job];
      if (requester === NO_JOB) continue;
      const leaves = this.#leaves[job];
      assert(leaves >= 1 && leaves <= this.#size[job], `donor ${job} leaves ${leaves} processors`);
      left.set(requester, (left.get(requester) ?? 0) + leaves);
    }
    let held = 0;
    const open = new Int32Array(this.#open.length);
    for (const [requester, leaves] of left) {
      assert(leaves <= this.#size[requester], `donors leave job ${requester} more than it needs`);
      held += this.#size[requester] - leaves;
      open[this.#queue[requester]]++;
    }
    for (const requester of this.due) {
      assert(!left.has(requester), `job ${requester} is due while a donor runs`);
      held += this.#size[requester];
      open[this.#queue[requester]]++;
    }
    assert(held === this.held, `${this.held} processors are held, ${held} have been inherited`);
    for (const [queue, count] of open.entries()) {
      assert(
        count === this.#open[queue],
        `queue ${queue} counts ${this.#open[queue]} of ${count} reservations`,
      );
    }
  }

  /** Largest donors first from one queue (−1: from all) until they suffice; the last one leaves only what is missing. */
  #gather(job: JobIndex, need: number, queue: number): number {
    let missing = need;
    let byS = Number.NEGATIVE_INFINITY;
    while (missing > 0) {
      const donor = this.#largest(queue);
      this.#connect(donor, job, Math.min(this.#size[donor], missing));
      missing -= this.#leaves[donor];
      if (this.#expectedEndS[donor] > byS) byS = this.#expectedEndS[donor];
    }
    return byS;
  }

  #largest(queue: number): JobIndex {
    let best = NO_JOB;
    for (let i = 0; i < this.#count; i++) {
      const job = this.#running[i];
      if (this.#requester[job] !== NO_JOB || (queue >= 0 && this.#queue[job] !== queue)) continue;
      if (best === NO_JOB || this.#isLarger(job, best)) best = job;
    }
    return best;
  }

  #isLarger(a: JobIndex, b: JobIndex): boolean {
    if (this.#size[a] !== this.#size[b]) return this.#size[a] > this.#size[b];
    if (this.#threads !== undefined && this.#threads[a] !== this.#threads[b]) {
      return this.#threads[a] > this.#threads[b];
    }
    return this.#started[a] < this.#started[b];
  }

  #connect(donor: JobIndex, requester: JobIndex, leaves: number): void {
    this.#requester[donor] = requester;
    this.#leaves[donor] = leaves;
    this.#donors[requester]++;
  }
}
