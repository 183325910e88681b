/** Turns a text such as `easy:order=shortest` into a policy with all its parameters. */
import { closest } from "../core/did-you-mean.ts";
import { InputError } from "../core/errors.ts";
import { parameterSuffix, parseParameters } from "../core/parameters.ts";
import type { PolicyChoice, PolicyDefinition, PolicyDescription } from "../core/policy.ts";
import { POLICIES } from "./registry.ts";

/**
 * Reads `name` or `name:parameter=value:parameter=value`.
 * @param own the user's policies, which are searched before the registry
 * @throws InputError for an unknown name (suggests the closest), an unknown parameter, or a value out of
 *   range
 */
export function choosePolicy(text: string, own: readonly PolicyDefinition[] = []): PolicyChoice {
  return chooseAmong([...own, ...POLICIES], text);
}

/** Like `choosePolicy`, among the policies of a list. */
export function chooseAmong<Definition extends PolicyDescription<unknown>>(
  known: readonly Definition[],
  text: string,
): PolicyChoice<Definition> {
  const [name, ...settings] = text.split(":");
  const definition = known.find((policy) => policy.name === name);
  if (definition !== undefined) return makeChoice(definition, settings);
  // A site's queue classes replace a policy of the registry under its name.
  const names = [...new Set(known.map((policy) => policy.name))];
  throw new InputError(
    `Cannot find policy "${name}"${closest(name, names)}: expected one of ${names.join(", ")}`,
  );
}

/** Fills in the parameters of a policy from `parameter=value` texts; the others keep their defaults. */
export function makeChoice<Definition extends PolicyDescription<unknown>>(
  definition: Definition,
  settings: readonly string[] = [],
): PolicyChoice<Definition> {
  const parameters = parseParameters(`policy "${definition.name}"`, definition.parameters, settings);
  return {
    definition,
    parameters,
    label: definition.name + parameterSuffix(definition.parameters, parameters),
  };
}
