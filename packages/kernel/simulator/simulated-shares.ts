/**
 * Counts the usage of the users of a workload for policies with the queue order fair-share. A job uses its
 * processors for as long as it has run. Nothing is counted before a policy asks.
 */
import {
  EQUAL_SHARES,
  FairShare,
  type RunningUsage,
  type ShareIndex,
  type WorkloadShares,
} from "../core/fair-share.ts";
import { type Instance, type JobIndex, type ShareView, UNKNOWN, userOf } from "../core/jobs.ts";

/** What the simulated machine knows. */
interface SimulatedRun {
  readonly nowS: number;
  /** Jobs 0 … arrived − 1 have arrived. */
  readonly arrived: number;
  /** Whether the job has, or had, processors. */
  hasBegun(job: JobIndex): boolean;
  startedAtS(job: JobIndex): number;
  endedAtS(job: JobIndex): number;
  /** Running time so far of a job that has started. */
  ranS(job: JobIndex): number;
}

export class SimulatedShares implements ShareView {
  readonly #instance: Instance;
  readonly #run: SimulatedRun;
  readonly #shares: FairShare;
  /** Whether a policy has asked. */
  #isAsked = false;
  /** Jobs that had begun and not ended at the last update, in order. */
  #running: readonly JobIndex[] = [];
  // Jobs that have got processors since the last update, perhaps again, and that have ended since then.
  readonly #begun: JobIndex[] = [];
  readonly #ended: JobIndex[] = [];
  /** Users of the jobs that have arrived. Who will submit later would show in the levels of the others. */
  readonly #userOf: ShareIndex[] = [];

  /** @param instance with the sizes and run times that its jobs have now */
  constructor(instance: Instance, run: SimulatedRun) {
    const { shares = EQUAL_SHARES } = instance.workload;
    const { usedCpuS = {} }: WorkloadShares = shares;
    this.#instance = instance;
    this.#run = run;
    this.#shares = new FairShare(shares);
    for (const [user, cpuS] of Object.entries(usedCpuS)) this.#shares.add(this.#shares.userOf(user), cpuS, 0);
  }

  /** A job has got processors. */
  begin(job: JobIndex): void {
    if (this.#isAsked) this.#begun.push(job);
  }

  /** A job has ended. */
  end(job: JobIndex): void {
    if (this.#isAsked) this.#ended.push(job);
  }

  update(): void {
    this.#meetUsers();
    if (!this.#isAsked) this.#lookBack();
    this.#chargeEnded();
    const { nowS } = this.#run;
    const running: RunningUsage[] = [];
    this.#running = this.#stillRunning();
    for (const job of this.#running) {
      const ageS = nowS - this.#run.startedAtS(job);
      // A gang may be in the matrix and not have had a slot yet.
      if (Number.isNaN(ageS)) continue;
      const cpuS = this.#instance.size[job] * this.#run.ranS(job);
      running.push({ user: this.#userOf[job], cpuS, ageS });
    }
    this.#shares.compute(nowS, running);
  }

  level(job: JobIndex): number {
    this.#meetUsers();
    return job < this.#userOf.length ? this.#shares.levelOf(this.#userOf[job]) : 0;
  }

  user(job: JobIndex): ShareIndex | undefined {
    this.#meetUsers();
    return this.#userOf[job];
  }

  /** Finds the jobs that began or ended before a policy asked. */
  #lookBack(): void {
    this.#isAsked = true;
    for (let job = 0; job < this.#run.arrived; job++) {
      if (!Number.isNaN(this.#run.endedAtS(job))) this.#ended.push(job);
      else if (this.#run.hasBegun(job)) this.#begun.push(job);
    }
  }

  /** Charges what ended jobs have used, the earliest first: the order of additions decides the last digit. */
  #chargeEnded(): void {
    const { size, runS } = this.#instance;
    const endS = (job: JobIndex) => this.#run.endedAtS(job);
    for (const job of this.#ended.sort((a, b) => endS(a) - endS(b) || a - b)) {
      const tookS = endS(job) - this.#run.startedAtS(job);
      this.#shares.charge(this.#userOf[job], size[job] * runS[job], tookS, endS(job));
    }
    this.#ended.length = 0;
  }

  /** In order of the jobs, for the same reason. */
  #stillRunning(): readonly JobIndex[] {
    const running = this.#running.filter((job) => Number.isNaN(this.#run.endedAtS(job)));
    if (this.#begun.length === 0) return running;
    // A job that was stopped and resumed has begun more than once.
    const begun = this.#begun.filter((job) => Number.isNaN(this.#run.endedAtS(job)));
    this.#begun.length = 0;
    return [...new Set([...running, ...begun])].sort((a, b) => a - b);
  }

  #meetUsers(): void {
    const { workload, workloadRow } = this.#instance;
    for (let job = this.#userOf.length; job < this.#run.arrived; job++) {
      const user = this.#shares.userOf(userOf(workload, workloadRow?.[job] ?? job) ?? String(UNKNOWN));
      this.#userOf.push(user);
    }
  }
}
