/**
 * Records the running jobs and the connected reservations on them (接続予約; Kawanami, Yoshihisa and Kanazawa
 * 2008, section 3.2). A waiting job, the requester, is connected to running jobs, its donors, and inherits
 * their processors:
 *
 *   matching donor                       gathered donors, largest first
 *   ┌───────────────┬───────────┐        ┌───────────────┬─────┬─────────────┐
 *   │ donor, 16     │ requester │        │ donor, 32     │held │ requester   │
 *   └───────────────┴───────────┘        ├─────────┬─────┴─────┤ needs 48    │
 *                                        │ donor,24│ held 16   ├─────────────┘
 *                                        └─────────┴───────────┘ 8 released when this donor ends
 *
 * A running job is the donor of at most one requester. What a donor leaves to its requester is held: no other
 * job may use it. The pool only counts processors, so this book only counts held processors, too.
 */
import { assert } from "../../core/errors.ts";
import { type JobIndex, type JobsView, NO_JOB } from "../../core/jobs.ts";
import { JobIntegers, JobNumbers } from "../../structures/job-column.ts";

export class ReservationBook {
  /** Processors of ended donors whose requesters still wait for other donors, or are due. */
  held = 0;
  /**
   * Requesters whose donors have all ended, in the order in which the last donors ended. The owner empties
   * the list.
   */
  readonly due: JobIndex[] = [];

  readonly #jobs: JobsView;
  readonly #queue: JobIntegers;
  /** Number of reservations held by the jobs of each queue. */
  readonly #open: Int32Array;

  // Running jobs in no particular order, and the index of each of them.
  #running = new Int32Array(64);
  #count = 0;
  readonly #place = new JobIntegers();
  /** Sequence number of the job's start: jobs that started earlier have smaller numbers. */
  readonly #started = new JobIntegers();
  readonly #expectedEndS = new JobNumbers();
  #starts = 0;

  // Reservations: for each donor, its requester and the processors left to it; for each requester, the number
  // of donors that still run.
  readonly #requester = new JobIntegers(NO_JOB);
  readonly #leaves = new JobIntegers();
  readonly #donors = new JobIntegers();

  /**
   * @param queue index of each job's queue; the owner fills it in before the job starts or requests a
   *   reservation
   */
  constructor(jobs: JobsView, queue: JobIntegers, queueCount: number) {
    this.#jobs = jobs;
    this.#queue = queue;
    this.#open = new Int32Array(queueCount);
  }

  /** Number of reservations that jobs of the queue hold. */
  openIn(queue: number): number {
    return this.#open[queue];
  }

  /** The requester for which the running job is a donor, or NO_JOB. */
  requesterOf(donor: JobIndex): JobIndex {
    return this.#requester.get(donor);
  }

  start(job: JobIndex, expectedEndS: number): void {
    if (this.#count === this.#running.length) {
      const longer = new Int32Array(2 * this.#count);
      longer.set(this.#running);
      this.#running = longer;
    }
    this.#place.set(job, this.#count);
    this.#running[this.#count++] = job;
    this.#started.set(job, this.#starts++);
    this.#expectedEndS.set(job, expectedEndS);
  }

  end(job: JobIndex): void {
    const last = this.#running[--this.#count];
    this.#running[this.#place.get(job)] = last;
    this.#place.set(last, this.#place.get(job));
    const requester = this.#requester.get(job);
    if (requester === NO_JOB) return;
    this.#requester.set(job, NO_JOB);
    this.held += this.#leaves.get(job);
    const remaining = this.#donors.get(requester) - 1;
    this.#donors.set(requester, remaining);
    if (remaining === 0) this.due.push(requester);
  }

  /** A requester whose donors have all ended starts, so its processors are no longer held. */
  inherit(requester: JobIndex): void {
    this.held -= this.#jobs.size[requester];
    this.#open[this.#queue.get(requester)]--;
  }

  /**
   * Connects the job to donors. First choice is the running job of its queue with the same number of
   * processors that started first. Without one, the largest jobs of its queue are gathered until they suffice
   * (ties: most threads, then first start), or the largest of all queues if those of its queue do not
   * suffice. Jobs that are already donors are ignored.
   * @returns when all donors will have ended if estimates hold; NaN if there are not enough donors
   */
  request(job: JobIndex): number {
    const need = this.#jobs.size[job];
    const queue = this.#queue.get(job);
    let inQueue = 0;
    let inAll = 0;
    let match = NO_JOB;
    for (let i = 0; i < this.#count; i++) {
      const other = this.#running[i];
      if (this.#requester.get(other) !== NO_JOB) continue;
      const size = this.#jobs.size[other];
      inAll += size;
      if (this.#queue.get(other) !== queue) continue;
      inQueue += size;
      if (size === need && (match === NO_JOB || this.#started.get(other) < this.#started.get(match)))
        match = other;
    }
    if (inAll < need) return Number.NaN;
    this.#open[queue]++;
    if (match === NO_JOB) return this.#gather(job, need, inQueue >= need ? queue : -1);
    this.#connect(match, job, need);
    return this.#expectedEndS.get(match);
  }

  /**
   * Recomputes the bookkeeping from the running jobs and throws if it differs. Takes time linear in the jobs.
   */
  audit(): void {
    AUDIT: {
      const left = new Map<JobIndex, number>();
      for (let i = 0; i < this.#count; i++) {
        const job = this.#running[i];
        assert(this.#place.get(job) === i, `running job ${job} is not at index ${i}`);
        const requester = this.#requester.get(job);
        if (requester === NO_JOB) continue;
        const leaves = this.#leaves.get(job);
        assert(leaves >= 1 && leaves <= this.#jobs.size[job], `donor ${job} leaves ${leaves} processors`);
        left.set(requester, (left.get(requester) ?? 0) + leaves);
      }
      let held = 0;
      const open = new Int32Array(this.#open.length);
      for (const [requester, leaves] of left) {
        assert(leaves <= this.#jobs.size[requester], `donors leave job ${requester} more than it needs`);
        held += this.#jobs.size[requester] - leaves;
        open[this.#queue.get(requester)]++;
      }
      for (const requester of this.due) {
        assert(!left.has(requester), `job ${requester} is due while a donor runs`);
        held += this.#jobs.size[requester];
        open[this.#queue.get(requester)]++;
      }
      assert(held === this.held, `${this.held} processors are held, ${held} have been inherited`);
      for (const [queue, count] of open.entries()) {
        assert(
          count === this.#open[queue],
          `queue ${queue} counts ${this.#open[queue]} of ${count} reservations`,
        );
      }
    }
  }

  /**
   * Takes the largest donors of one queue (−1: of all) until they suffice. The last one leaves only what is
   * missing.
   */
  #gather(job: JobIndex, need: number, queue: number): number {
    let missing = need;
    let byS = Number.NEGATIVE_INFINITY;
    while (missing > 0) {
      const donor = this.#largest(queue);
      this.#connect(donor, job, Math.min(this.#jobs.size[donor], missing));
      missing -= this.#leaves.get(donor);
      if (this.#expectedEndS.get(donor) > byS) byS = this.#expectedEndS.get(donor);
    }
    return byS;
  }

  #largest(queue: number): JobIndex {
    let best = NO_JOB;
    for (let i = 0; i < this.#count; i++) {
      const job = this.#running[i];
      if (this.#requester.get(job) !== NO_JOB || (queue >= 0 && this.#queue.get(job) !== queue)) continue;
      if (best === NO_JOB || this.#isLarger(job, best)) best = job;
    }
    return best;
  }

  #isLarger(a: JobIndex, b: JobIndex): boolean {
    const { size } = this.#jobs;
    if (size[a] !== size[b]) return size[a] > size[b];
    const threads = this.#jobs.shape?.threads;
    if (threads !== undefined && threads[a] !== threads[b]) return threads[a] > threads[b];
    return this.#started.get(a) < this.#started.get(b);
  }

  #connect(donor: JobIndex, requester: JobIndex, leaves: number): void {
    this.#requester.set(donor, requester);
    this.#leaves.set(donor, leaves);
    this.#donors.set(requester, this.#donors.get(requester) + 1);
  }
}
