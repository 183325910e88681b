/**
 * Space sharing in virtual time: a pool of processors, each given to one job at a time until the job ends. Processors are
 * interchangeable, so the pool counts them; metrics/processors.ts says afterwards which ones a job had.
 */
import { RuleViolation } from "../core/errors.ts";
import type { Instance, JobIndex } from "../core/jobs.ts";
import type { ParameterValues, Policy, Pool, SpacePolicyDefinition, StartRule } from "../core/policy.ts";
import { START_RULE_NAMES } from "../core/policy.ts";
import type { Observer, Schedule } from "../core/schedule.ts";
import { EventHeap } from "../structures/event-heap.ts";
import { policyView } from "./view.ts";

export interface PoolOptions {
  readonly observer?: Observer | undefined;
  /** Called every 65,536 instants with the number of jobs that have arrived. */
  readonly progress?: ((arrived: number) => void) | undefined;
}

const PROGRESS_MASK = 0xffff;
/** A policy that asks to be woken this often in a row without starting anything would go on for ever. */
const MOST_IDLE_WAKES = 1_000_000;

/**
 * Runs every job of the instance through the policy until nothing more can happen. A job that the policy never starts
 * has NaN as its start and end.
 * @throws RuleViolation when the policy decides something that is not allowed
 */
export function simulatePool(
  instance: Instance,
  definition: SpacePolicyDefinition,
  parameters: ParameterValues,
  options: PoolOptions = {},
): Schedule {
  const pool = new SimulatedPool(instance, options.observer);
  const policy = definition.make(pool, policyView(instance), parameters);
  const instants = runToEnd(instance, pool, policy, options);
  return { startS: pool.startS, endS: pool.endS, instants, startsByRule: pool.startsByRule, gang: undefined };
}

/** The event loop: departures, arrivals, one decision, per instant. Returns the number of instants. */
function runToEnd(instance: Instance, pool: SimulatedPool, policy: Policy, options: PoolOptions): number {
  const { count, submitS } = instance;
  const { ends } = pool;
  const observer = options.observer;
  let instants = 0;
  while (pool.arrived < count || ends.length > 0 || pool.wakeS < Number.POSITIVE_INFINITY) {
    const nextArrivalS = pool.arrived < count ? submitS[pool.arrived] : Number.POSITIVE_INFINITY;
    const nextEndS = ends.nextTime();
    const nowS = Math.min(nextEndS, nextArrivalS, pool.wakeS);
    if (nowS === pool.wakeS) pool.wakeS = Number.POSITIVE_INFINITY;
    pool.nowS = nowS;
    if (nowS < nextEndS && nowS < nextArrivalS) pool.countWake();
    while (ends.length > 0 && ends.nextTime() === nowS) {
      const job = ends.pop();
      pool.finish(job);
      policy.depart(job);
    }
    while (pool.arrived < count && submitS[pool.arrived] === nowS) {
      const job = pool.arrived++;
      if (observer?.arrived !== undefined) observer.arrived(nowS, job);
      policy.arrive(job);
    }
    policy.decide();
    if (observer?.decided !== undefined) observer.decided(nowS);
    if ((++instants & PROGRESS_MASK) === 0) options.progress?.(pool.arrived);
  }
  return instants;
}

class SimulatedPool implements Pool {
  readonly processors: number;
  free: number;
  nowS = 0;
  /** Jobs 0 … arrived − 1 have arrived. */
  arrived = 0;
  /** The instant for which a decision was asked; Infinity for none. */
  wakeS = Number.POSITIVE_INFINITY;
  #idleWakes = 0;
  readonly ends = new EventHeap();
  readonly startS: Float64Array;
  readonly endS: Float64Array;
  readonly startsByRule: number[] = new Array(START_RULE_NAMES.length).fill(0);
  readonly #instance: Instance;
  readonly #observer: Observer | undefined;

  constructor(instance: Instance, observer: Observer | undefined) {
    this.#instance = instance;
    this.#observer = observer;
    this.processors = instance.processors;
    this.free = instance.processors;
    this.startS = new Float64Array(instance.count).fill(Number.NaN);
    this.endS = new Float64Array(instance.count).fill(Number.NaN);
  }

  start(job: JobIndex, rule: StartRule): void {
    const size = this.#instance.size[job];
    // NaN in startS means "not started".
    if (!(job < this.arrived && size <= this.free && Number.isNaN(this.startS[job]))) this.#refuse(job);
    if (!Number.isInteger(rule) || this.startsByRule[rule] === undefined) this.#refuseRule(job, rule);
    this.free -= size;
    this.startS[job] = this.nowS;
    this.ends.push(this.nowS + this.#instance.runS[job], job);
    this.startsByRule[rule]++;
    this.#idleWakes = 0;
    if (this.#observer?.started !== undefined) this.#observer.started(this.nowS, job, rule);
  }

  promise(job: JobIndex, startS: number): void {
    if (this.#observer?.promised !== undefined) this.#observer.promised(this.nowS, job, startS);
  }

  wakeAt(timeS: number): void {
    if (!(timeS > this.nowS)) this.#refuseWake(timeS);
    this.wakeS = timeS;
  }

  /** @throws RuleViolation when the policy is woken again and again and never starts a job */
  countWake(): void {
    if (++this.#idleWakes < MOST_IDLE_WAKES) return;
    throw new RuleViolation(
      "wakes-for-ever",
      -1,
      this.nowS,
      `Cannot go on at ${this.nowS} s: the policy was woken ${MOST_IDLE_WAKES} times in a row at times of its own and started no job`,
    );
  }

  finish(job: JobIndex): void {
    this.free += this.#instance.size[job];
    this.endS[job] = this.nowS;
    if (this.#observer?.departed !== undefined) this.#observer.departed(this.nowS, job);
  }

  #refuseWake(timeS: number): never {
    throw new RuleViolation(
      "wake-in-the-past",
      -1,
      this.nowS,
      `Cannot wake at ${timeS} s: it is ${this.nowS} s`,
    );
  }

  #refuseRule(job: JobIndex, rule: number): never {
    throw new RuleViolation(
      "unknown-rule",
      job,
      this.nowS,
      `Cannot start job ${this.#instance.id[job]} by rule ${String(rule)}: expected a number from 0 to ${START_RULE_NAMES.length - 1}`,
    );
  }

  #refuse(job: JobIndex): never {
    const refuse = (rule: string, text: string): never => {
      throw new RuleViolation(rule, job, this.nowS, text);
    };
    if (!(Number.isInteger(job) && job >= 0 && job < this.#instance.count)) {
      return refuse(
        "unknown-job",
        `Cannot start job row ${job}: expected a row from 0 to ${this.#instance.count - 1}`,
      );
    }
    const id = this.#instance.id[job];
    if (job >= this.arrived) {
      return refuse(
        "start-before-arrival",
        `Cannot start job ${id} at ${this.nowS} s: it arrives at ${this.#instance.submitS[job]} s`,
      );
    }
    if (!Number.isNaN(this.startS[job])) {
      return refuse(
        "started-twice",
        `Cannot start job ${id} at ${this.nowS} s: it started at ${this.startS[job]} s`,
      );
    }
    return refuse(
      "processor-twice",
      `Cannot start job ${id} at ${this.nowS} s: it needs ${this.#instance.size[job]} processors, ${this.free} are free`,
    );
  }
}
