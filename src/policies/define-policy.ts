/** What a policy of the user's own has to say, and what is said for it where it says nothing. */
import type { GangPolicyDefinition, PolicyDefinition, SpacePolicyDefinition } from "../core/policy.ts";

type Described = "title" | "summary" | "rules" | "source" | "parameters" | "guarantees";
type WithDefaults<Definition> = Omit<Definition, Described> & Partial<Definition>;

/** A policy definition of which only `name`, `sharing` and `make` are required. */
export type PolicyParts = WithDefaults<SpacePolicyDefinition> | WithDefaults<GangPolicyDefinition>;

/**
 * A policy of your own, for the default export of its file:
 *
 *     export default definePolicy({
 *       name: "mine",
 *       sharing: "space",
 *       make: (pool, jobs, parameters) => new Mine(pool, jobs, parameters),
 *     });
 *
 * Left out, there are no rules and no parameters, and nothing is guaranteed beyond what the machine enforces.
 */
export function definePolicy(parts: PolicyParts): PolicyDefinition {
  return {
    title: parts.name,
    summary: "a policy of the user's own",
    rules: [],
    source: "the user's own",
    parameters: [],
    guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false }),
    ...parts,
  };
}
