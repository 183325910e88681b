/**
 * Keeps waiting jobs away from a policy for a while: jobs that are held or changed (core/interruptions.ts),
 * and all of them during a drain.
 */
import type { Drain, JobChange, Withdrawal } from "../core/interruptions.ts";
import type { JobIndex } from "../core/jobs.ts";
import type { Policy } from "../core/policy.ts";
import type { Arrivals } from "./arrivals.ts";
import { TimedEvents } from "./timed-events.ts";

/** What a machine knows about its jobs. */
interface MachineJobs {
  /** Rows of the table. */
  readonly count: number;
  isWaiting(job: JobIndex): boolean;
  /** Whether the job has not arrived. */
  isUnknown(job: JobIndex): boolean;
  /** The job may be started from now on, or may not. */
  setWaiting(job: JobIndex, isWaiting: boolean): void;
  change(job: JobIndex, change: JobChange): void;
}

export class Withholder {
  readonly #jobs: MachineJobs;
  readonly #arrivals: Arrivals;
  /** How often each job is withdrawn at present. */
  readonly #times = new Map<JobIndex, number>();
  #hasTold = false;

  /** @param arrivals those of the machine */
  constructor(jobs: MachineJobs, arrivals: Arrivals) {
    this.#jobs = jobs;
    this.#arrivals = arrivals;
  }

  /** Whether the policy has lost or gets waiting jobs, since the last call. */
  takeNews(): boolean {
    const hasTold = this.#hasTold;
    this.#hasTold = false;
    return hasTold || this.#arrivals.hasSome;
  }

  #tell(policy: Policy, job: JobIndex): void {
    this.#hasTold = true;
    policy.withdraw!(job);
  }

  /** The job waits from now on, unless it is withdrawn. */
  wait(job: JobIndex): void {
    const isHere = this.#times.size === 0 || !this.#times.has(job);
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
  close(policy: Policy): void {
    const waiting: JobIndex[] = [];
    for (let job = 0; job < this.#jobs.count; job++) {
      if (!this.#jobs.isWaiting(job)) continue;
      if (!this.#arrivals.remove(job)) this.#tell(policy, job);
      waiting.push(job);
    }
    this.#arrivals.close(waiting);
  }

  open(): void {
    this.#arrivals.open();
  }

  /**
   * The job leaves the queue, or will not enter it; perhaps it is changed. Returns false if it has started.
   */
  withdraw(job: JobIndex, policy: Policy, change: JobChange | undefined): boolean {
    const times = this.#times.get(job) ?? 0;
    const isWaiting = this.#jobs.isWaiting(job);
    if (!isWaiting && !this.#jobs.isUnknown(job) && times === 0) return false;
    if (isWaiting) {
      if (!this.#arrivals.remove(job)) this.#tell(policy, job);
      this.#jobs.setWaiting(job, false);
    }
    this.#times.set(job, times + 1);
    if (change !== undefined) this.#jobs.change(job, change);
    return true;
  }

  /**
   * Undoes a withdrawal; after the last one, the job waits again. It keeps its place in the queue, so the
   * jobs behind it arrive again after it.
   */
  bringBack(job: JobIndex, policy: Policy): void {
    const times = this.#times.get(job)! - 1;
    if (times > 0) this.#times.set(job, times);
    else this.#times.delete(job);
    if (times > 0 || this.#jobs.isUnknown(job)) return;
    const { present } = this.#arrivals;
    for (let other = job + 1; other < this.#jobs.count; other++) {
      if (!this.#jobs.isWaiting(other) || present.has(other)) continue;
      this.#tell(policy, other);
      this.#arrivals.add(other);
    }
    this.wait(job);
    this.#arrivals.sort();
  }
}

/** Drains and withdrawals in order of time. They happen after the arrivals of their instant. */
export class WithdrawalQueue extends TimedEvents<Withholder> {
  constructor(drains: readonly Drain[] = [], withdrawals: readonly Withdrawal[] = []) {
    super([
      ...drains.flatMap(({ fromS, untilS }) => [
        { timeS: fromS, rank: 0, happen: (machine: Withholder, policy: Policy) => machine.close(policy) },
        { timeS: untilS, rank: 1, happen: (machine: Withholder) => machine.open() },
      ]),
      ...withdrawals.flatMap(({ job, fromS, untilS, change }) => {
        let isAway = false;
        return [
          {
            timeS: fromS,
            rank: 2,
            happen: (machine: Withholder, policy: Policy) => {
              isAway = machine.withdraw(job, policy, change);
            },
          },
          {
            timeS: untilS,
            rank: 3,
            happen: (machine: Withholder, policy: Policy) => isAway && machine.bringBack(job, policy),
          },
        ];
      }),
    ]);
  }
}
