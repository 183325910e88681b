/**
 * Keeps waiting jobs of a simulated machine from its policy until limits leave room for them. The gate is
 * that of the live scheduler (structures/limit-gate.ts). Jobs are served in order of priority, then of
 * submission.
 */
import type { JobChange } from "../core/interruptions.ts";
import { type Instance, type JobIndex, queueOf, userOf } from "../core/jobs.ts";
import { type LimitSettings, limitsFor } from "../core/limits/job-limits.ts";
import { type Limit, LimitGate } from "../structures/limit-gate.ts";

/** Undefined if the source of the jobs states no limits. */
export function limitsOf(instance: Instance): JobLimits | undefined {
  const { limits } = instance.workload;
  return limits === undefined ? undefined : new JobLimits(instance, limits);
}

export class JobLimits {
  readonly #gate = new LimitGate<Limit>();
  readonly #instance: Instance;
  readonly #settings: LimitSettings;
  /** By key, so that each limit is one object. */
  readonly #limits = new Map<string, Limit>();
  /** Queues of jobs that have been moved to another one. */
  readonly #queues = new Map<JobIndex, string>();

  constructor(instance: Instance, settings: LimitSettings) {
    this.#instance = instance;
    this.#settings = settings;
  }

  /** Whether the job may start. One that asks for the first time waits until the next `settle`. */
  mayStart(job: JobIndex): boolean {
    if (this.#gate.has(job)) return this.#gate.isThrough(job);
    const { workload, workloadRow, size, priority } = this.#instance;
    const row = workloadRow?.[job] ?? job;
    const limits = this.#of(userOf(workload, row), this.#queues.get(job) ?? queueOf(workload, row));
    if (limits.length === 0) return true;
    const { cpus = size, isThrough } = workload.limits!;
    const asked = { cpus: cpus === size ? size[job] : cpus[row], priority: priority?.[job] ?? 0 };
    const limited = { job, limits, queueRank: job, ...asked };
    if (isThrough?.[row] !== 1) this.#gate.offer(limited);
    else this.#gate.hold(limited);
    return this.#gate.isThrough(job);
  }

  /** Whether the job has asked and may not start. */
  isWaiting(job: JobIndex): boolean {
    return this.#gate.has(job) && !this.#gate.isThrough(job);
  }

  /** A waiting job may not start: others may take its room. Returns false if it has no limits. */
  yield(job: JobIndex): boolean {
    this.#gate.yield(job);
    return this.#gate.has(job);
  }

  /** A waiting job has been changed, so it asks again. */
  change(job: JobIndex, { queue }: JobChange): void {
    if (queue !== undefined) this.#queues.set(job, queue);
    this.#gate.leave(job);
  }

  leave(job: JobIndex): void {
    this.#gate.leave(job);
  }

  /** Other jobs than before may be able to start. */
  unsettle(): void {
    this.#gate.unsettle();
  }

  /** The jobs for which there is room now, in the order in which they are served. */
  settle(canStart: (job: JobIndex) => boolean): readonly JobIndex[] {
    return this.#gate.settle(canStart);
  }

  #of(user: string | undefined, queue: string | undefined): Limit[] {
    return limitsFor(this.#settings, user, queue).map(([key, { runningCpus, runningJobs }]) => {
      const limit = this.#limits.get(key) ?? {
        key,
        maxCpus: runningCpus ?? Infinity,
        maxJobs: runningJobs ?? Infinity,
      };
      this.#limits.set(key, limit);
      return limit;
    });
  }
}
