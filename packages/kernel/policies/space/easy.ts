/**
 * Implements EASY backfilling (Lifka, JSSPP 1995; Skovira et al., JSSPP 1996). The first job that does not
 * fit holds the only reservation, at the shadow time: when enough running jobs will have ended according to
 * their estimates. Later jobs are tried in queue order (queue-order.ts). They may pass if they end by the
 * shadow time, or if they use only processors that the reservation does not need:
 *
 *   processors ┌─────────┬──────────────
 *              │ running │   reserved for the head of the queue
 *              ├─────┬───┼──────────────
 *              │ bf1 │   │   spare: bf2 may run on
 *              └─────┴───┴──────────────▶ time
 *                    now  shadow time
 *
 * If no job has ended since the last decision and the head is the same, its reservation is still valid. Jobs
 * that were refused then would be refused again, because fewer processors are free and less time is left. So
 * only new arrivals are considered.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import { NO_JOB } from "../../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../../core/policy.ts";
import { StartRule } from "../../core/policy.ts";
import { JobNumbers } from "../../structures/job-column.ts";
import { OrderedJobs } from "../../structures/ordered-jobs.ts";
import { ORDER_PARAMETER, WaitingQueue } from "../queue-order.ts";
import { Plan } from "./plan.ts";
import { DECIDES_ONCE, SEES_ESTIMATES } from "./shared-rules.ts";

/** More than the relative error of one rounded sum. */
const ROUNDING = 4 / 2 ** 53;

class EasyBackfilling implements Policy {
  readonly #pool: Pool;
  readonly #jobs: JobsView;
  readonly #queue: WaitingQueue;
  /** Running jobs by expected end. */
  readonly #running: OrderedJobs;
  readonly #expectedEndS = new JobNumbers();

  // The last computed reservation of the head. It becomes invalid when a job ends, and when the head leaves.
  #reservedFor: JobIndex = NO_JOB;
  #shadowS = 0;
  #spare = 0;

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.#pool = pool;
    this.#jobs = jobs;
    this.#queue = new WaitingQueue(jobs, parameters);
    this.#running = new OrderedJobs(jobs, false);
  }

  depart(job: JobIndex): void {
    this.#running.remove(job, this.#expectedEndS.get(job));
    this.#reservedFor = NO_JOB;
  }

  withdraw(job: JobIndex): void {
    this.#queue.remove(job);
    // It may come back with another size.
    if (job === this.#reservedFor) this.#reservedFor = NO_JOB;
  }

  restore(job: JobIndex, startS: number): void {
    this.#run(job, startS);
  }

  decide(arrived: readonly JobIndex[]): void {
    if (this.#keepsReservation(arrived)) {
      this.#backfillArrivals(arrived);
      return;
    }
    const started = this.#startAtOnce(arrived);
    for (let i = started; i < arrived.length; i++) this.#queue.add(arrived[i]);
    this.#queue.update(this.#pool.nowS);
    if (this.#needsPlan) {
      this.#decideByPlan();
      return;
    }
    const head = this.#startHeads();
    if (head !== NO_JOB && this.#pool.free > 0) {
      this.#reserve(head);
      this.#backfill();
    }
  }

  /** Starts a job that arrives alone while nothing waits, without the queue. Returns how many it started. */
  #startAtOnce(arrived: readonly JobIndex[]): number {
    const isAlone = arrived.length === 1 && this.#queue.list.length === 0;
    if (!isAlone || this.#queue.isDynamic || this.#needsPlan) return 0;
    if (this.#jobs.size[arrived[0]] > this.#pool.free) return 0;
    this.#reservedFor = NO_JOB;
    this.#launch(arrived[0], StartRule.head);
    return 1;
  }

  get #needsPlan(): boolean {
    return this.#pool.outages.length > 0 || this.#pool.resources.length > 0;
  }

  /** Whether the reservation is still valid, and all arrivals are behind its job. */
  #keepsReservation(arrived: readonly JobIndex[]): boolean {
    const head = this.#reservedFor;
    const queue = this.#queue;
    if (head === NO_JOB || queue.isDynamic || queue.list.first() !== head) return false;
    if (this.#needsPlan) return false;
    if (this.#jobs.size[head] <= this.#pool.free) return false;
    const key = queue.key(head);
    for (let i = 0; i < arrived.length; i++) {
      const other = queue.key(arrived[i]);
      if (other < key || (other === key && arrived[i] < head)) return false;
    }
    return true;
  }

  /** Starts jobs from the front of the queue while they fit; returns the first that does not, or NO_JOB. */
  #startHeads(): JobIndex {
    const list = this.#queue.list;
    let head = list.first();
    while (head !== NO_JOB && this.#jobs.size[head] <= this.#pool.free) {
      list.removeFirst();
      this.#launch(head, StartRule.head);
      this.#reservedFor = NO_JOB;
      head = list.first();
    }
    return head;
  }

  /**
   * The same with known outages or resources, by a plan that is rebuilt each time. With outages, the number
   * of free processors can also fall over time, so a shadow time and a spare count are not enough.
   */
  #decideByPlan(): void {
    this.#reservedFor = NO_JOB;
    const plan = Plan.of(this.#pool, this.#jobs, this.#running, this.#expectedEndS);
    const list = this.#queue.list;
    let head = list.first();
    for (; head !== NO_JOB && this.#startsByPlan(plan, head); head = list.first()) {
      list.removeFirst();
      this.#launch(head, StartRule.head);
    }
    if (head === NO_JOB) return;
    const { estimateS } = this.#jobs;
    // A reservation of length 0 would keep nothing free when the job starts.
    const lengthS = estimateS[head] > 0 ? estimateS[head] : 1;
    this.#shadowS = plan.earliest(head, lengthS, this.#pool.nowS);
    plan.reserve(head, this.#shadowS, this.#shadowS + lengthS);
    this.#pool.promise(head, this.#shadowS);
    list.startSearch(1);
    for (;;) {
      const job = list.nextFitting(this.#pool.free, Number.POSITIVE_INFINITY, this.#pool.free);
      if (job === NO_JOB) return;
      if (this.#startsByPlan(plan, job)) {
        list.takeFound();
        this.#launch(job, this.#endsByShadow(job) ? StartRule.beforeShadow : StartRule.spareProcessors);
      } else list.skipFound();
    }
  }

  /** Whether the job can start now and run for its estimate. If so, adds it to the plan. */
  #startsByPlan(plan: Plan, job: JobIndex): boolean {
    const { nowS } = this.#pool;
    const lengthS = this.#jobs.estimateS[job];
    if (!this.#pool.fits(job) || plan.earliest(job, lengthS, nowS) > nowS) return false;
    plan.reserve(job, nowS, nowS + lengthS);
    return true;
  }

  #reserve(head: JobIndex): void {
    const free = this.#pool.free;
    this.#running.cover(this.#jobs.size[head] - free);
    this.#reservedFor = head;
    this.#shadowS = this.#running.coverKey;
    this.#spare = free + this.#running.coverSum - this.#jobs.size[head];
    this.#pool.promise(head, this.#shadowS);
  }

  #backfill(): void {
    const list = this.#queue.list;
    // Sums of times are rounded: the search returns all jobs that may end by the shadow time, and
    // endsByShadow decides.
    const maxLengthS = this.#shadowS - this.#pool.nowS + this.#shadowS * ROUNDING;
    list.startSearch(1);
    while (this.#pool.free > 0) {
      const job = list.nextFitting(this.#pool.free, maxLengthS, this.#spare);
      if (job === NO_JOB) return;
      const inTime = this.#endsByShadow(job);
      if (inTime || this.#jobs.size[job] <= this.#spare) {
        list.takeFound();
        this.#pass(job, inTime);
      } else list.skipFound();
    }
  }

  /** Jobs that start at once never enter the queue. */
  #backfillArrivals(arrived: readonly JobIndex[]): void {
    const arrivals = this.#queue.inQueueOrder(arrived);
    for (let i = 0; i < arrivals.length; i++) {
      const job = arrivals[i];
      const size = this.#jobs.size[job];
      const inTime = this.#endsByShadow(job);
      if (size <= this.#pool.free && (inTime || size <= this.#spare)) this.#pass(job, inTime);
      else this.#queue.add(job);
    }
  }

  /**
   * Whether a job that starts now ends by the shadow time; computes exactly the same sum as for its expected
   * end.
   */
  #endsByShadow(job: JobIndex): boolean {
    return this.#pool.nowS + this.#jobs.estimateS[job] <= this.#shadowS;
  }

  /** Starts a job past the head. */
  #pass(job: JobIndex, inTime: boolean): void {
    if (!inTime) this.#spare -= this.#jobs.size[job];
    this.#launch(job, inTime ? StartRule.beforeShadow : StartRule.spareProcessors);
  }

  #launch(job: JobIndex, rule: StartRule): void {
    this.#run(job, this.#pool.nowS);
    this.#pool.start(job, rule);
  }

  #run(job: JobIndex, startS: number): void {
    const endS = startS + this.#jobs.estimateS[job];
    this.#expectedEndS.set(job, endS);
    this.#running.insert(job, endS);
  }
}

export const easy: SpacePolicyDefinition = {
  name: "easy",
  title: "EASY backfilling",
  sharing: "space",
  summary:
    "The first job that does not fit gets a reservation; other jobs may pass it if they do not delay that reservation.",
  rules: [
    "jobs start in queue order as long as they fit",
    "the first job that does not fit (the head) holds the only reservation",
    "the shadow time is the earliest time at which the head fits if every running job ends at its estimate",
    "the spare processors are those that are free at the shadow time, after every end expected by then, and that the head does not need",
    "the rest of the queue is searched once, in order; a job that fits now starts if it ends by the shadow time according to its estimate, or if it uses only spare processors",
    DECIDES_ONCE,
    SEES_ESTIMATES,
  ],
  source: "Lifka, JSSPP 1995; Skovira, Chan, Zhou and Lifka, JSSPP 1996",
  parameters: [ORDER_PARAMETER],
  copesWith: () => ["outages", "resources"],
  guarantees: (parameters) => ({
    headNeverFits: true,
    workConserving: false,
    // In any other order, an arrival may become the head and take the only reservation.
    keepsPromises: parameters.order === "arrival",
    reservesHead: true,
    avoidsOutages: true,
  }),
  capabilities: { withdraw: true, restore: true },
  make: (pool, jobs, parameters) => new EasyBackfilling(pool, jobs, parameters),
};
