/** Lists all wings (wing.ts) and finds them by name. */
import { parameterSuffix, parseParameters } from "@tutti/kernel/core/parameters.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import { phases } from "./phases/wing.ts";
import { pilots } from "./pilots/wing.ts";
import { sites } from "./sites/wing.ts";
import { tasks } from "./tasks/wing.ts";
import type { Wing } from "./wing.ts";

export const WINGS: readonly Wing[] = [sites, tasks, phases, pilots];

/** A wing with its parameters filled in. */
export interface WingChoice {
  readonly wing: Wing;
  readonly parameters: ParameterValues;
  /** Name with the parameters that differ from their defaults. */
  readonly label: string;
}

/**
 * Reads `sites:sizes=64,64:load=0.8`; undefined if the text does not name a wing.
 * @throws InputError for an unknown parameter or a value out of range
 */
export function parseWing(text: string): WingChoice | undefined {
  const [name, ...settings] = text.split(":");
  const wing = WINGS.find((candidate) => candidate.name === name);
  if (wing === undefined) return undefined;
  const parameters = parseParameters(`"${wing.name}"`, wing.parameters, settings);
  return { wing, parameters, label: wing.name + parameterSuffix(wing.parameters, parameters) };
}

/** The wing to which the policy `name:parameter=value` belongs. */
export function wingOfPolicy(text: string): Wing | undefined {
  const [name] = text.split(":");
  return WINGS.find(({ policies }) => policies.some((policy) => policy.name === name));
}
