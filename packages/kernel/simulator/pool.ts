/**
 * Simulates space sharing: drives the machine of machines/pool-machine.ts in virtual time. Processors are
 * interchangeable, so the pool only counts them. Afterwards, metrics/processors.ts assigns them to jobs.
 */
import { expectedPauseS, type JobChange } from "../core/interruptions.ts";
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition } from "../core/policy.ts";
import type { Observer, Schedule } from "../core/schedule.ts";
import { FreezeQueue, InterruptionQueue } from "../machines/interruptions.ts";
import { limitsOf } from "../machines/job-limits.ts";
import { PoolMachine } from "../machines/pool-machine.ts";
import { WithdrawalQueue } from "../machines/withdrawals.ts";
import { EventHeap } from "../structures/event-heap.ts";
import { changeJob, withOwnColumns } from "./changing-jobs.ts";
import { makeInOrder, poolInOrder } from "./service-order.ts";
import { SimulatedShares } from "./simulated-shares.ts";
import { VisibleJobs } from "./visible-jobs.ts";

interface PoolOptions {
  readonly observer?: Observer | undefined;
  /** Called every 65,536 instants with the number of jobs that have arrived. */
  readonly progress?: ((arrived: number) => void) | undefined;
}

const PROGRESS_MASK = 0xffff;
/**
 * A policy that is woken this many times in a row at its own request, without starting a job, would never
 * stop.
 */
const MAX_IDLE_WAKES = 1_000_000;

/**
 * Runs the jobs of the instance through the policy until nothing more can happen. The start and end of a job
 * that the policy never starts are NaN.
 * @throws RuleViolation if the policy makes a decision that is not allowed
 */
export function simulatePool(
  instance: Instance,
  definition: SpacePolicyDefinition,
  parameters: ParameterValues,
  options: PoolOptions = {},
): Schedule {
  const pool = new SimulatedPool(instance, options.observer);
  const make = () =>
    makeInOrder<Pool>(pool, pool.shown.table, pool.priority, poolInOrder, (machine, jobs) =>
      definition.make(machine, jobs, parameters),
    );
  const instants = runToEnd(instance, pool, make, options);
  const { startS, endS, startsByRule, given, pauses } = pool;
  return { startS, endS, instants, startsByRule, given, pauses: pauses.list, gang: undefined };
}

/**
 * The event loop. Each instant has departures, interruptions, arrivals, withdrawals, one decision. Returns
 * the number of instants.
 */
function runToEnd(instance: Instance, pool: SimulatedPool, make: () => Policy, options: PoolOptions): number {
  let policy = make();
  const { count, submitS } = instance;
  const { ends } = pool;
  const observer = options.observer;
  const { hasLimits } = pool.withholder;
  const interruptions = new InterruptionQueue(instance.interruptions);
  const { drains, withdrawals: ofJobs } = instance.interruptions ?? {};
  const withdrawals = new WithdrawalQueue(drains, ofJobs);
  const freezes = new FreezeQueue(instance.interruptions?.freezes);
  let instants = 0;
  for (;;) {
    const nextArrivalS = pool.arrived < count ? submitS[pool.arrived] : Number.POSITIVE_INFINITY;
    const nextEndS = ends.nextTime();
    const nowS = Math.min(
      nextEndS,
      nextArrivalS,
      pool.wakeS,
      interruptions.nextS,
      withdrawals.nextS,
      freezes.nextS,
    );
    if (nowS === Number.POSITIVE_INFINITY) return instants;
    let hasNews = nowS === pool.wakeS || nowS === nextEndS || nowS === interruptions.nextS;
    if (nowS === pool.wakeS) pool.wakeS = Number.POSITIVE_INFINITY;
    pool.nowS = nowS;
    if (nowS < nextEndS && nowS < nextArrivalS) pool.countWake();
    while (ends.length > 0 && ends.nextTime() === nowS) {
      const job = ends.pop();
      pool.finish(job);
      policy.depart(job);
    }
    if (interruptions.nextS === nowS) interruptions.happen(nowS, pool, policy);
    while (pool.arrived < count && submitS[pool.arrived] === nowS) pool.arrive();
    if (withdrawals.nextS === nowS) withdrawals.happen(nowS, pool.withholder, policy);
    if (hasLimits) pool.withholder.settle(policy);
    if (freezes.nextS === nowS) freezes.happen(nowS, pool, policy);
    hasNews = pool.withholder.takeNews() || hasNews;
    const isMisled = pool.misleads(nowS, hasNews);
    // Of jobs that limits keep, the policy learns nothing.
    if (hasLimits && !hasNews && !isMisled) continue;
    if (isMisled) {
      // The policy expects other ends than those that are possible now.
      policy = make();
      pool.takeOver(policy);
    }
    policy.decide(pool.takeArrivals());
    if (observer?.decided !== undefined) observer.decided(nowS);
    if ((++instants & PROGRESS_MASK) === 0) options.progress?.(pool.arrived);
  }
}

class SimulatedPool extends PoolMachine {
  /** Jobs 0 … arrived − 1 have arrived. */
  arrived = 0;
  /** The instant for which the policy requested a decision; Infinity for none. */
  wakeS = Number.POSITIVE_INFINITY;
  #idleWakes = 0;
  readonly ends = new EventHeap();
  readonly endS: Float64Array;
  readonly shown: VisibleJobs;
  readonly #shares: SimulatedShares;
  readonly given: Schedule["given"];
  /** The instance, with what its jobs have now. */
  readonly #own: Instance;
  /** Jobs that stand still, since when, and how much of their run time is left. */
  readonly #frozen = new Map<JobIndex, { readonly sinceS: number; readonly leftS: number }>();
  #hasFrozen = false;
  /** When the first frozen job should have ended. */
  #expectedEndS = Number.POSITIVE_INFINITY;
  /** Remaining run time of jobs that have been stopped. */
  readonly #leftS = new Map<JobIndex, number>();
  readonly #leftEstimateS = new Map<JobIndex, number>();

  constructor(instance: Instance, observer: Observer | undefined) {
    const own = withOwnColumns(instance);
    super(instance.processors, own.size, observer, { ...own, limits: limitsOf(own) });
    this.#own = own;
    this.shown = new VisibleJobs(own);
    this.#shares = new SimulatedShares(own, this);
    this.shown.table.shares = this.#shares;
    this.given = own === instance ? undefined : { size: own.size, runS: own.runS };
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
  }

  /** Present priority of each job; undefined: that of all jobs is the same. */
  get priority(): Int32Array | undefined {
    return this.#own.priority;
  }

  wakeAt(timeS: number): void {
    if (!(timeS > this.nowS)) {
      throw this.violation(
        "wake-in-the-past",
        -1,
        `Cannot wake the policy at ${timeS} s: it is ${this.nowS} s, expected a later time`,
      );
    }
    this.wakeS = timeS;
  }

  /** @throws RuleViolation if the policy is woken again and again and never starts a job */
  countWake(): void {
    if (++this.#idleWakes < MAX_IDLE_WAKES) return;
    throw this.violation(
      "wakes-for-ever",
      -1,
      `Cannot continue at ${this.nowS} s: the policy was woken ${MAX_IDLE_WAKES} times in a row at its own request and started no job`,
    );
  }

  /** The next job arrives. */
  arrive(): void {
    const job = this.arrived++;
    this.shown.add();
    this.enter(job);
  }

  override takeArrivals(): readonly JobIndex[] {
    return super.takeArrivals();
  }

  finish(job: JobIndex): void {
    this.endS[job] = this.nowS;
    this.#shares.end(job);
    this.leave(job);
    this.withholder.leave(job);
  }

  protected onStart(job: JobIndex): void {
    this.ends.push(this.nowS + this.#stillS(job), job);
    this.#shares.begin(job);
    this.#idleWakes = 0;
  }

  protected onSuspend(job: JobIndex): void {
    const frozen = this.#frozen.get(job);
    this.#frozen.delete(job);
    const leftS = frozen?.leftS ?? this.ends.remove(job) - this.nowS;
    const ranS = this.#stillS(job) - leftS;
    this.#leftS.set(job, leftS);
    // The difference is rounded, but the estimate must not be below the remaining run time.
    this.#leftEstimateS.set(job, Math.max(leftS, this.shown.table.estimateS[job] - ranS));
  }

  override resume(job: JobIndex): void {
    this.shown.addAgain(job, this.#leftEstimateS.get(job) as number);
    super.resume(job);
  }

  protected override onMold(job: JobIndex, factor: number): void {
    this.#own.runS[job] *= factor;
    this.shown.mold(job, this.given!.size[job], factor);
  }

  protected override onChange(job: JobIndex, change: JobChange): void {
    changeJob(this.#own, job, change);
    this.shown.refresh(job);
  }

  /** A running job stands still and keeps its processors. Returns false if it does not run. */
  freeze(job: JobIndex): boolean {
    if (!this.isRunning(job) || this.#frozen.has(job)) return false;
    this.#frozen.set(job, { sinceS: this.nowS, leftS: this.ends.remove(job) - this.nowS });
    this.pauses.begin(job, this.nowS);
    this.#hasFrozen = true;
    return true;
  }

  /** Has no effect if the job has lost its processors meanwhile. */
  thaw(job: JobIndex): void {
    const frozen = this.#frozen.get(job);
    if (frozen === undefined) return;
    this.ends.push(this.nowS + frozen.leftS, job);
    this.#frozen.delete(job);
    this.pauses.end(job, this.nowS);
    this.#hasFrozen = true;
  }

  /**
   * Whether a job was frozen or thawed, or is still frozen at the end that was expected, which nobody notices
   * while there is nothing to decide.
   */
  misleads(nowS: number, hasNews: boolean): boolean {
    return this.#hasFrozen || (hasNews && this.#expectedEndS <= nowS);
  }

  /** A new policy learns of the running jobs, the one that has run longest first, and of the waiting ones. */
  takeOver(policy: Policy): void {
    const { nowS } = this;
    const { estimateS } = this.shown.table;
    this.#hasFrozen = false;
    this.#expectedEndS = Number.POSITIVE_INFINITY;
    this.wakeS = Number.POSITIVE_INFINITY;
    const running = this.runningJobs().map((job) => {
      const frozen = this.#frozen.get(job);
      const leftS = frozen?.leftS ?? this.ends.timeOf(job) - nowS;
      return { job, frozen, ranS: this.#own.runS[job] - leftS };
    });
    for (const { job, frozen, ranS } of running.sort((a, b) => b.ranS - a.ranS || a.job - b.job)) {
      const pauseS = frozen === undefined ? 0 : expectedPauseS(nowS - frozen.sinceS);
      estimateS[job] = this.#own.estimateS[job] + pauseS;
      const endS = nowS - ranS + estimateS[job];
      if (frozen !== undefined) this.#expectedEndS = Math.min(this.#expectedEndS, endS);
      policy.restore!(job, nowS - ranS);
    }
    this.withholder.arriveAgain();
  }

  // What is counted for fair-share.

  hasBegun(job: JobIndex): boolean {
    return !Number.isNaN(this.startS[job]);
  }

  startedAtS(job: JobIndex): number {
    return this.startS[job];
  }

  endedAtS(job: JobIndex): number {
    return this.endS[job];
  }

  ranS(job: JobIndex): number {
    const frozen = this.#frozen.get(job);
    const leftS =
      frozen?.leftS ?? (this.isRunning(job) ? this.ends.timeOf(job) - this.nowS : this.#stillS(job));
    return this.#own.runS[job] - leftS;
  }

  /** Run time of a job from its start, or from the instant at which it continues. */
  #stillS(job: JobIndex): number {
    const leftS = this.#leftS.size > 0 ? this.#leftS.get(job) : undefined;
    return leftS ?? this.#own.runS[job];
  }

  /** The job's number in the source, as in tables. */
  protected override jobName(job: JobIndex): string {
    return String(this.#own.id[job]);
  }
}
