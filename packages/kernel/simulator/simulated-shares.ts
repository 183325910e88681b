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
  startedAtS(job: JobIndex): number;
  endedAtS(job: JobIndex): number;
  /** Running time so far of a job that has started. */
  ranS(job: JobIndex): number;
}

export class SimulatedShares implements ShareView {
  readonly #instance: Instance;
  readonly #run: SimulatedRun;
  readonly #shares: FairShare;
  /** Jobs that have arrived and had not ended at the last update, with their users. */
  readonly #jobs = new Map<JobIndex, ShareIndex>();
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

  update(): void {
    const { nowS } = this.#run;
    this.#meetUsers();
    const { size, runS } = this.#instance;
    const running: RunningUsage[] = [];
    for (const [job, user] of this.#jobs) {
      const startS = this.#run.startedAtS(job);
      if (Number.isNaN(startS)) continue;
      const endS = this.#run.endedAtS(job);
      if (Number.isNaN(endS)) {
        running.push({ user, cpuS: size[job] * this.#run.ranS(job), ageS: nowS - startS });
        continue;
      }
      this.#shares.charge(user, size[job] * runS[job], endS - startS, endS);
      this.#jobs.delete(job);
    }
    this.#shares.compute(nowS, running);
  }

  level(job: JobIndex): number {
    this.#meetUsers();
    return job < this.#userOf.length ? this.#shares.levelOf(this.#userOf[job]) : 0;
  }

  #meetUsers(): void {
    const { workload, workloadRow } = this.#instance;
    for (let job = this.#userOf.length; job < this.#run.arrived; job++) {
      const user = this.#shares.userOf(userOf(workload, workloadRow?.[job] ?? job) ?? String(UNKNOWN));
      this.#userOf.push(user);
      this.#jobs.set(job, user);
    }
  }
}
