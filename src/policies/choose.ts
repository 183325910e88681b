/** From the text `easy:order=shortest` to a policy with all its parameters. */
import { closest } from "../core/closest.ts";
import { InputError } from "../core/errors.ts";
import { parameterSuffix, parseParameters } from "../core/parameters.ts";
import type { PolicyChoice, PolicyDefinition } from "../core/policy.ts";
import { type AnyPolicyDefinition, KINDS } from "./kinds.ts";
import { ALL_POLICIES, POLICIES } from "./registry.ts";

/**
 * Reads `name` or `name:parameter=value:parameter=value`.
 * @param own policies of the user's, looked at before the registry
 * @throws InputError for an unknown name (suggests the closest), a policy that needs another machine than one pool of
 * processors, an unknown parameter, or a value out of range
 */
export function choosePolicy(text: string, own: readonly PolicyDefinition[] = []): PolicyChoice {
  const other = ALL_POLICIES.find(({ name }) => name === text.split(":")[0]);
  const known = [...own, ...POLICIES];
  if (other === undefined || known.some(({ name }) => name === other.name)) return chooseAmong(known, text);
  const { machine, command } = KINDS[other.sharing];
  throw new InputError(
    `Cannot use policy "${other.name}" here: it schedules ${machine}, expected a policy for the jobs of one machine; ` +
      `\`${command(other.name)}\` runs it`,
  );
}

/** As `choosePolicy`, for policies of every kind: to be told of, not to be run. */
export function chooseAnyPolicy(text: string): PolicyChoice<AnyPolicyDefinition> {
  return chooseAmong(ALL_POLICIES, text);
}

/** Fills in the parameters of a policy from `parameter=value` texts; those not named keep their defaults. */
export function makeChoice<Definition extends AnyPolicyDefinition>(
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

function chooseAmong<Definition extends AnyPolicyDefinition>(
  known: readonly Definition[],
  text: string,
): PolicyChoice<Definition> {
  const [name, ...settings] = text.split(":");
  const definition = known.find((policy) => policy.name === name);
  if (definition !== undefined) return makeChoice(definition, settings);
  const names = known.map((policy) => policy.name);
  throw new InputError(
    `Cannot find policy "${name}"${closest(name, names)}: expected one of ${names.join(", ")}`,
  );
}
