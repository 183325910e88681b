/** Lists all settings of a policy, for tests that cover the whole registry. */
import type { PolicyChoice, PolicyDescription } from "../core/policy.ts";
import { makeChoice } from "./parse-policy.ts";

/** The policy with every combination of its choices except those left out; numbers keep their defaults. */
export function allChoices<Definition extends PolicyDescription<unknown>>(
  definition: Definition,
  leftOut: readonly string[] = [],
): PolicyChoice<Definition>[] {
  let settings: string[][] = [[]];
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice" || leftOut.includes(spec.name)) continue;
    settings = settings.flatMap((before) =>
      spec.choices.map((choice) => [...before, `${spec.name}=${choice}`]),
    );
  }
  return settings.map((setting) => makeChoice(definition, setting));
}
