import { describe, expect, test } from "vitest";
import { ROUNDS_RULES, rulesOf } from "../simulator/rules.ts";
import { choosePolicy, makeChoice } from "./parse-policy.ts";
import { POLICIES } from "./registry.ts";
import { easy } from "./space/easy.ts";

describe("the registry", () => {
  test("every policy has a name of its own, rules and a source in words", () => {
    expect(new Set(POLICIES.map(({ name }) => name)).size).toBe(POLICIES.length);
    for (const policy of POLICIES) {
      expect(policy.name).toMatch(/^[a-z][a-z-]*$/);
      expect(policy.summary, policy.name).toMatch(/\.$/);
      expect(policy.source, policy.name).not.toBe("");
      expect(rulesOf(makeChoice(policy)).own.length, policy.name).toBeGreaterThan(0);
    }
  });

  test.each([
    ["gang", "no job waits: every arrival is placed at once", true],
    ["gang:rows=4", "no job waits: every arrival is placed at once", false],
    ["gang:rows=4", "queue=fcfs: no job passes the head", true],
    ["gang:rows=4:queue=easy", "queue=fcfs: no job passes the head", false],
    [
      "connected-reservation:reservations=unlimited",
      "a request is refused if there are not enough donors, and the job keeps waiting",
      true,
    ],
    [
      "connected-reservation",
      "a request is refused if there are not enough donors, and the job keeps waiting",
      false,
    ],
    [
      "connected-reservation:selection=user",
      "selection=user: each job joins the queue that the workload states",
      true,
    ],
    ["random", "no job waits: every arrival is placed at once", true],
  ])("%s: %s: %s", (text, rule, isInForce) => {
    const { own, inherited } = rulesOf(choosePolicy(text));
    expect([...own, ...inherited].includes(rule)).toBe(isInForce);
  });

  test("a handful of rules is a policy's own", () => {
    for (const policy of POLICIES)
      expect(rulesOf(makeChoice(policy)).own.length, policy.name).toBeLessThan(10);
    expect(rulesOf(choosePolicy("gang:rows=4")).inherited).toEqual(expect.arrayContaining([...ROUNDS_RULES]));
  });

  test("has policies of both kinds", () => {
    expect(new Set(POLICIES.map(({ sharing }) => sharing))).toEqual(new Set(["space", "time"]));
  });
});

describe("choosePolicy()", () => {
  test("names a policy once that takes the place of another one", () => {
    const own = choosePolicy("connected-reservation").definition;
    expect(() => choosePolicy("nothing", [own])).toThrow(
      /^(?!.*connected-reservation.*connected-reservation).*connected-reservation/,
    );
  });

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

describe("older words", () => {
  test.each([
    ["wlv:unify=returned", "wlv:extraSlots=returned"],
    ["gang:unify=none", "gang"],
    ["brms:order=largest:perChange=1", "brms:extraOrder=largest:extraPerChange=1"],
    ["brms:order=smallest:perChange=0", "brms"],
    ["gang:rows=0", "gang"],
    ["wlv:memory=0:rows=none", "wlv"],
    ["br:migrate=-1", "br"],
  ])("%s is %s", (older, label) => {
    const { parameters, ...choice } = choosePolicy(older);
    expect(choice.label).toBe(label);
    expect(parameters).toEqual(choosePolicy(label).parameters);
  });

  test.each(["gang:rows=-1", "br:migrate=-2", "fcfs:order=none", "gang:rows=1.5", "wlv:memory="])(
    "%s is still refused",
    (text) => expect(() => choosePolicy(text)).toThrow(/Cannot set parameter/),
  );
});
