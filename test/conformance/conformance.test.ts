/**
 * Runs the conformance suite: every policy of the registry, with every value of every choice among its
 * parameters, on the same workloads, under the checker. A policy in the registry is included automatically.
 * It declares in `guarantees` what it does not guarantee. NOT_ASKED lists what no space-sharing policy, or no
 * time-sharing policy, can guarantee. Every policy runs on every workload and with every setting; in `npm run
 * soak` each of its settings runs on every workload, otherwise the settings share the workloads.
 *
 * All policies must obey the rules of the machine at every step, start and end every job, and make the same
 * decisions in a second run. If only later arrivals or run times differ, the decisions up to that time must
 * be the same.
 */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import { NONE, type PolicyChoice, type PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { allChoices } from "@tutti/kernel/policies/choices-for-tests.ts";
import { conformanceInstances } from "@tutti/kernel/policies/instances-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { downey } from "@tutti/kernel/workload/models/downey.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";

type Sharing = PolicyDefinition["sharing"];

/**
 * Choices that have no effect while the numbers keep their defaults; admission.test.ts tests them with
 * limits.
 */
const IDLE_CHOICES = ["queue", "queueOrder"];

/** All guarantees that policies can declare, with the reason if no policy of a kind can give them. */
const NOT_ASKED: Readonly<Record<string, Partial<Readonly<Record<Sharing, string>>>>> = {
  headNeverFits: {},
  workConserving: {},
  keepsPromises: {},
  reservesHead: { time: "gangs start in rows, and processors are not reserved for them" },
  avoidsOutages: { time: "gangs are placed without a look at the time to come" },
  maxRows: { space: "there are no rows" },
  memory: { space: "a processor has one job at a time" },
  migrationS: { space: "a job that has started keeps its processors" },
};

function choicesOf(definition: PolicyDefinition): PolicyChoice[] {
  return allChoices(definition, definition.sharing === "time" ? IDLE_CHOICES : []);
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
/**
 * Two settings: slots of whole seconds with free switches; slots that divide no run time, with switches that
 * cost.
 */
const SLOTS = [
  { slotS: 5, switchS: 0 },
  { slotS: 0.7, switchS: 0.1 },
];

type Setting = { readonly choice: PolicyChoice; readonly slots: (typeof SLOTS)[number] };

function checkOnOneMachine({ choice, slots }: Setting, label: string, on: readonly Instance[]): void {
  for (const instance of on) {
    const result = audit(instance, choice, { ...slots, probedInstants: 3_000 });
    const name = instance.workload.name;
    expect(result.ok, [`workload ${name}`, ...auditLines(label, result)].join("\n")).toBe(true);
    expect(result.checked.starts, name).toBe(instance.count);
    expect(result.checked.ends, name).toBe(instance.count);
    // At three instants, or all, two kinds of future each.
    expect(result.checked.probes, name).toBeGreaterThanOrEqual(Math.min(6, 2 * result.checked.instants));
    // Every start is compared with that of the second run.
    expect(result.checked.comparisons, name).toBeGreaterThanOrEqual(instance.count);
  }
}

function describeOnOneMachine(definition: PolicyDefinition): void {
  const hasSlots = definition.sharing === "time";
  const settings = choicesOf(definition).flatMap((choice) =>
    (hasSlots ? SLOTS : SLOTS.slice(0, 1)).map((slots) => ({ choice, slots })),
  );
  const every = Math.min(SIZES.conformanceEvery, settings.length);
  for (const [turn, setting] of settings.entries()) {
    const { choice, slots } = setting;
    const label = hasSlots ? `${choice.label}, slots of ${slots.slotS} s` : choice.label;
    const on = inTurn(instances, every, turn);
    test(`${label}: on ${on.length} workloads`, () => checkOnOneMachine(setting, label, on));
  }
}

/**
 * Names of what the policy guarantees with any of its choices, and also with numbers above their defaults,
 * such as limits.
 */
function promisesOf(definition: PolicyDefinition): string[] {
  const higher = definition.parameters.flatMap((spec) =>
    spec.kind !== "integer" && spec.kind !== "number"
      ? []
      : [`${spec.name}=${spec.default === NONE ? spec.min : Math.min(spec.default + 1, spec.max)}`],
  );
  return [...choicesOf(definition), makeChoice(definition, higher)].flatMap((choice) =>
    Object.keys(choice.definition.guarantees(choice.parameters)),
  );
}

for (const sharing of ["space", "time"] as const) {
  const policies = POLICIES.filter((policy) => policy.sharing === sharing);
  describe(`every policy of the registry passes the checker: ${sharing} sharing`, () => {
    expect(policies.length).toBeGreaterThan(1);
    for (const definition of policies) describeOnOneMachine(definition);

    const promises = new Set(policies.flatMap(promisesOf));
    for (const [promise, reasons] of Object.entries(NOT_ASKED)) {
      if (reasons[sharing] === undefined) continue;
      test(`not required: ${promise}, since ${reasons[sharing]}`, () =>
        expect([...promises]).not.toContain(promise));
    }
    test("every other promise that is made is one that the checker knows", () => {
      expect(promises.size).toBeGreaterThan(0);
      for (const promise of promises) expect(Object.keys(NOT_ASKED)).toContain(promise);
    });
  });
}
