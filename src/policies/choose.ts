/** From the text `easy:order=shortest` to a policy with all its parameters. */
import { closest } from "../core/closest.ts";
import { InputError } from "../core/errors.ts";
import { parameterSuffix, parseParameters } from "../core/parameters.ts";
import type { PolicyChoice, PolicyDefinition } from "../core/policy.ts";
import { POLICIES } from "./registry.ts";

/**
 * Reads `name` or `name:parameter=value:parameter=value`.
 * @param own policies of the user's, looked at before the registry
 * @throws InputError for an unknown name, an unknown parameter, or a value out of range; suggests the closest name
 */
export function choosePolicy(text: string, own: readonly PolicyDefinition[] = []): PolicyChoice {
  const [name, ...settings] = text.split(":");
  const known = [...own, ...POLICIES];
  const definition = known.find((policy) => policy.name === name);
  if (definition === undefined) {
    throw new InputError(
      `Cannot find policy "${name}"${closest(
        name,
        known.map((policy) => policy.name),
      )}: expected one of ${known.map((policy) => policy.name).join(", ")}`,
    );
  }
  return makeChoice(definition, settings);
}

/** Fills in the parameters of a policy from `parameter=value` texts; those not named keep their defaults. */
export function makeChoice(definition: PolicyDefinition, settings: readonly string[] = []): PolicyChoice {
  const parameters = parseParameters(`policy "${definition.name}"`, definition.parameters, settings);
  return {
    definition,
    parameters,
    label: definition.name + parameterSuffix(definition.parameters, parameters),
  };
}
