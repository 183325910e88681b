/**
 * Runs policies that migrate gangs under the checker: every combination of their own choices, at several
 * costs. In `npm run soak` each runs on every workload, otherwise they share the workloads.
 */

import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { br, brmms, brms } from "@tutti/kernel/policies/gangs/buddy-blocks.ts";
import { migrationCostS } from "@tutti/kernel/policies/gangs/migration.ts";
import { wlv } from "@tutti/kernel/policies/gangs/wlv.ts";
import { conformanceInstances } from "@tutti/kernel/policies/instances-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";

const COSTS_S = [0, 3, 60];
const SLOTS = [
  { slotS: 5, switchS: 0 },
  { slotS: 0.7, switchS: 0.1 },
];
const CASES = conformanceInstances().flatMap((instance) => SLOTS.map((slots) => ({ instance, slots })));

function migrating(definition: PolicyDefinition): PolicyChoice[] {
  let settings = COSTS_S.map((costS) => [`migrate=${costS}`]);
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice" || spec.name === "queue" || spec.name === "queueOrder") continue;
    const possible = spec.choices.filter((choice) => choice !== "ring");
    settings = settings.flatMap((before) => possible.map((choice) => [...before, `${spec.name}=${choice}`]));
  }
  return settings.map((one) => makeChoice(definition, one));
}

describe("every policy whose gangs migrate passes the checker", () => {
  for (const definition of [br, brms, brmms, wlv]) {
    for (const [turn, choice] of migrating(definition).entries()) {
      test(choice.label, () => {
        let migrations = 0;
        for (const { instance, slots } of inTurn(CASES, SIZES.migratingEvery, turn)) {
          const result = audit(instance, choice, { ...slots, probedInstants: 3_000 });
          const name = `${instance.workload.name}, ${choice.label}`;
          expect(result.ok, [name, ...auditLines(choice.label, result)].join("\n")).toBe(true);
          expect(result.checked.ends, name).toBe(instance.count);
          if (result.ok) migrations += result.schedule.gang!.migrations;
        }
        expect(migrations).toBeGreaterThan(0);
      });
    }
    test(`${definition.name}: what a migration costs is declared`, () => {
      for (const choice of migrating(definition)) {
        const { migrationS } = definition.guarantees(choice.parameters);
        expect(migrationS).toBe(migrationCostS(choice.parameters));
        expect(migrationS).toBe(choice.parameters.migrate);
      }
      const { parameters } = makeChoice(definition);
      expect(definition.guarantees(parameters).migrationS).toBeUndefined();
    });
  }
});
