/**
 * The policies for sites, with every value of every choice, on the same workloads; also tests that the checks
 * find violations.
 */

import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { allChoices } from "@tutti/kernel/policies/choices-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { checkSitesPolicy, decisionsOf, prolonged, SITES_WORKLOADS } from "./conformance-for-tests.ts";
import type { SitesPolicyDefinition } from "./contract.ts";
import { requireSameAsNaive } from "./naive.ts";
import { oneSite } from "./policies.ts";
import { simulateSites } from "./simulate.ts";
import { sites } from "./wing.ts";

describe("every policy for sites decides as the naive simulation", () => {
  for (const definition of sites.policies) {
    for (const choice of allChoices(definition)) {
      test(`${choice.label}: on every workload`, () => {
        for (const [what, count] of Object.entries(checkSitesPolicy(choice)))
          expect(count, what).toBeGreaterThan(100);
      });
    }
  }
});

/** Approach 1 whose local jobs are placed by a random number that is not the job's own. */
function drawingBy(
  drawn: (job: number, submitS: ArrayLike<number>) => number,
): PolicyChoice<SitesPolicyDefinition> {
  const make: SitesPolicyDefinition["make"] = (machine, jobs, parameters) =>
    oneSite.make(
      machine,
      { ...jobs, drawn: Array.from(jobs.drawn, (_, job) => drawn(job, jobs.submitS)) },
      parameters,
    );
  return makeChoice({ ...oneSite, make });
}

test("a schedule whose times or sums differ from the naive simulation is refused", () => {
  const [{ instance }] = SITES_WORKLOADS;
  const { definition, parameters } = makeChoice(oneSite);
  const schedule = simulateSites(instance, definition, parameters);
  const rules = definition.guarantees(parameters);
  expect(requireSameAsNaive(instance, rules, schedule)).toBe(2 * instance.count);
  for (const changed of [
    { startS: schedule.startS.map((timeS, job) => (job === 7 ? timeS + 1 : timeS)) },
    { endS: schedule.endS.map((timeS, job) => (job === 7 ? Number.NaN : timeS)) },
    { split: schedule.split.map((value, job) => (job === 7 ? 1 - value : value)) },
    { busyS: schedule.busyS.map((busyS) => busyS + 0.1) },
    { completed: schedule.completed - 1 },
  ])
    expect(() => requireSameAsNaive(instance, rules, { ...schedule, ...changed })).toThrow("other-schedule");
});

describe("checkSitesPolicy()", () => {
  test("refuses a policy that looks at a later arrival", () => {
    const next = (job: number, submitS: ArrayLike<number>) => (1000 * (submitS[job + 7] ?? 0)) % 1 || 0.5;
    expect(() => checkSitesPolicy(drawingBy(next))).toThrow("without the arrivals");
  });

  test("sees run times that a policy uses: those that processors report exactly", () => {
    const [{ instance }] = SITES_WORKLOADS;
    const choice = makeChoice(oneSite);
    const { definition, parameters } = choice;
    const { endS } = simulateSites(instance, definition, parameters);
    const atS = instance.submitS[instance.count / 2];
    const later = prolonged(instance, endS, atS);
    const [before, changed] = [instance, later].map((problem) =>
      decisionsOf(problem, choice, "exact").before(atS),
    );
    expect(changed).not.toEqual(before);
  });

  test("refuses a policy that decides otherwise the second time", () => {
    let draws = 0;
    expect(() => checkSitesPolicy(drawingBy(() => (draws++ % 997) / 1000 + 0.001))).toThrow(
      "to deeply equal",
    );
  });

  test("refuses a policy that decides by other rules than it promises, and one that leaves jobs for ever", () => {
    const { make } = makeChoice(oneSite).definition;
    const other = () => ({ ...oneSite.guarantees(makeChoice(oneSite).parameters), acrossSites: true });
    expect(() => checkSitesPolicy(makeChoice({ ...oneSite, make, guarantees: other }))).toThrow(
      "other-schedule",
    );
    const idle: SitesPolicyDefinition["make"] = () => ({ depart() {}, decide() {} });
    expect(() => checkSitesPolicy(makeChoice({ ...oneSite, make: idle }))).toThrow("jobs ended");
  });
});
