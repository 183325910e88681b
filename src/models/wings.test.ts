/** What holds for every wing; a wing gets in by standing in the list. */
import { describe, expect, test } from "vitest";
import { POLICIES } from "../policies/registry.ts";
import { WINGS, wingOfPolicy } from "./wings.ts";

describe("WINGS", () => {
  test("every wing has policies, with names that nothing else has, rules and a source in words", () => {
    const names = [...POLICIES, ...WINGS.flatMap(({ policies }) => policies)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const wing of WINGS) {
      expect(wing.rules.length, wing.name).toBeGreaterThan(0);
      expect(wing.policies.length, wing.name).toBeGreaterThan(1);
      for (const policy of wing.policies) {
        expect(policy.name).toMatch(/^[a-z][a-z-]*$/);
        expect(policy.summary, policy.name).toMatch(/\.$/);
        expect(policy.source, policy.name).not.toBe("");
        expect(policy.rules.length, policy.name).toBeGreaterThan(0);
      }
    }
  });

  test("wingOfPolicy() finds the wing of a policy with its parameters, and none for a policy of one machine", () => {
    for (const wing of WINGS)
      for (const { name } of wing.policies) expect(wingOfPolicy(`${name}:a=1`)).toBe(wing);
    expect(wingOfPolicy("easy")).toBeUndefined();
  });
});
