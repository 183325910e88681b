/**
 * The one conformance suite: every policy of the registry, with every value of every choice among its parameters, on
 * the same workloads, under the checker. A policy gets in by standing in the registry. What it does not promise it
 * declares in `guarantees`; no case is skipped here.
 */
import { describe, expect, test } from "vitest";
import type { Instance } from "../core/jobs.ts";
import { parseParameters } from "../core/parameters.ts";
import type { PolicyChoice, PolicyDefinition } from "../core/policy.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { audit, auditLines } from "../lab/audit.ts";
import { downey } from "../workload/downey.ts";
import { prepare } from "../workload/prepare.ts";
import { makeChoice } from "./choose.ts";
import { conformanceInstances } from "./instances-for-tests.ts";
import { POLICIES } from "./registry.ts";

/** Choices that do nothing while the numbers keep their defaults; admission.conformance.test.ts has them with limits. */
const IDLE_CHOICES = ["queue", "queueOrder"];

/** The policy with every combination of its choices; numbers keep their defaults. */
function allChoices(definition: PolicyDefinition): PolicyChoice[] {
  let settings: string[][] = [[]];
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice" || (definition.sharing === "time" && IDLE_CHOICES.includes(spec.name)))
      continue;
    settings = settings.flatMap((before) =>
      spec.choices.map((choice) => [...before, `${spec.name}=${choice}`]),
    );
  }
  return settings.map((one) => makeChoice(definition, one));
}

function downeyInstance(processors: number): Instance {
  const parameters = parseParameters("model", downey.parameters, [
    "jobs=400",
    "load=0.8",
    `processors=${processors}`,
  ]);
  return prepare(downey.generate(parameters, 1), processors, DEFAULT_RULES);
}

const instances = [...conformanceInstances(), downeyInstance(128), downeyInstance(100)];
/** Whole slots and free switches; slots that divide nothing and switches that cost. */
const SLOTS = [
  { slotS: 5, switchS: 0 },
  { slotS: 0.7, switchS: 0.1 },
];

describe("every policy of the registry passes the checker", () => {
  expect(POLICIES.length).toBeGreaterThan(3);
  for (const definition of POLICIES) {
    for (const choice of allChoices(definition)) {
      for (const slots of definition.sharing === "time" ? SLOTS : SLOTS.slice(0, 1)) {
        const label =
          definition.sharing === "time" ? `${choice.label}, slots of ${slots.slotS} s` : choice.label;
        test(`${label}: on every workload`, () => {
          for (const instance of instances) {
            const result = audit(instance, choice, slots);
            const name = instance.workload.name;
            expect(result.ok, [`workload ${name}`, ...auditLines(label, result)].join("\n")).toBe(true);
            expect(result.checked.starts, name).toBe(instance.count);
            expect(result.checked.ends, name).toBe(instance.count);
            // At three instants, or all, two kinds of future each.
            expect(result.checked.probes, name).toBeGreaterThanOrEqual(
              Math.min(6, 2 * result.checked.instants),
            );
            // Every start is compared with the second run's.
            expect(result.checked.comparisons, name).toBeGreaterThanOrEqual(instance.count);
          }
        });
      }
    }
  }
});
