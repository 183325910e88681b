/** The conformance runs of sites and tasks find what they look for: policies that know more than they may are refused. */
import { describe, expect, test } from "vitest";
import type { PolicyChoice } from "../core/policy.ts";
import type { SitesPolicyDefinition } from "../core/sites.ts";
import { type LocalSchedulerDefinition, NO_TASK } from "../core/tasks.ts";
import { simulateSites } from "../simulator/sites.ts";
import { makeChoice } from "./choose.ts";
import { grades } from "./local-task-scheduler.ts";
import { oneSite } from "./sites.ts";
import { checkSitesPolicy, decisionsOf, prolonged, SITES_WORKLOADS } from "./sites-conformance-for-tests.ts";
import { checkTasksPolicy } from "./tasks-conformance-for-tests.ts";

/** Approach 1 whose local jobs are sent by a lot that somebody else has drawn. */
function drawingBy(
  lot: (job: number, submitS: ArrayLike<number>) => number,
): PolicyChoice<SitesPolicyDefinition> {
  const make: SitesPolicyDefinition["make"] = (machine, jobs, parameters) =>
    oneSite.make(
      machine,
      { ...jobs, lot: Array.from(jobs.lot, (_, job) => lot(job, jobs.submitS)) },
      parameters,
    );
  return makeChoice({ ...oneSite, make });
}

/** Claims what grades claims; of all ready tasks the one is picked for which the number is largest. */
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

describe("checkSitesPolicy()", () => {
  test("refuses a policy that looks at a later arrival", () => {
    const next = (job: number, submitS: ArrayLike<number>) => (1000 * (submitS[job + 7] ?? 0)) % 1 || 0.5;
    expect(() => checkSitesPolicy(drawingBy(next))).toThrow("without the arrivals");
  });

  test("sees run times that a policy uses: those that processors tell exactly", () => {
    const [{ instance }] = SITES_WORKLOADS;
    const choice = makeChoice(oneSite);
    const { definition, parameters } = choice;
    const { endS } = simulateSites(instance, definition, parameters);
    const atS = instance.submitS[instance.count / 2];
    const later = prolonged(instance, endS, atS);
    const [before, changed] = [instance, later].map((one) => decisionsOf(one, choice, "exact").before(atS));
    expect(changed).not.toEqual(before);
  });

  test("refuses a policy that decides otherwise the second time", () => {
    let draws = 0;
    expect(() => checkSitesPolicy(drawingBy(() => (draws++ % 997) / 1000 + 0.001))).toThrow(
      "to deeply equal",
    );
  });

  test("refuses a policy that leaves a gang where it could go, and one that leaves jobs for ever", () => {
    const idle: SitesPolicyDefinition["make"] = () => ({ arrive() {}, depart() {}, decide() {} });
    expect(() => checkSitesPolicy(makeChoice({ ...oneSite, make: idle }))).toThrow("gang-left");
    const modest = () => ({ ...oneSite.guarantees(makeChoice(oneSite).parameters), noGangLeft: false });
    expect(() => checkSitesPolicy(makeChoice({ ...oneSite, make: idle, guarantees: modest }))).toThrow(
      "jobs ended",
    );
  });
});

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
    expect(() => checkTasksPolicy(makeChoice({ ...grades, make }))).toThrow("is ready while processor");
  });
});
