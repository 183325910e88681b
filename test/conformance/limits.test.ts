/**
 * Tests limits in simulations with schedules worked out by hand.
 * packages/live/daemon/scheduling/loop-limits.test.ts compares simulations with the live scheduler.
 */

import { InputError } from "@tutti/kernel/core/errors.ts";
import type { WorkloadLimits } from "@tutti/kernel/core/limits/job-limits.ts";
import { instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { describe, expect, test } from "vitest";

interface TestJob {
  readonly submitS: number;
  readonly runS: number;
  readonly size: number;
  readonly user?: string;
  readonly queue?: string;
}

/** Starts under a policy on 8 processors, with slots of 1 s. */
function startsOf(policy: string, limits: WorkloadLimits, jobs: readonly TestJob[]): number[] {
  const instance = instanceOf(8, jobs);
  const workload = { ...instance.workload, limits, notes: jobs.map(({ user, queue }) => ({ user, queue })) };
  return [...simulate({ ...instance, workload }, choosePolicy(policy), { slotS: 1, switchS: 0 }).startS];
}

describe("limits", () => {
  test("others pass a job that waits for its user's limit; the room that becomes free is kept for it", () => {
    const jobs = [
      { submitS: 0, runS: 10, size: 3, user: "anna" },
      { submitS: 1, runS: 10, size: 2, user: "anna" },
      { submitS: 2, runS: 10, size: 1, user: "anna" },
      { submitS: 3, runS: 10, size: 4, user: "ben" },
    ];
    // Anna may use 4: her second job waits for her first, and her third, which would fit, waits behind it.
    expect(startsOf("fcfs", { runningCpus: 4 }, jobs)).toEqual([0, 10, 10, 3]);
    expect(startsOf("wlv", { runningCpus: 4 }, jobs)).toEqual([0, 10, 10, 3]);
    expect(startsOf("fcfs", {}, jobs)).toEqual([0, 1, 2, 10]);
  });

  test("a job that is let through late takes its place before those that were submitted after it", () => {
    const jobs = [
      { submitS: 0, runS: 10, size: 4, user: "anna" },
      { submitS: 1, runS: 10, size: 4, user: "anna" },
      { submitS: 2, runS: 30, size: 4, user: "ben" },
      { submitS: 3, runS: 10, size: 8, user: "carla" },
      { submitS: 4, runS: 10, size: 4, user: "dora" },
    ];
    // At 10 s, anna's second job goes before carla's, which has waited as the head of the queue since 3 s.
    expect(startsOf("fcfs", { users: { anna: { runningJobs: 1 } } }, jobs)).toEqual([0, 10, 2, 32, 42]);
  });

  test("groups count all members together, queues everybody, and unknown users are under no limit", () => {
    const groups = { lab: { runningJobs: 1, users: ["anna", "ben"] } };
    const jobs = ["anna", "ben", "carla", undefined].map((user) => ({
      ...{ submitS: 0, runS: 10, size: 1, queue: "night" },
      ...(user !== undefined && { user }),
    }));
    expect(startsOf("easy", { groups }, jobs)).toEqual([0, 10, 0, 0]);
    expect(startsOf("easy", { queues: { night: { runningJobs: 2 } } }, jobs)).toEqual([0, 0, 10, 10]);
    expect(startsOf("easy", { runningJobs: 1 }, jobs)).toEqual([0, 0, 0, 0]);
  });

  test("jobs that are let through from the beginning count, even beyond the limit", () => {
    const jobs = [10, 20, 5].map((runS) => ({ submitS: 0, runS, size: 2, user: "anna" }));
    const limits = { runningJobs: 1, isThrough: Uint8Array.of(1, 1, 0) };
    expect(startsOf("fcfs", limits, jobs)).toEqual([0, 0, 20]);
    // Counted with 4 processors each: the third one waits until both have ended.
    expect(
      startsOf(
        "fcfs",
        { ...limits, runningJobs: undefined, runningCpus: 7, cpus: Int32Array.of(4, 4, 4) },
        jobs,
      ),
    ).toEqual([0, 0, 20]);
  });

  test("a policy that cannot take waiting jobs back is refused", () => {
    const run = () => startsOf("connected-reservation", { runningJobs: 1 }, []);
    expect(run).toThrow(InputError);
    expect(run).toThrow(/limits keep waiting jobs back.*"withdraw"/);
  });
});
