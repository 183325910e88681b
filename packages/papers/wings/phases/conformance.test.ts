/** Runs every policy of phases, with every choice, under the checker, and tests that it finds faults. */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { allChoices } from "@tutti/kernel/policies/choices-for-tests.ts";
import { chooseAmong, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { PhasesChecker } from "./checker.ts";
import type { PhasesInstance, PhasesMachine, PhasesPolicyDefinition, PhasesSchedule } from "./contract.ts";
import { randomPhases } from "./phases-for-tests.ts";
import { pool } from "./policies/pool.ts";
import { PHASES_POLICIES } from "./policies/registry.ts";
import { simulatePhases } from "./simulate.ts";

const INSTANCES = 150;
const MORE = [
  "phases-pool:most=0",
  "phases-pool:most=2",
  "phases-pool:order=served:most=1",
  "phases-grades:most=1",
];

function run(
  instance: PhasesInstance,
  { definition, parameters }: PolicyChoice<PhasesPolicyDefinition>,
): PhasesSchedule {
  const checker = new PhasesChecker(instance, definition.guarantees(parameters));
  return simulatePhases(instance, definition, parameters, checker);
}

function choicesOf(definition: PhasesPolicyDefinition): PolicyChoice<PhasesPolicyDefinition>[] {
  // One group takes every gang.
  const settings = definition.name === "phases-lock" ? ["groups=64"] : [];
  return allChoices(definition).map((choice) => {
    const own = Object.entries(choice.parameters)
      .filter(([name]) => definition.parameters.find((spec) => spec.name === name)?.kind === "choice")
      .map(([name, value]) => `${name}=${value}`);
    return makeChoice(definition, [...own, ...settings]);
  });
}

describe("every policy of phases passes the checker", () => {
  const choices = [
    ...PHASES_POLICIES.flatMap(choicesOf),
    ...MORE.map((name) => chooseAmong(PHASES_POLICIES, name)),
  ];
  test.each(choices)("$label: all gangs leave, and a second run is the same", (choice) => {
    const mostPools = choice.definition.name === "phases-rows" ? 1 : 2;
    for (let seed = 1; seed <= INSTANCES; seed++) {
      const instance = randomPhases(seed, mostPools);
      const schedule = run(instance, choice);
      expect(
        schedule.leftMs.every((ms) => ms >= 0),
        `seed ${seed}`,
      ).toBe(true);
      expect(run(instance, choice), `seed ${seed}`).toEqual(schedule);
    }
  });
});

/** The policy with one of its acts replaced. */
function broken(
  change: (machine: PhasesMachine) => Partial<PhasesMachine>,
): PolicyChoice<PhasesPolicyDefinition> {
  const make: PhasesPolicyDefinition["make"] = (machine, gangs, parameters) => {
    const changed = change(machine);
    const other = new Proxy(machine, {
      get: (of, name) => {
        const value = Reflect.get(changed, name) ?? Reflect.get(of, name);
        return typeof value === "function" ? value.bind(of) : value;
      },
    });
    return pool.make(other, gangs, parameters);
  };
  return makeChoice({ ...pool, make }, []);
}

function anyRun(choice: PolicyChoice<PhasesPolicyDefinition>): void {
  for (let seed = 1; seed <= INSTANCES; seed++) run(randomPhases(seed), choice);
}

describe("the checker", () => {
  test("finds a turn that waits although its units are free", () => {
    let asked = 0;
    const lazy = broken((machine) => ({
      free: (turn) => (++asked % 3 === 0 ? undefined : machine.free(turn)),
    }));
    expect(() => anyRun(lazy)).toThrow('Broken rule "idle"');
  });

  test("finds a turn that passes another more often than promised", () => {
    const inAnyOrder = chooseAmong(PHASES_POLICIES, "phases-pool");
    const guarantees = () => ({
      ...pool.guarantees(inAnyOrder.parameters),
      workConserving: false,
      mostPassed: 0,
    });
    const claims = { ...inAnyOrder, definition: { ...inAnyOrder.definition, guarantees } };
    expect(() => anyRun(claims)).toThrow('Broken rule "passed-too-often"');
  });

  test("finds two gangs with one lock, and a gang that changes its units", () => {
    const choice = chooseAmong(PHASES_POLICIES, "phases-pool");
    const claims = (claim: object) => ({
      ...choice,
      definition: {
        ...choice.definition,
        guarantees: () => ({ workConserving: false, fixedUnits: false, ...claim }),
      },
    });
    expect(() => anyRun(claims({ groups: [64] }))).toThrow('Broken rule "lock-twice"');
    expect(() => anyRun(claims({ fixedUnits: true }))).toThrow('Broken rule "other-units"');
  });

  test("finds a machine that does not keep its times", () => {
    const instance = randomPhases(3);
    const choice = chooseAmong(PHASES_POLICIES, "phases-pool");
    const claims = choice.definition.guarantees(choice.parameters);
    for (const column of ["holdMs", "waitMs", "saveMs"] as const) {
      const turns = { ...instance.turns, [column]: instance.turns[column].map((ms) => ms + 1) };
      const checker = new PhasesChecker({ ...instance, turns }, claims);
      expect(() => simulatePhases(instance, choice.definition, choice.parameters, checker), column).toThrow(
        "Broken rule",
      );
    }
  });
});

describe("the machine refuses", () => {
  const refused = (change: (machine: PhasesMachine) => Partial<PhasesMachine>) => () =>
    anyRun(broken(change));

  test("units that another gang has, too few units, and units away from home", () => {
    expect(refused((machine) => ({ free: (turn) => [...(machine.free(turn) ?? [0])].slice(1) }))).toThrow(
      "expected",
    );
    expect(
      refused((machine) => ({ free: (turn) => machine.free(turn) ?? firstUnits(machine, turn) })),
    ).toThrow(/is not free|is resident with/);
  });

  test("more residents than the hosts have memory for", () => {
    expect(refused((machine) => ({ room: (gang) => machine.room(gang) ?? [0, 1] }))).toThrow(
      /no room|expected/,
    );
  });
});

function firstUnits(machine: PhasesMachine, turn: number): number[] {
  let count = 0;
  const home = machine.homeOf(turn % 2);
  for (let i = 1; i < home.length; i += 2) count += home[i];
  return Array.from({ length: Math.max(1, count) }, (_, i) => i);
}
