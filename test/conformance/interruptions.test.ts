/**
 * Every policy of the registry on machines whose capacity is a function of time, under the checker: no processor is used while it is away,
 * no start runs into an outage that is known where the policy claims so, who is stopped is so by the rule, and keeps its work.
 */
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "../../src/lab/audit/audit.ts";
import { allChoices } from "../../src/policies/choices-for-tests.ts";
import { choosePolicy } from "../../src/policies/choose.ts";
import { conformanceInstances } from "../../src/policies/instances-for-tests.ts";
import {
  drawnInterruptions,
  drawnResources,
  interrupted,
  window,
} from "../../src/policies/interruptions-for-tests.ts";
import { POLICIES } from "../../src/policies/registry.ts";
import { simulate } from "../../src/simulator/simulate.ts";

const SLOTS = { slotS: 5, switchS: 0 };
const copes = (policy: (typeof POLICIES)[number]) => policy.copesWith?.includes("outages") === true;
const drawn = conformanceInstances().map((instance, i) => drawnInterruptions(instance, i + 1));

describe("every policy that copes with outages passes the checker among drawn ones, and with resources", () => {
  for (const definition of POLICIES.filter(copes)) {
    const hasResources = definition.copesWith?.includes("resources");
    const more = hasResources ? drawn.map((instance, i) => drawnResources(instance, i)) : [];
    for (const choice of allChoices(definition)) {
      test(choice.label, () => {
        for (const instance of [...drawn, ...more]) {
          const result = audit(instance, choice, SLOTS);
          const name = instance.workload.name;
          expect(result.ok, [`workload ${name}`, ...auditLines(choice.label, result)].join("\n")).toBe(true);
          expect(result.checked.ends, name).toBe(instance.count);
        }
      });
    }
  }

  test("jobs are stopped for outages in them, and go on", () => {
    const pauses = drawn.flatMap((instance) => {
      const outagesOnly = interrupted(instance, { outages: instance.interruptions?.outages ?? [] });
      return simulate(outagesOnly, choosePolicy("fcfs"), SLOTS).pauses ?? [];
    });
    expect(pauses.length).toBeGreaterThan(20);
    for (const { fromS, untilS } of pauses) expect(untilS).toBeGreaterThanOrEqual(fromS);
  });
});

describe("every policy passes the checker when jobs are stopped", () => {
  for (const definition of POLICIES) {
    test(definition.name, () => {
      const choice = choosePolicy(definition.name);
      for (const one of drawn) {
        const instance = interrupted(one, { stops: one.interruptions?.stops ?? [] });
        const result = audit(instance, choice, SLOTS);
        const name = instance.workload.name;
        expect(result.ok, [`workload ${name}`, ...auditLines(choice.label, result)].join("\n")).toBe(true);
      }
    });
  }
});

test("a policy that does not cope with outages is refused in words", () => {
  const [instance] = drawn;
  for (const definition of POLICIES.filter((policy) => !copes(policy))) {
    const run = () =>
      simulate(interrupted(instance, { outages: [window(0, 1, 1)] }), choosePolicy(definition.name), SLOTS);
    expect(run, definition.name).toThrow(
      `Cannot run policy "${definition.name}" here: processors of the machine are away at times, expected a policy that declares copesWith: ["outages"]`,
    );
  }
});
