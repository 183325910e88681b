/** Tests the rules that policies print, for every policy with every value of every choice. */

import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { rulesOf } from "@tutti/kernel/simulator/rules.ts";
import { goldenPolicies } from "@tutti/lab/golden/cells.ts";
import { expect, test } from "vitest";

test("each rule is in force with some policy and setting", () => {
  const limits = POLICIES.filter(({ parameters }) => parameters.some(({ name }) => name === "memory"));
  const tried = [
    ...goldenPolicies(),
    ...limits.map(({ name }) => `${name}:memory=1`),
    "connected-reservation:passing=0.5",
    "connected-reservation:scale=2",
    "buddy:block=exclusive:extraSlots=kept",
  ];
  const seen = new Set(
    tried.flatMap((text) => {
      const { own, inherited } = rulesOf(choosePolicy(text));
      return [...own, ...inherited];
    }),
  );
  for (const { name, rules } of POLICIES)
    for (const rule of rules) expect(seen, name).toContain(typeof rule === "string" ? rule : rule.text);
});
