/**
 * Simulates space sharing: drives the machine of machines/pool-machine.ts in virtual time. Processors are
 * interchangeable, so the pool only counts them. Afterwards, metrics/processors.ts assigns them to jobs.
 */
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { ParameterValues, Policy, SpacePolicyDefinition } from "../core/policy.ts";
import type { Observer, Schedule } from "../core/schedule.ts";
import { InterruptionQueue } from "../machines/interruptions.ts";
import { PoolMachine } from "../machines/pool-machine.ts";
import { EventHeap } from "../structures/event-heap.ts";
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
  const policy = definition.make(pool, pool.shown.table, parameters);
  const instants = runToEnd(instance, pool, policy, options);
  const { startS, endS, startsByRule, given, pauses } = pool;
  return { startS, endS, instants, startsByRule, given, pauses: pauses.list, gang: undefined };
}

/**
 * The event loop. Each instant has departures, interruptions, arrivals, one decision. Returns the number of
 * instants.
 */
function runToEnd(instance: Instance, pool: SimulatedPool, policy: Policy, options: PoolOptions): number {
  const { count, submitS } = instance;
  const { ends } = pool;
  const observer = options.observer;
  const interruptions = new InterruptionQueue(instance.interruptions);
  let instants = 0;
  for (;;) {
    const nextArrivalS = pool.arrived < count ? submitS[pool.arrived] : Number.POSITIVE_INFINITY;
    const nextEndS = ends.nextTime();
    const nowS = Math.min(nextEndS, nextArrivalS, pool.wakeS, interruptions.nextS);
    if (nowS === Number.POSITIVE_INFINITY) return instants;
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
  readonly given: Schedule["given"];
  readonly #instance: Instance;
  readonly #runS: Float64Array;
  /** Remaining run time of jobs that have been stopped. */
  readonly #leftS = new Map<JobIndex, number>();
  readonly #leftEstimateS = new Map<JobIndex, number>();

  constructor(instance: Instance, observer: Observer | undefined) {
    const isMoldable = instance.molding !== undefined;
    const size = isMoldable ? instance.size.slice() : instance.size;
    super(instance.processors, size, observer, instance);
    this.#instance = instance;
    this.shown = new VisibleJobs(instance);
    this.given = isMoldable ? { size, runS: instance.runS.slice() } : undefined;
    this.#runS = this.given?.runS ?? instance.runS;
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
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
    this.leave(job);
  }

  protected onStart(job: JobIndex): void {
    this.ends.push(this.nowS + this.#stillS(job), job);
    this.#idleWakes = 0;
  }

  protected onSuspend(job: JobIndex): void {
    const leftS = this.ends.remove(job) - this.nowS;
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
    this.#runS[job] *= factor;
    this.shown.mold(job, this.given!.size[job], factor);
  }

  /** Run time of a job from its start, or from the instant at which it continues. */
  #stillS(job: JobIndex): number {
    const leftS = this.#leftS.size > 0 ? this.#leftS.get(job) : undefined;
    return leftS ?? this.#runS[job];
  }

  /** The job's number in the source, as in tables. */
  protected override jobName(job: JobIndex): string {
    return String(this.#instance.id[job]);
  }
}
