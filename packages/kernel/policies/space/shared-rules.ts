/** Words the rules that most space-sharing policies have in common. */
import type { Rule } from "../../core/policy.ts";

export const DECIDES_ONCE: Rule = {
  text: "the policy decides once per instant, after all ends and arrivals of that instant",
  isInherited: true,
};

export const SEES_ESTIMATES: Rule = {
  text: "policies see estimates, never run times",
  isInherited: true,
};

export const ESTIMATES_BY_ORDER: Rule = {
  text: "estimates are used only if the queue order uses them",
  isInherited: true,
};
