/**
 * The one conformance suite: every policy of the registry, with every value of every choice among its parameters, on
 * the same workloads of its kind, under the checker of its kind. A policy gets in by standing in the registry. What it does not
 * promise it declares in `guarantees`; what no policy of a kind can promise stands in NOT_ASKED; no case is skipped here.
 *
 * Asked of every kind: the rules of its machine at every step, every job started and ended, the same decisions in a second run, and
 * the same decisions when only later arrivals or later run times differ.
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
import type { Looked } from "./decisions-for-tests.ts";
import { conformanceInstances } from "./instances-for-tests.ts";
import { type AnyPolicyDefinition, KINDS, type Sharing } from "./kinds.ts";
import { ALL_POLICIES } from "./registry.ts";
import { checkSitesPolicy } from "./sites-conformance-for-tests.ts";
import { checkTasksPolicy } from "./tasks-conformance-for-tests.ts";

/** Choices that do nothing while the numbers keep their defaults; admission.conformance.test.ts has them with limits. */
const IDLE_CHOICES = ["queue", "queueOrder"];

/** All promises that policies make in `guarantees`, and the kinds that have no such promise, with the reason. */
const NOT_ASKED: Readonly<Record<string, Partial<Readonly<Record<Sharing, string>>>>> = {
  headNeverFits: {
    sites: "every processor has a queue of its own, and the checker follows each; there is no one head",
    tasks: "a processor's tasks stand in no queue",
  },
  workConserving: {
    sites: "a processor that idles while its queue has a local job is against the rules of the machine",
  },
  keepsPromises: {
    sites: "the machine takes no promises: what a gang waits for is bounded by thresholdS",
    tasks: "a local scheduler starts no jobs",
  },
  maxRows: {
    space: "there are no rows",
    sites: "there are no rows",
    tasks: "rows are the gang policy's, which is asked in its own kind",
  },
  memory: {
    space: "a processor has one job at a time",
    sites: "a processor has one job at a time",
    tasks: "what is in the matrix is the gang policy's, which is asked in its own kind",
  },
  migrationS: {
    space: "a job that has started keeps its processors",
    sites: "a job that has started keeps its processors",
    tasks: "a task keeps its processor",
  },
  ...forSitesOnly("thresholdS", "noGangLeft", "noGangLeftAcrossSites", "takesHeld", "criticalAhead"),
};

function forSitesOnly(...names: readonly string[]) {
  const reason = "there is one site";
  return Object.fromEntries(names.map((name) => [name, { space: reason, time: reason, tasks: reason }]));
}

/** The policy with every combination of its choices; numbers keep their defaults. */
function allChoices<Definition extends AnyPolicyDefinition>(
  definition: Definition,
): PolicyChoice<Definition>[] {
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

function checkOnOneMachine(choice: PolicyChoice, label: string, slots: (typeof SLOTS)[number]): void {
  for (const instance of instances) {
    const result = audit(instance, choice, slots);
    const name = instance.workload.name;
    expect(result.ok, [`workload ${name}`, ...auditLines(label, result)].join("\n")).toBe(true);
    expect(result.checked.starts, name).toBe(instance.count);
    expect(result.checked.ends, name).toBe(instance.count);
    // At three instants, or all, two kinds of future each.
    expect(result.checked.probes, name).toBeGreaterThanOrEqual(Math.min(6, 2 * result.checked.instants));
    // Every start is compared with the second run's.
    expect(result.checked.comparisons, name).toBeGreaterThanOrEqual(instance.count);
  }
}

function describeOnOneMachine(definition: PolicyDefinition): void {
  for (const choice of allChoices(definition)) {
    for (const slots of definition.sharing === "time" ? SLOTS : SLOTS.slice(0, 1)) {
      const label =
        definition.sharing === "time" ? `${choice.label}, slots of ${slots.slotS} s` : choice.label;
      test(`${label}: on every workload`, () => checkOnOneMachine(choice, label, slots));
    }
  }
}

/** Names of what the policy promises, with whichever of its choices, and with numbers above their defaults: limits, for instance. */
function promisesOf(definition: AnyPolicyDefinition): string[] {
  const higher = definition.parameters.flatMap((spec) =>
    spec.kind === "choice" ? [] : [`${spec.name}=${Math.min(spec.default + 1, spec.max)}`],
  );
  return [...allChoices(definition), makeChoice(definition, higher)].flatMap((choice) =>
    Object.keys(choice.definition.guarantees(choice.parameters)),
  );
}

function describeBy<Definition extends AnyPolicyDefinition>(
  check: (choice: PolicyChoice<Definition>) => Looked,
  definition: Definition,
): void {
  for (const choice of allChoices(definition)) {
    test(`${choice.label}: on every workload`, () => {
      for (const [what, count] of Object.entries(check(choice))) expect(count, what).toBeGreaterThan(100);
    });
  }
}

function describePolicy(definition: AnyPolicyDefinition): void {
  if (definition.sharing === "sites") describeBy(checkSitesPolicy, definition);
  else if (definition.sharing === "tasks") describeBy(checkTasksPolicy, definition);
  else describeOnOneMachine(definition);
}

for (const sharing of Object.keys(KINDS) as Sharing[]) {
  const policies = ALL_POLICIES.filter((policy) => policy.sharing === sharing);
  describe(`every policy of the registry passes the checker of its kind: ${KINDS[sharing].title}`, () => {
    expect(policies.length).toBeGreaterThan(1);
    for (const definition of policies) describePolicy(definition);

    const promises = new Set(policies.flatMap(promisesOf));
    for (const [promise, reasons] of Object.entries(NOT_ASKED)) {
      if (reasons[sharing] === undefined) continue;
      test(`not asked for: ${promise}, since ${reasons[sharing]}`, () =>
        expect([...promises]).not.toContain(promise));
    }
    test("every other promise that is made is one that the checker knows", () => {
      expect(promises.size).toBeGreaterThan(0);
      for (const promise of promises) expect(Object.keys(NOT_ASKED)).toContain(promise);
    });
  });
}
