/**
 * Implements conservative backfilling (Mu'alem and Feitelson, IEEE TPDS 12(6), 2001): every waiting job holds
 * a reservation, the earliest one that was possible when it was made. When a job ends before its expected
 * end, compression closes the hole: each waiting job, in queue order, gives up its reservation and takes the
 * earliest one possible now, which is never later than the old one.
 *
 * Compression looks only where something has changed. A job can move only into a window that overlaps a part
 * of the profile in which more has become free. So a job that starts before that part, that is larger than
 * the maximum free there, or that does not fit before the end of that part, keeps its reservation.
 */
import type { KnownOutage } from "../../core/interruptions.ts";
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { FinishQueue } from "../../structures/finish-queue.ts";
import { JobNumbers } from "../../structures/job-column.ts";
import { ORDER_PARAMETER, WaitingQueue } from "../queue-order.ts";
import { Plan } from "./plan.ts";
import { DECIDES_ONCE, SEES_ESTIMATES } from "./shared-rules.ts";

class ConservativeBackfilling implements Policy {
  readonly #pool: Pool;
  readonly #jobs: JobsView;
  readonly #queue: WaitingQueue;
  readonly #plan: Plan;
  /** The outages that the plan contains. */
  #outages: readonly KnownOutage[] = [];
  /** Reserved start while the job waits, start once it runs. */
  readonly #startS = new JobNumbers();
  /** Waiting jobs by reserved start. */
  readonly #due: FinishQueue;
  /** Whether a job has ended before its expected end since the last decision. */
  #endedEarly = false;
  // The part of the profile in which more has become free since the last compression, and an upper bound of
  // what is free there.
  #freerFromS = Number.POSITIVE_INFINITY;
  #freerUntilS = Number.NEGATIVE_INFINITY;
  #freest = 0;

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.#pool = pool;
    this.#jobs = jobs;
    this.#queue = new WaitingQueue(jobs, parameters);
    this.#plan = new Plan(pool, jobs);
    this.#due = new FinishQueue(jobs.capacity);
  }

  depart(job: JobIndex): void {
    const nowS = this.#pool.nowS;
    const expectedEndS = this.#startS.get(job) + this.#lengthS(job);
    if (expectedEndS <= nowS) return;
    this.#plan.release(job, nowS, expectedEndS);
    this.#becameFreer(nowS, expectedEndS);
    this.#endedEarly = true;
  }

  /** Frees the job's reservation, as if the job had been running and had ended. */
  withdraw(job: JobIndex): void {
    this.#queue.remove(job);
    this.#due.remove(job);
    const heldS = this.#giveUp(job);
    this.#becameFreer(heldS, heldS + this.#lengthS(job));
    this.#endedEarly = true;
  }

  restore(job: JobIndex, startS: number): void {
    this.#plan.reserve(job, startS, startS + this.#lengthS(job));
    this.#startS.set(job, startS);
  }

  decide(arrived: readonly JobIndex[]): void {
    const nowS = this.#pool.nowS;
    this.#plan.forgetBefore(nowS);
    this.#queue.update(nowS);
    if (this.#outages !== this.#pool.outages) this.#learnOutages(nowS);
    if (this.#endedEarly) this.#compress(nowS);
    this.#reserveArrivals(this.#queue.inQueueOrder(arrived), nowS);
    if (this.#due.firstRound() <= nowS) this.#startDue(nowS);
    // Compression leaves holes, so a reservation need not begin when a job ends.
    this.#pool.wakeAt(this.#due.firstRound());
  }

  /**
   * If outages differ from what was known, all waiting jobs get new reservations in queue order, earlier or
   * later.
   */
  #learnOutages(nowS: number): void {
    const before = this.#outages;
    const now = this.#pool.outages;
    this.#outages = now;
    const isKnown = now.every((outage) => before.includes(outage));
    if (isKnown && before.every((outage) => outage.untilS <= nowS || now.includes(outage))) return;
    const count = this.#queue.copyInOrder();
    const waiting = this.#queue.inOrder.subarray(0, count);
    this.#plan.applyOutages(before, nowS, -1);
    for (const job of waiting) this.#giveUp(job);
    this.#plan.applyOutages(now, nowS, 1);
    for (const job of waiting) this.#reserve(job, nowS);
  }

  #compress(nowS: number): void {
    // What a job gives up can be used by earlier jobs of the queue only at the next compression.
    let givenUpFromS = Number.POSITIVE_INFINITY;
    let givenUpUntilS = Number.NEGATIVE_INFINITY;
    // The job before could not start before `lastStartS` while it was held until `lastHeldS`. Nor can one
    // that needs as much for as long and is held at least as long: what became free since is later.
    let [lastSize, lastLengthS, lastHeldS, lastStartS] = [Number.POSITIVE_INFINITY, 0, 0, 0];
    const needsOnlyProcessors = this.#pool.resources.length === 0;
    const count = this.#queue.copyInOrder();
    const order = this.#queue.inOrder;
    for (let i = 0; i < count; i++) {
      const job = order[i];
      const heldS = this.#startS.get(job);
      const size = this.#jobs.size[job];
      if (heldS <= this.#freerFromS || size > this.#freest) continue;
      const lengthS = this.#lengthS(job);
      let fromS = this.#plan.processors.segmentStart(this.#freerFromS - lengthS, nowS);
      const isHarder = size >= lastSize && lengthS >= lastLengthS && heldS >= lastHeldS;
      if (isHarder && needsOnlyProcessors && lastStartS > fromS) fromS = lastStartS;
      const startS = this.#plan.earlier(job, lengthS, fromS, heldS, this.#freerUntilS);
      lastSize = size;
      lastLengthS = lengthS;
      lastHeldS = heldS;
      lastStartS = startS;
      if (startS >= heldS) continue;
      const endS = heldS + lengthS;
      const freerFromS = Math.max(heldS, startS + lengthS);
      this.#plan.advance(job, startS, heldS, lengthS);
      this.#becameFreer(freerFromS, endS);
      if (freerFromS < givenUpFromS) givenUpFromS = freerFromS;
      if (endS > givenUpUntilS) givenUpUntilS = endS;
      this.#hold(job, startS);
    }
    this.#endedEarly = false;
    this.#freerFromS = Number.POSITIVE_INFINITY;
    this.#freerUntilS = Number.NEGATIVE_INFINITY;
    this.#freest = 0;
    if (givenUpFromS < givenUpUntilS) this.#becameFreer(givenUpFromS, givenUpUntilS);
  }

  #reserveArrivals(arrivals: readonly JobIndex[], nowS: number): void {
    for (let i = 0; i < arrivals.length; i++) {
      this.#reserve(arrivals[i], nowS);
      this.#queue.add(arrivals[i]);
    }
  }

  /** Reserves the earliest start. */
  #reserve(job: JobIndex, nowS: number): void {
    const lengthS = this.#lengthS(job);
    const startS = this.#plan.earliest(job, lengthS, nowS);
    this.#plan.reserve(job, startS, startS + lengthS);
    this.#hold(job, startS);
  }

  /**
   * Starts the jobs whose reservations are due, in queue order; they fit, since every reservation has a
   * length.
   */
  #startDue(nowS: number): void {
    const head = this.#queue.list.first();
    const due: JobIndex[] = [];
    while (this.#due.firstRound() <= nowS) {
      const job = this.#due.first();
      this.#due.remove(job);
      due.push(job);
    }
    for (const job of this.#queue.inQueueOrder(due)) {
      this.#queue.remove(job);
      this.#pool.start(job, job === head ? StartRule.head : StartRule.reserved);
    }
  }

  /**
   * Length of the job's reservation, never 0: a reservation of length 0 would hold no processors when the job
   * starts.
   */
  #lengthS(job: JobIndex): number {
    const estimateS = this.#jobs.estimateS[job];
    return estimateS > 0 ? estimateS : 1;
  }

  #hold(job: JobIndex, startS: number): void {
    this.#startS.set(job, startS);
    this.#due.set(job, startS, 0);
    this.#pool.promise(job, startS);
  }

  /** Takes the reservation of a waiting job out of the plan, and returns its start. */
  #giveUp(job: JobIndex): number {
    const heldS = this.#startS.get(job);
    this.#plan.release(job, heldS, heldS + this.#lengthS(job));
    return heldS;
  }

  #becameFreer(fromS: number, untilS: number): void {
    if (fromS < this.#freerFromS) this.#freerFromS = fromS;
    if (untilS > this.#freerUntilS) this.#freerUntilS = untilS;
    const maxFree = this.#plan.processors.maxFree(fromS, untilS);
    if (maxFree > this.#freest) this.#freest = maxFree;
  }
}

export const conservative: SpacePolicyDefinition = {
  name: "conservative",
  title: "Conservative backfilling",
  sharing: "space",
  summary:
    "Every job gets a reservation when it arrives, and starts no later than reserved as long as estimates hold.",
  rules: [
    "an arriving job reserves the earliest start that delays no existing reservation",
    "a job starts when its reservation is due",
    "compression: when a job ends before its expected end, each waiting job, in queue order, gives up its reservation and takes the earliest possible one, which is never later",
    "compression comes before the reservations for the arrivals of the same instant",
    "compression is a single pass, so room that a job further back gives up can be used only at the next compression",
    "a job with an estimate of 0 reserves one second",
    "the queue order applies in compression and to jobs that arrive at the same instant",
    DECIDES_ONCE,
    SEES_ESTIMATES,
  ],
  source: "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001",
  parameters: [ORDER_PARAMETER],
  copesWith: () => ["outages", "resources"],
  guarantees: () => ({
    headNeverFits: false,
    workConserving: false,
    keepsPromises: true,
    avoidsOutages: true,
  }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new ConservativeBackfilling(pool, jobs, parameters),
};
