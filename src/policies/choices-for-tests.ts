/** A policy with all of its settings, for tests that take the whole list. */
import type { PolicyChoice, PolicyDescription } from "../core/policy.ts";
import { makeChoice } from "./parse-policy.ts";

/** The policy with every combination of its choices but those left out; numbers keep their defaults. */
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
  return settings.map((one) => makeChoice(definition, one));
}
