/**
 * Keeps waiting jobs away from a policy for a while: jobs that are held or changed (core/interruptions.ts),
 * all of them during a drain, and those for which limits leave no room.
 */
import type { Drain, JobChange, Withdrawal } from "../core/interruptions.ts";
import { type JobIndex, NO_JOB } from "../core/jobs.ts";
import type { Policy } from "../core/policy.ts";
import type { Arrivals } from "./arrivals.ts";
import type { JobLimits } from "./job-limits.ts";
import { TimedEvents } from "./timed-events.ts";

/** What a machine knows about its jobs. */
interface MachineJobs {
  /** Rows of the table. */
  readonly count: number;
  isWaiting(job: JobIndex): boolean;
  /** Whether the job has not arrived. */
  isUnknown(job: JobIndex): boolean;
  /** Whether the job has run before. */
  hasStarted(job: JobIndex): boolean;
  /** The job may be started from now on, or may not. */
  setWaiting(job: JobIndex, isWaiting: boolean): void;
  change(job: JobIndex, change: JobChange): void;
}

/** The policy, which learns that waiting jobs leave its queue. */
type Queue = Pick<Policy, "withdraw">;

export class Withholder {
  readonly #jobs: MachineJobs;
  readonly #arrivals: Arrivals;
  /** How often each job is withdrawn at present. */
  readonly #times = new Map<JobIndex, number>();
  /** Undefined: there are none. */
  readonly #limits: JobLimits | undefined;
  readonly #hasPriorities: boolean;
  /** The job submitted last of those that have waited. */
  #last: JobIndex = NO_JOB;
  #isClosed = false;
  #hasTold = false;

  /**
   * @param arrivals those of the machine
   * @param hasPriorities then somebody else sees to it that jobs arrive again (simulator/service-order.ts)
   */
  constructor(jobs: MachineJobs, arrivals: Arrivals, limits: JobLimits | undefined, hasPriorities: boolean) {
    this.#hasPriorities = hasPriorities;
    this.#jobs = jobs;
    this.#arrivals = arrivals;
    this.#limits = limits;
  }

  get hasLimits(): boolean {
    return this.#limits !== undefined;
  }

  /** Whether the policy has lost or gets waiting jobs, since the last call. */
  takeNews(): boolean {
    const hasTold = this.#hasTold;
    this.#hasTold = false;
    return hasTold || this.#arrivals.hasSome;
  }

  #tell(policy: Queue, job: JobIndex): void {
    this.#hasTold = true;
    policy.withdraw!(job);
  }

  /** The job waits from now on, unless it is withdrawn or limits keep it. */
  wait(job: JobIndex): void {
    if (job > this.#last) this.#last = job;
    const isHere =
      (this.#times.size === 0 || !this.#times.has(job)) &&
      (this.#limits === undefined || this.#limits.mayStart(job));
    this.#jobs.setWaiting(job, isHere);
    if (isHere) this.#arrivals.add(job);
  }

  /** All waiting jobs arrive again, in order of submission: there is a new policy. */
  arriveAgain(): void {
    const { present } = this.#arrivals;
    for (let job = 0; job < this.#jobs.count; job++) {
      if (this.#jobs.isWaiting(job) && !present.has(job)) this.#arrivals.add(job);
    }
    this.#arrivals.sort();
  }

  /** Nothing starts from now on. */
  close(policy: Queue): void {
    const waiting: JobIndex[] = [];
    for (let job = 0; job < this.#jobs.count; job++) {
      if (!this.#jobs.isWaiting(job)) continue;
      if (!this.#arrivals.remove(job)) this.#tell(policy, job);
      if (this.#yield(job)) this.#jobs.setWaiting(job, false);
      else waiting.push(job);
    }
    this.#isClosed = true;
    this.#arrivals.close(waiting);
  }

  open(): void {
    this.#isClosed = false;
    this.#limits?.unsettle();
    this.#arrivals.open();
  }

  /** Returns whether limits keep the job now; those of a job that has started count until its end. */
  #yield(job: JobIndex): boolean {
    return this.#limits !== undefined && !this.#jobs.hasStarted(job) && this.#limits.yield(job);
  }

  /** The job has ended. */
  leave(job: JobIndex): void {
    this.#limits?.leave(job);
  }

  /** Lets the policy have the jobs for which limits leave room now. The jobs behind them arrive again. */
  settle(policy: Queue): void {
    const jobs = this.#limits?.settle((job) => !this.#isClosed && !this.#times.has(job)) ?? [];
    if (jobs.length === 0) return;
    this.#makeWay(jobs[0], policy);
    for (const job of jobs) this.wait(job);
    this.#arrivals.sort();
  }

  /**
   * The job leaves the queue, or will not enter it; perhaps it is changed. Returns false if it has started.
   */
  withdraw(job: JobIndex, policy: Queue, change: JobChange | undefined): boolean {
    const times = this.#times.get(job) ?? 0;
    const isWaiting = this.#jobs.isWaiting(job);
    const isKept = isWaiting || this.#jobs.isUnknown(job) || this.#limits?.isWaiting(job) === true;
    if (!isKept && times === 0) return false;
    if (isWaiting) {
      if (!this.#arrivals.remove(job)) this.#tell(policy, job);
      this.#jobs.setWaiting(job, false);
    }
    this.#times.set(job, times + 1);
    this.#yield(job);
    // It keeps no room for itself now.
    this.#limits?.unsettle();
    if (change === undefined) return true;
    this.#jobs.change(job, change);
    this.#limits?.change(job, change);
    return true;
  }

  /**
   * Undoes a withdrawal; after the last one, the job waits again. It keeps its place in the queue, so the
   * jobs behind it arrive again after it.
   */
  bringBack(job: JobIndex, policy: Queue): void {
    const times = this.#times.get(job)! - 1;
    if (times > 0) this.#times.set(job, times);
    else this.#times.delete(job);
    if (times > 0 || this.#jobs.isUnknown(job)) return;
    this.#limits?.unsettle();
    if (this.#limits?.mayStart(job) !== false) this.#makeWay(job, policy);
    this.wait(job);
    this.#arrivals.sort();
  }

  /** The jobs behind this one arrive again. */
  #makeWay(job: JobIndex, policy: Queue): void {
    if (this.#hasPriorities) return;
    const { present } = this.#arrivals;
    for (let other = job + 1; other <= this.#last; other++) {
      if (!this.#jobs.isWaiting(other) || present.has(other)) continue;
      this.#tell(policy, other);
      this.#arrivals.add(other);
    }
  }
}

/** Drains and withdrawals in order of time. They happen after the arrivals of their instant. */
export class WithdrawalQueue extends TimedEvents<Withholder, Queue> {
  constructor(drains: readonly Drain[] = [], withdrawals: readonly Withdrawal[] = []) {
    super([
      ...drains.flatMap(({ fromS, untilS }) => [
        { timeS: fromS, rank: 0, happen: (machine: Withholder, policy: Queue) => machine.close(policy) },
        { timeS: untilS, rank: 1, happen: (machine: Withholder) => machine.open() },
      ]),
      ...withdrawals.flatMap(({ job, fromS, untilS, change }) => {
        let isAway = false;
        return [
          {
            timeS: fromS,
            rank: 2,
            happen: (machine: Withholder, policy: Queue) => {
              isAway = machine.withdraw(job, policy, change);
            },
          },
          {
            timeS: untilS,
            rank: 3,
            happen: (machine: Withholder, policy: Queue) => isAway && machine.bringBack(job, policy),
          },
        ];
      }),
    ]);
  }
}
