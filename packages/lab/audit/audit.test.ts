/**
 * Policies that are broken on purpose, one for each rule: the checker names the rule, the job and the time.
 */

import type { Instance, JobsView, TraceColumns } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition, Pool } from "@tutti/kernel/core/policy.ts";
import { StartRule } from "@tutti/kernel/core/policy.ts";
import { seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "./audit.ts";
import {
  anyFitting,
  CLAIMS_ALL,
  easyLike,
  firstCome,
  jobs,
  SLOTS,
  spacePolicy,
  take,
  violation,
} from "./broken-policies-for-tests.ts";

/** Job 11 holds 3 of 4 processors until 10 s; job 12 needs all; job 13 needs one for 4 s. */
const BLOCKED = jobs(4, [0, 10, 3], [1, 5, 4], [2, 4, 1]);

describe("audit() of space sharing", () => {
  test("passes the same policies when they are whole", () => {
    const instance = seededInstance("whole", {
      seed: 3,
      processors: 16,
      count: 200,
      gapS: 10,
      maxRunS: 60,
      maxSize: 16,
      exactShare: 0.3,
      zeroShare: 0.1,
    });
    const right = easyLike(
      { headNeverFits: true, keepsPromises: true },
      (job, leftS, spare, { estimateS, size }) => estimateS[job] <= leftS || size[job] <= spare,
    );
    for (const choice of [
      right,
      spacePolicy({ headNeverFits: true }, firstCome),
      spacePolicy({ headNeverFits: true, workConserving: true }, anyFitting),
    ]) {
      const result = audit(instance, choice, SLOTS);
      expect(result.ok, auditLines("policy", result).join("\n")).toBe(true);
      expect(result.checked).toMatchObject({ arrivals: 200, starts: 200, ends: 200 });
    }
    const result = audit(instance, right, SLOTS);
    expect(result.checked.promiseChecks).toBeGreaterThan(50);
    expect(result.checked.probes).toBe(2 * result.checked.probedInstants);
    expect(auditLines("right", result).join("\n")).toMatch(
      new RegExp(
        `promises, tested \\d+ times\n.* changed after ${result.checked.probedInstants} of \\d+ instants`,
      ),
    );
  });

  test("started-twice", () => {
    const choice = spacePolicy({}, (queue, pool) => {
      if (queue.length === 0 || pool.free < 4) return;
      pool.start(queue[0], StartRule.other);
      pool.start(queue[0], StartRule.other);
    });
    expect(violation(jobs(8, [5, 10, 3]), choice)).toMatchObject({
      rule: "started-twice",
      job: 11,
      timeS: 5,
    });
  });

  test("processor-twice: a job is started on more processors than are free", () => {
    const choice = spacePolicy({}, (queue, pool) => {
      while (queue.length > 0) take(queue, 0, pool);
    });
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "processor-twice", job: 12, timeS: 1 });
  });

  test("start-before-arrival", () => {
    const choice = spacePolicy({}, (queue, pool) => {
      if (queue.length > 0) pool.start(queue[0] + 1, StartRule.other);
    });
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "start-before-arrival", job: 12, timeS: 0 });
  });

  test("unknown-job", () => {
    const choice = spacePolicy({}, (_, pool) => pool.start(99, StartRule.other));
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "unknown-job", job: undefined, timeS: 0 });
  });

  test("never-started", () => {
    const choice = spacePolicy({}, (queue, pool, { size }) => {
      if (queue.length > 0 && size[queue[0]] < 4 && size[queue[0]] <= pool.free) take(queue, 0, pool);
    });
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "never-started", job: 12 });
  });

  test("head-waits: the first of the queue is left waiting though it fits", () => {
    const choice = spacePolicy({ headNeverFits: true }, (queue, pool, view) => {
      // Starts the second waiting job instead of the first.
      if (queue.length > 1 && view.size[queue[1]] <= pool.free) take(queue, 1, pool);
      else if (pool.nowS > 3) firstCome(queue, pool, view);
    });
    expect(violation(jobs(4, [2, 5, 1], [4, 5, 1]), choice)).toMatchObject({
      rule: "head-waits",
      job: 11,
      timeS: 2,
    });
  });

  test("head-waits: by the policy's own queue order", () => {
    const { definition, parameters } = choosePolicy("fcfs:order=arrival");
    // It claims shortest first but starts in order of arrival: at 10 s job 12 starts, although job 13 is
    // shorter and would fit.
    const liar = {
      definition: { ...definition, make: choosePolicy("fcfs").definition.make },
      parameters,
    } as PolicyChoice;
    expect(audit(BLOCKED, liar, SLOTS).ok).toBe(true);
    const shortest = {
      ...liar,
      parameters: { order: "shortest" },
      definition: {
        ...definition,
        make: (machine: never, view: never) => definition.make(machine, view, { order: "arrival" }),
      } as PolicyDefinition,
    };
    expect(violation(BLOCKED, shortest)).toMatchObject({ rule: "head-waits", job: 13, timeS: 2 });
  });

  test("fitting-job-waits: FCFS that claims to conserve work", () => {
    const choice = spacePolicy({ headNeverFits: true, workConserving: true }, firstCome);
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "fitting-job-waits", job: 13, timeS: 2 });
  });

  test("promise-broken: a job starts later than promised", () => {
    const choice = spacePolicy({ keepsPromises: true }, (queue, pool, view) => {
      if (pool.nowS === 0) return pool.promise(queue[0], 3);
      // At 3 s everything is free, but the policy does nothing before 4 s.
      if (pool.nowS >= 4) firstCome(queue, pool, view);
    });
    expect(violation(jobs(4, [0, 10, 3], [4, 1, 1]), choice)).toMatchObject({
      rule: "promise-broken",
      job: 11,
      timeS: 4,
    });
  });

  test("promise-later: a promise is replaced by a later one", () => {
    const choice = spacePolicy({ keepsPromises: true }, (queue, pool, view) => {
      firstCome(queue, pool, view);
      if (queue.length > 0) pool.promise(queue[0], 10 + pool.nowS);
    });
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "promise-later", job: 12, timeS: 2 });
  });

  test("promise-void: a promise to a job that runs, or for the past", () => {
    const toRunning = spacePolicy({}, (queue, pool, view) => {
      firstCome(queue, pool, view);
      pool.promise(0, 20);
    });
    expect(violation(BLOCKED, toRunning)).toMatchObject({ rule: "promise-void", job: 11, timeS: 0 });
    const past = spacePolicy({}, (queue, pool) => {
      if (pool.nowS === 2) pool.promise(queue[0], 1);
    });
    expect(violation(BLOCKED, past)).toMatchObject({ rule: "promise-void", job: 11, timeS: 2 });
  });

  test("promise-impossible: EASY that loses the reservation lets everybody pass", () => {
    const choice = easyLike({ headNeverFits: true, keepsPromises: true }, () => true);
    // Job 13 runs until 22 s; job 12 was promised 10 s.
    const instance = jobs(4, [0, 10, 3], [1, 5, 4], [2, 20, 1]);
    expect(violation(instance, choice)).toMatchObject({ rule: "promise-impossible", job: 12, timeS: 2 });
  });

  test("promise-impossible: EASY that backfills by the real run time", () => {
    // Job 13 has an estimate of 20 s and runs for 4 s: it would end in time, but the policy cannot know that.
    const instance = jobs(4, [0, 10, 3], [1, 5, 4], [2, 4, 1, 20]);
    const copy = instance.runS.slice();
    const choice = easyLike({ headNeverFits: true, keepsPromises: true }, (job, leftS) => copy[job] <= leftS);
    expect(violation(instance, choice)).toMatchObject({ rule: "promise-impossible", job: 12, timeS: 2 });
  });

  test("sees-run-times: the same EASY without claims, by a closure over the instance", () => {
    const instance = jobs(4, [0, 10, 3], [1, 5, 4], [2, 4, 1, 20], [3, 5, 1, 20], [4, 1, 2], [30, 1, 1]);
    const choice = easyLike({}, (job, leftS) => instance.runS[job] <= leftS);
    const kept = instance.runS.slice();
    const found = violation(instance, choice);
    expect(found).toMatchObject({ rule: "sees-run-times", job: 13, timeS: 2 });
    expect(instance.runS).toEqual(kept);
  });

  test("sees-run-times: through the machine, which knows the next end", () => {
    const choice = spacePolicy({}, (queue, pool, { size, estimateS }) => {
      const { ends } = pool as unknown as { ends: { nextTime(): number } };
      const endsSoon = ends.nextTime() <= pool.nowS + 8;
      for (let i = 0; i < queue.length; ) {
        const job = queue[i];
        if (size[job] <= pool.free && (i === 0 || !endsSoon || estimateS[job] < 5)) take(queue, i, pool);
        else i++;
      }
    });
    const instance = jobs(4, [0, 10, 3, 12], [1, 5, 4], [2, 6, 1], [3, 5, 4], [30, 1, 1], [31, 1, 1]);
    expect(violation(instance, choice)).toMatchObject({ rule: "sees-run-times", job: 13, timeS: 2 });
  });

  test("sees-arrivals: a policy that holds processors back for a job that will come, by a closure over the instance", () => {
    const instance = jobs(
      4,
      [0, 2, 1],
      [10, 9, 3],
      [14, 5, 3],
      [20, 1, 1],
      [24, 1, 1],
      [40, 1, 1],
      [41, 1, 1],
    );
    const { count, size, submitS } = instance;
    const choice = spacePolicy({}, (queue, pool) => {
      for (let i = 0; i < queue.length; ) {
        const next = queue[i] + 1;
        const wideSoon =
          next < count && size[next] >= 3 && submitS[next] <= pool.nowS + 5 && submitS[next] > pool.nowS;
        if (size[queue[i]] <= pool.free && !wideSoon) take(queue, i, pool);
        else i++;
      }
    });
    // Job 13 is wide and comes 4 s after job 12, and the table can show that job after job 11, too.
    const { rule, job } = violation(instance, choice);
    expect(rule).toBe("sees-arrivals");
    expect([11, 12]).toContain(job);
  });

  /** Holds the head back when the hint says so. */
  const hinted = (hint: (queue: readonly number[], pool: Pool) => boolean) =>
    spacePolicy({}, (queue, pool, view) => {
      if (!hint(queue, pool) || pool.free < 4) firstCome(queue, pool, view);
    });

  test.each([
    ["the trace", (instance: Instance, job: number) => instance.workload.trace?.user[job]],
    ["the notes", (instance: Instance, job: number) => instance.workload.notes?.[job]?.user],
  ])("sees-arrivals: who submits the next job, by a closure over %s", (_, userOf) => {
    const plain = jobs(4, [0, 9, 2], [1, 9, 1], [5, 9, 1], [20, 1, 1], [21, 1, 1], [40, 1, 1], [41, 1, 1]);
    const user = Int32Array.from([1, 2, 2, 3, 1, 2, 3]);
    const other = () => new Int32Array(7);
    const instance: Instance = {
      ...plain,
      workload: {
        ...plain.workload,
        trace: { user, group: other(), queue: other(), application: other() } as unknown as TraceColumns,
        notes: Array.from(user, (number) => ({ user: `user ${number}` })),
      },
    };
    const choice = hinted(
      ([head]) => head !== undefined && userOf(instance, head) === userOf(instance, head + 1),
    );
    expect(violation(instance, choice).rule).toBe("sees-arrivals");
    expect([...user]).toEqual([1, 2, 2, 3, 1, 2, 3]);
    expect(instance.workload.notes?.[1]).toEqual({ user: "user 2" });
  });

  test("sees-arrivals: how many jobs there will be, by the machine's own columns", () => {
    const instance = jobs(4, [0, 9, 2], [1, 9, 1], [5, 9, 1], [20, 1, 1], [21, 1, 1], [40, 1, 1], [41, 1, 1]);
    const choice = hinted((queue, pool) => {
      const { startS } = pool as unknown as { startS: Float64Array };
      return queue.length > 0 && queue[0] === startS.length - 6;
    });
    expect(violation(instance, choice).rule).toBe("sees-arrivals");
  });

  test("not-deterministic: a policy that remembers earlier runs", () => {
    let runs = 0;
    const { definition } = spacePolicy({}, firstCome);
    const choice = makeChoice({
      ...definition,
      sharing: "space",
      make: (pool: Pool, view: JobsView, parameters: object) => {
        const other = spacePolicy({}, runs++ % 2 === 0 ? firstCome : anyFitting).definition;
        return other.make(pool as never, view, parameters as never);
      },
    } as PolicyDefinition);
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "not-deterministic", timeS: 2, job: 13 });
  });

  test("jobs-changed: a policy that makes a job smaller", () => {
    const choice = spacePolicy({}, (queue, pool, view) => {
      for (const job of queue) if (job === 1) (view.size as unknown as Int32Array)[job] = 1;
      firstCome(queue, pool, view);
    });
    const kept = BLOCKED.size.slice();
    const found = violation(BLOCKED, choice);
    expect(["jobs-changed", "processor-twice"]).toContain(found.rule);
    expect(found.job).toBe(12);
    expect(BLOCKED.size).toEqual(kept);
  });

  test("a violation is found although the policy catches what is thrown", () => {
    const choice = spacePolicy({ keepsPromises: true }, (queue, pool, view) => {
      firstCome(queue, pool, view);
      try {
        if (queue.length > 0) pool.promise(queue[0], 10 + pool.nowS);
      } catch {
        // as if nothing had happened
      }
    });
    expect(violation(BLOCKED, choice)).toMatchObject({ rule: "promise-later", job: 12, timeS: 2 });
  });

  test("what the policy itself throws is thrown on", () => {
    const choice = spacePolicy(CLAIMS_ALL, () => {
      throw new TypeError("its own mistake");
    });
    expect(() => audit(BLOCKED, choice, SLOTS)).toThrow("its own mistake");
  });
});
