/** Says which parts a user-defined policy must have, and fills in defaults for the others. */
import type { GangPolicyDefinition, PolicyDefinition, SpacePolicyDefinition } from "../core/policy.ts";

type Described = "title" | "summary" | "rules" | "source" | "parameters" | "guarantees";
type WithDefaults<Definition> = Omit<Definition, Described> & Partial<Definition>;

/** A policy definition of which only `name`, `sharing` and `make` are required. */
export type PolicyParts = WithDefaults<SpacePolicyDefinition> | WithDefaults<GangPolicyDefinition>;

/**
 * Defines a policy of your own. Make it the default export of its file:
 *
 *     export default definePolicy({
 *       name: "mine",
 *       sharing: "space",
 *       make: (pool, jobs, parameters) => new Mine(pool, jobs, parameters),
 *     });
 *
 * By default a policy has no rules and no parameters, and it guarantees nothing beyond what the machine
 * enforces.
 */
export function definePolicy(parts: PolicyParts): PolicyDefinition {
  return {
    title: parts.name,
    summary: "a user-defined policy",
    rules: [],
    source: "user-defined",
    parameters: [],
    guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false }),
    ...parts,
  };
}
