import { describe, expect, test } from "vitest";
import { chooseAnyPolicy, choosePolicy } from "./choose.ts";
import { easy } from "./easy.ts";
import { isForOneMachine, KINDS, rulesOf } from "./kinds.ts";
import { ALL_POLICIES, POLICIES } from "./registry.ts";

describe("the registry", () => {
  test("every policy has a name of its own, rules and a source in words", () => {
    expect(new Set(ALL_POLICIES.map(({ name }) => name)).size).toBe(ALL_POLICIES.length);
    for (const policy of ALL_POLICIES) {
      expect(policy.name).toMatch(/^[a-z][a-z-]*$/);
      expect(policy.summary, policy.name).toMatch(/\.$/);
      expect(policy.source, policy.name).not.toBe("");
      expect(rulesOf(policy).length, policy.name).toBeGreaterThan(0);
    }
  });

  test("has policies of every kind, and those for one machine by themselves", () => {
    expect(new Set(ALL_POLICIES.map(({ sharing }) => sharing))).toEqual(new Set(Object.keys(KINDS)));
    expect(POLICIES).toEqual(ALL_POLICIES.filter(isForOneMachine));
    expect(new Set(POLICIES.map(({ sharing }) => sharing))).toEqual(new Set(["space", "time"]));
  });
});

describe("choosePolicy()", () => {
  test("takes a policy for one machine with its parameters, one of the user's own before the registry's", () => {
    expect(choosePolicy("easy:order=shortest").label).toBe("easy:order=shortest");
    const own = { ...easy, title: "mine" };
    expect(choosePolicy("easy", [own]).definition).toBe(own);
    const ownSites = { ...easy, name: "sites-one" };
    expect(choosePolicy("sites-one", [ownSites]).definition).toBe(ownSites);
  });

  test("refuses a policy of another kind, naming what it schedules and the command that runs it", () => {
    const others = ALL_POLICIES.filter((policy) => !isForOneMachine(policy));
    expect(others.length).toBeGreaterThan(3);
    for (const { name, sharing } of others) {
      const { machine, command } = KINDS[sharing];
      for (const part of [`"${name}"`, machine, command(name)])
        expect(() => choosePolicy(`${name}:threshold=1`), name).toThrow(part);
    }
  });

  test("an unknown name is answered with names that can be used there", () => {
    expect(() => choosePolicy("esay")).toThrow('did you mean "easy"');
    expect(() => choosePolicy("nothing")).not.toThrow("sites-one");
    expect(() => chooseAnyPolicy("nothing")).toThrow("sites-one");
  });
});

describe("chooseAnyPolicy()", () => {
  test("takes every kind, with parameters", () => {
    for (const { name } of ALL_POLICIES) expect(chooseAnyPolicy(name).definition.name).toBe(name);
    expect(chooseAnyPolicy("tasks-grades:alpha=3").label).toBe("tasks-grades:alpha=3");
    expect(() => chooseAnyPolicy("sites-one:order=size")).toThrow("largest, oldest");
  });
});
