/**
 * Runs every policy of the registry, under the checker, on machines whose capacity changes over time. No
 * processor is used during its outage. If the policy guarantees it, no job starts that would run into a known
 * outage. The right jobs are stopped, and they keep their work.
 */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Feature, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { allChoices } from "@tutti/kernel/policies/choices-for-tests.ts";
import { conformanceInstances } from "@tutti/kernel/policies/instances-for-tests.ts";
import {
  drawnInterruptions,
  drawnResources,
  interrupted,
  window,
} from "@tutti/kernel/policies/interruptions-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";

/**
 * Two settings: slots of whole seconds with free switches; slots that divide no run time, with switches that
 * cost.
 */
const SLOTS = [
  { slotS: 5, switchS: 0 },
  { slotS: 0.7, switchS: 0.1 },
];
/** Choices that have no effect as long as no job waits for a row. */
const IDLE_CHOICES = ["queue", "queueOrder"];

const copes = ({ definition, parameters }: PolicyChoice, feature: Feature) =>
  definition.copesWith?.(parameters).includes(feature) === true;
const drawn = conformanceInstances().map((instance, i) => drawnInterruptions(instance, i + 1));
const stopped = drawn.map((one) => interrupted(one, { stops: one.interruptions?.stops ?? [] }));
const needy = (instances: readonly Instance[]) => instances.map((one, i) => drawnResources(one, i));

/** Jobs that are stopped, and the other features that the policy can handle. */
function instancesFor(choice: PolicyChoice): Instance[] {
  const outages = copes(choice, "outages") ? drawn : [];
  const resources = copes(choice, "resources") ? needy([...outages, ...stopped]) : [];
  return [...stopped, ...outages, ...resources];
}

describe("every policy of the registry passes the checker", () => {
  let policies = 0;
  for (const definition of POLICIES) {
    for (const choice of allChoices(definition, definition.sharing === "time" ? IDLE_CHOICES : [])) {
      const turn = policies++;
      test(choice.label, () => {
        const all = [...instancesFor(choice).entries()];
        for (const [i, instance] of inTurn(all, SIZES.interruptedEvery, turn)) {
          const result = audit(instance, choice, { ...SLOTS[i % SLOTS.length], probedInstants: 3_000 });
          const name = instance.workload.name;
          expect(result.ok, [`workload ${name}, ${i}`, ...auditLines(choice.label, result)].join("\n")).toBe(
            true,
          );
          expect(result.checked.ends, name).toBe(instance.count);
        }
      });
    }
  }

  test.each(["fcfs", "wlv"])("outages stop jobs, which then continue: %s", (name) => {
    const pauses = drawn.flatMap((instance) => {
      const outagesOnly = interrupted(instance, { outages: instance.interruptions?.outages ?? [] });
      return simulate(outagesOnly, choosePolicy(name), SLOTS[0]).pauses ?? [];
    });
    expect(pauses.length).toBeGreaterThan(20);
    for (const { fromS, untilS } of pauses) expect(untilS).toBeGreaterThanOrEqual(fromS);
  });
});

test("a policy that cannot handle outages is refused with a message", () => {
  const instance = interrupted(drawn[0], { outages: [window(0, 1, 1)] });
  const choices = [...POLICIES.map(({ name }) => name), "wlv:array=ring"].map((text) => choosePolicy(text));
  const refused = choices.filter((choice) => !copes(choice, "outages"));
  expect(refused.length).toBeLessThan(choices.length / 2);
  for (const choice of refused) {
    expect(() => simulate(instance, choice, SLOTS[0])).toThrow(
      `Cannot run policy "${choice.label}" here: processors of the machine are unavailable at times, expected a policy whose copesWith lists "outages"`,
    );
  }
});
