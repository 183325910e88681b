/** The guarantee `reservesHead`, and what is said about promises that prove nothing. */

import type { Guarantees } from "@tutti/kernel/core/policy.ts";
import { seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "./audit.ts";
import { easyLike, firstCome, jobs, SLOTS, spacePolicy, violation } from "./broken-policies-for-tests.ts";
import { shadowS } from "./shadow.ts";

const RESERVES: Partial<Guarantees> = { headNeverFits: true, reservesHead: true };
/** Job 11 holds 3 of 4 processors until 10 s; job 12 needs all; job 13 needs one for 20 s. */
const LONG_PASSER = jobs(4, [0, 10, 3], [1, 5, 4], [2, 20, 1]);

test("shadowS() is the first instant at which enough processors are free", () => {
  // 10 processors; 2 free. 3 more at 5 s, 1 at 7 s, 4 at 7 s.
  const running = [[5, 3] as const, [7, 1] as const, [7, 4] as const];
  expect([1, 2, 3, 5, 6, 10].map((size) => shadowS(size, 10, 4, running))).toEqual([4, 4, 5, 5, 7, 7]);
  expect(shadowS(10, 10, 4, [])).toBe(4);
});

describe("reservesHead", () => {
  test("holds for EASY in every order, and is tested at its decisions", () => {
    const instance = seededInstance("crowd", {
      seed: 5,
      processors: 16,
      count: 300,
      gapS: 6,
      maxRunS: 60,
      maxSize: 16,
      exactShare: 0.3,
      zeroShare: 0.1,
    });
    for (const order of ["arrival", "shortest", "wfp"]) {
      const result = audit(instance, choosePolicy(`easy:order=${order}`), { ...SLOTS, probedInstants: 0 });
      expect(result.ok, auditLines(order, result).join("\n")).toBe(true);
      expect(result.checked.shadowChecks).toBeGreaterThan(100);
      expect(result.checked.emptyPromises).toBe(0);
    }
  });

  test("head-not-reserved: no promise at all", () => {
    const choice = spacePolicy(RESERVES, firstCome);
    expect(violation(LONG_PASSER, choice)).toMatchObject({ rule: "head-not-reserved", job: 12, timeS: 1 });
  });

  test("head-not-reserved: a promise after the shadow time, which is 10 s", () => {
    const choice = spacePolicy(RESERVES, (queue, pool, view) => {
      firstCome(queue, pool, view);
      if (queue.length > 0) pool.promise(queue[0], 10.5);
    });
    const found = violation(LONG_PASSER, choice);
    expect(found).toMatchObject({ rule: "head-not-reserved", job: 12, timeS: 1 });
    expect(found.message).toContain("promised 10.5 s, but its shadow time was 10 s");
  });

  test("head-not-reserved: the promise is right, but a job passes that makes it impossible", () => {
    const choice = easyLike(RESERVES, () => true);
    const found = violation(LONG_PASSER, choice);
    expect(found).toMatchObject({ rule: "head-not-reserved", job: 12, timeS: 2 });
    // Job 13 has one of the four processors until 22 s.
    expect(found.message).toContain(
      "Job 13 passed it, and now the estimates of running jobs delay it to 22 s",
    );
  });

  test("head-not-reserved: a promise made after the job that passes, so that it can be kept", () => {
    const choice = spacePolicy(RESERVES, (queue, pool, view) => {
      firstCome(queue, pool, view);
      if (pool.nowS === 1) pool.promise(queue[0], 10);
      if (pool.nowS !== 2) return;
      pool.start(queue.pop()!);
      pool.promise(queue[0], 22);
    });
    const found = violation(LONG_PASSER, choice);
    expect(found).toMatchObject({ rule: "head-not-reserved", job: 12, timeS: 2 });
    expect(found.message).toContain("its shadow time was 10 s before Job 13 passed it");
  });

  test("head-not-reserved: a job passes together with the start of the former head", () => {
    // At 5 s job 11 ends. Job 12 starts, and job 13 needs all four; job 14 passes it until 105 s.
    const instance = jobs(4, [0, 5, 4], [1, 10, 2], [2, 5, 4], [3, 100, 1]);
    const choice = spacePolicy(RESERVES, (queue, pool) => {
      if (queue.length === 0) return;
      if (pool.nowS === 0) return pool.start(queue.shift()!);
      if (pool.nowS < 5) return pool.promise(queue[0], 5);
      if (pool.nowS > 5) return;
      pool.start(queue.pop()!);
      pool.start(queue.shift()!);
      pool.promise(queue[0], 105);
    });
    const found = violation(instance, choice);
    expect(found).toMatchObject({ rule: "head-not-reserved", job: 13, timeS: 5 });
    expect(found.message).toContain("promised 105 s, but its shadow time was 15 s before Job 14 passed it");
  });
});

describe("a claim that nothing tests", () => {
  const said = (guarantees: Partial<Guarantees>, promisedS?: number) => {
    const choice = spacePolicy(guarantees, (queue, pool, view) => {
      firstCome(queue, pool, view);
      if (queue.length > 0 && promisedS !== undefined) pool.promise(queue[0], promisedS);
    });
    const result = audit(LONG_PASSER, choice, SLOTS);
    if (!result.ok) throw new Error(result.violation.message);
    return auditLines("policy", result).filter((line) => line.includes("warning: "));
  };

  test("promises that are claimed and never made", () => {
    expect(said({ keepsPromises: true })).toEqual([
      "  warning: the policy claims to keep its promises, but it made none: the claim was not tested",
    ]);
    expect(said({ keepsPromises: false })).toEqual([]);
  });

  test("promises for a time by which everything could have run", () => {
    // At 1 s, jobs 11 and 12 need 15 s in all: 16 s is the last time that means anything.
    expect(said({ keepsPromises: true }, 16)).toEqual([]);
    expect(said({ keepsPromises: true }, 1e12)[0]).toMatch(
      /warning: \d+ of \d+ promises are for a time by which all known jobs could have run one after the other/,
    );
  });
});
