/**
 * Runs the local schedulers, with every value of every choice, on the same workloads under the checker. Also
 * tests that the checker finds violations.
 */

import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { allChoices } from "@tutti/kernel/policies/choices-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { checkTasksPolicy } from "./conformance-for-tests.ts";
import { type LocalSchedulerDefinition, NO_TASK } from "./contract.ts";
import { grades } from "./local-task-scheduler.ts";
import { tasks } from "./wing.ts";

describe("every policy for tasks passes the checker", () => {
  for (const definition of tasks.policies) {
    for (const choice of allChoices(definition)) {
      test(`${choice.label}: on every workload`, () => {
        for (const [what, count] of Object.entries(checkTasksPolicy(choice)))
          expect(count, what).toBeGreaterThan(100);
      });
    }
  }
});

/** Claims the guarantees of `grades`; picks the ready task with the largest number. */
function pickingBy(
  number: (task: number, taskCount: number) => number,
): PolicyChoice<LocalSchedulerDefinition> {
  const make: LocalSchedulerDefinition["make"] = (taskCount) => ({
    slotEnded: () => {},
    pick: (ready, count) => {
      let best = NO_TASK;
      for (let i = 0; i < count; i++)
        if (best === NO_TASK || number(ready[i], taskCount) > number(best, taskCount)) best = ready[i];
      return best;
    },
  });
  return makeChoice({ ...grades, make });
}

describe("checkTasksPolicy()", () => {
  test("refuses a local scheduler that decides otherwise the second time", () => {
    let picks = 0;
    expect(() => checkTasksPolicy(pickingBy((task) => (task * 31 + picks++) % 7))).toThrow("to deeply equal");
  });

  test("refuses a local scheduler that goes by the number of tasks to come", () => {
    const byCount = (task: number, taskCount: number) => (task * 31 + taskCount) % 7;
    expect(() => checkTasksPolicy(pickingBy(byCount))).toThrow("without the arrivals");
  });

  test("refuses a local scheduler that claims to conserve work and does not", () => {
    const make: LocalSchedulerDefinition["make"] = () => ({ slotEnded() {}, pick: () => NO_TASK });
    expect(() => checkTasksPolicy(makeChoice({ ...grades, make }))).toThrow("is ready although processor");
  });
});
