/**
 * Compares queue orders that change over time with naive twins. These keep the waiting jobs in a plain list,
 * count all usage from the beginning, and sort the whole list at each decision.
 */
import { describe, expect, test } from "vitest";
import { EQUAL_SHARES, FairShare, type WorkloadShares } from "../core/fair-share.ts";
import type { Instance, JobIndex, JobsView } from "../core/jobs.ts";
import type { Pool, SpacePolicyDefinition } from "../core/policy.ts";
import { Random } from "../core/random.ts";
import type { Observer } from "../core/schedule.ts";
import { simulate } from "../simulator/simulate.ts";
import { definePolicy } from "./define-policy.ts";
import { conformanceInstances } from "./instances-for-tests.ts";
import { choosePolicy } from "./parse-policy.ts";

const SLOTS = { slotS: 1, switchS: 0 };
const SHARES: WorkloadShares = {
  halfLifeS: 300,
  users: { anna: 3, ben: 1 },
  groups: { physics: { shares: 2, users: { carl: 1, dora: 2 } } },
  usedCpuS: { carl: 1000 },
};
const USERS = ["anna", "ben", "carl", "dora", "emil"];

type Compare = (a: JobIndex, b: JobIndex) => number;
/** The order at an instant. */
type NaiveOrder = (pool: Pool, jobs: JobsView) => Compare;

const wfp: NaiveOrder = ({ nowS }, { size, estimateS, submitS }) => {
  const value = (job: JobIndex) => {
    const ratio = (nowS - submitS[job]) / Math.max(estimateS[job], 1);
    return size[job] * ratio * ratio * ratio;
  };
  return (a, b) => value(b) - value(a) || a - b;
};

/** Usage is counted from what has happened in the simulation so far. */
class NaiveShares implements Observer {
  readonly #instance: Instance;
  readonly #startS: number[] = [];
  readonly #ended: { job: JobIndex; endS: number }[] = [];
  readonly #running = new Set<JobIndex>();
  #arrived = 0;

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  arrived(): void {
    this.#arrived++;
  }

  started(timeS: number, job: JobIndex): void {
    this.#startS[job] = timeS;
    this.#running.add(job);
  }

  departed(timeS: number, job: JobIndex): void {
    this.#running.delete(job);
    this.#ended.push({ job, endS: timeS });
  }

  readonly order: NaiveOrder = ({ nowS }) => {
    const { size, runS, workload } = this.#instance;
    const settings: WorkloadShares = workload.shares ?? EQUAL_SHARES;
    const shares = new FairShare(settings);
    for (const [user, cpuS] of Object.entries(settings.usedCpuS ?? {}))
      shares.add(shares.userOf(user), cpuS, 0);
    const users = Array.from({ length: this.#arrived }, (_, job) => shares.userOf(userOf(workload, job)));
    const ended = [...this.#ended].sort((a, b) => a.endS - b.endS || a.job - b.job);
    for (const { job, endS } of ended)
      shares.charge(users[job], size[job] * runS[job], endS - this.#startS[job], endS);
    const running = [...this.#running].sort((a, b) => a - b);
    const usage = running.map((job) => {
      const ageS = nowS - this.#startS[job];
      return { user: users[job], cpuS: size[job] * ageS, ageS };
    });
    shares.compute(nowS, usage);
    return (a, b) => shares.levelOf(users[a]) - shares.levelOf(users[b]) || a - b;
  };
}

function userOf(workload: Instance["workload"], job: JobIndex): string {
  return workload.notes?.[job].user as string;
}

/** First come, first served, or first fit, in a naive order. */
function naivePolicy(order: NaiveOrder, passes: boolean): SpacePolicyDefinition {
  const make = (pool: Pool, jobs: JobsView) => {
    let waiting: JobIndex[] = [];
    return {
      depart() {},
      decide(arrived: readonly JobIndex[]) {
        waiting.push(...arrived);
        waiting.sort(order(pool, jobs));
        let isBlocked = false;
        waiting = waiting.filter((job) => {
          if (!isBlocked && pool.fits(job)) {
            pool.start(job);
            return false;
          }
          isBlocked ||= !passes;
          return true;
        });
      },
    };
  };
  return definePolicy({ name: "naive", sharing: "space", make }) as SpacePolicyDefinition;
}

/** The instance with a user for each job; many jobs of two users, few of the others. */
function withUsers(instance: Instance, shares: WorkloadShares | undefined): Instance {
  const random = new Random(1, instance.workload.name);
  const notes = Array.from({ length: instance.count }, () => ({
    user: USERS[random.below(random.below(5) + 1)],
  }));
  return { ...instance, workload: { ...instance.workload, notes, shares } };
}

describe.each(conformanceInstances().map((instance) => [instance.workload.name, instance] as const))(
  "%s",
  (_, instance) => {
    const startsOf = (whole: Instance, definition: SpacePolicyDefinition, observer: Observer = {}) => {
      const choice = { definition, parameters: {}, label: "naive" };
      return [...simulate(whole, choice, { ...SLOTS, observer }).startS];
    };

    test.each([
      ["fcfs", false],
      ["first-fit", true],
    ])("%s: all jobs start as by the naive twins", (policy, passes) => {
      const starts = (whole: Instance, order: string) => [
        ...simulate(whole, choosePolicy(`${policy}:order=${order}`), SLOTS).startS,
      ];
      expect(starts(instance, "wfp")).toEqual(startsOf(instance, naivePolicy(wfp, passes)));
      for (const shares of [SHARES, undefined]) {
        const owned = withUsers(instance, shares);
        const counted = new NaiveShares(owned);
        const naive = startsOf(owned, naivePolicy(counted.order, passes), counted);
        expect(starts(owned, "fair-share")).toEqual(naive);
      }
    });
  },
);
