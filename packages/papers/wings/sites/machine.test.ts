import type { RuleViolation } from "@tutti/kernel/core/errors.ts";
import { describe, expect, test } from "vitest";
import type { SitesMachine, SitesPolicyDefinition } from "./contract.ts";
import { GRID } from "./contract.ts";
import { oneSite } from "./policies.ts";
import { simulateSites } from "./simulate.ts";
import { sitesOf, smallInstance } from "./sites-for-tests.ts";

describe("SimulatedSites refuses what the machine does not allow", () => {
  const instance = smallInstance(sitesOf(2, 1), [
    { submitS: 0, serviceS: 5 },
    { submitS: 0, serviceS: 5, size: 2, home: GRID },
    { submitS: 0, serviceS: 5, home: 1 },
    { submitS: 9, serviceS: 5 },
  ]);
  /** The rule that an action in the first decision breaks. */
  const refused = (act: (machine: SitesMachine) => void): string => {
    const definition: SitesPolicyDefinition = {
      ...oneSite,
      make: (machine) => ({ depart: () => {}, decide: () => act(machine) }),
    };
    try {
      simulateSites(instance, definition, {});
    } catch (error) {
      return (error as RuleViolation).rule;
    }
    return "none";
  };

  test.each<[string, (machine: SitesMachine) => void]>([
    ["none", () => {}],
    ["started-twice", (m) => [m.startLocal(0, 0, 0), m.startLocal(0, 1, 0)]],
    ["processor-twice", (m) => [m.claim(1, 0), m.claim(1, 1), m.startGang(1, 3), m.startLocal(0, 0, 0)]],
    ["processor-twice", (m) => [m.startLocal(0, 0, 0), m.claim(1, 0), m.claim(1, 1), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.claim(1, 0), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.take(1, 0), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.take(1, 0), m.claim(1, 1), m.startGang(1, 3)]],
    ["gang-torn", (m) => m.take(1, 0)],
    ["processor-twice", (m) => [m.take(1, 0), m.take(1, 0)]],
    ["processor-twice", (m) => [m.take(1, 0), m.startLocal(0, 0, 0)]],
    ["not-a-gang", (m) => m.take(0, 0)],
    ["unknown-processor", (m) => m.take(1, 3)],
    ["claims-too-many", (m) => [m.claim(1, 0), m.claim(1, 1), m.claim(1, 2)]],
    ["gang-behind-gang", (m) => [m.claim(1, 0), m.claim(1, 0)]],
    ["foreign-site", (m) => m.startLocal(0, 2, 0)],
    ["foreign-site", (m) => m.enqueue(1, 0)],
    ["not-a-gang", (m) => m.claim(0, 0)],
    ["queued-twice", (m) => [m.enqueue(0, 0), m.enqueue(0, 0)]],
    ["other-queue", (m) => [m.enqueue(0, 0), m.startLocal(0, 1, 0)]],
    ["start-before-arrival", (m) => m.startLocal(3, 0, 0)],
    ["start-before-arrival", (m) => m.claim(7, 0)],
    ["unknown-processor", (m) => m.claim(1, 3)],
    ["unknown-processor", (m) => m.enqueue(0, -1)],
  ])("%s", (rule, act) => {
    expect(refused(act)).toBe(rule);
  });
});
