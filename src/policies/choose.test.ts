import { describe, expect, test } from "vitest";
import { rulesOf } from "../simulator/rules.ts";
import { choosePolicy } from "./choose.ts";
import { easy } from "./easy.ts";
import { POLICIES } from "./registry.ts";

describe("the registry", () => {
  test("every policy has a name of its own, rules and a source in words", () => {
    expect(new Set(POLICIES.map(({ name }) => name)).size).toBe(POLICIES.length);
    for (const policy of POLICIES) {
      expect(policy.name).toMatch(/^[a-z][a-z-]*$/);
      expect(policy.summary, policy.name).toMatch(/\.$/);
      expect(policy.source, policy.name).not.toBe("");
      expect(rulesOf(policy).length, policy.name).toBeGreaterThan(0);
    }
  });

  test("has policies of both kinds", () => {
    expect(new Set(POLICIES.map(({ sharing }) => sharing))).toEqual(new Set(["space", "time"]));
  });
});

describe("choosePolicy()", () => {
  test("takes a policy with its parameters, one of the user's own before the registry's", () => {
    expect(choosePolicy("easy:order=shortest").label).toBe("easy:order=shortest");
    const own = { ...easy, title: "mine" };
    expect(choosePolicy("easy", [own]).definition).toBe(own);
  });

  test("an unknown name is answered with names that can be used there", () => {
    expect(() => choosePolicy("esay")).toThrow('did you mean "easy"');
    expect(() => choosePolicy("nothing")).toThrow("fcfs, ");
  });
});
