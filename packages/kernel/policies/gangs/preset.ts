/**
 * Fixes some parameters of a gang policy, so that a published scheme has its own name.
 *
 * @param defaults of parameters that stay, where they are not those of the base
 */
import type { GangPolicyDefinition, ParameterSpec, ParameterValues } from "../../core/policy.ts";

export function preset(
  base: GangPolicyDefinition,
  fixed: ParameterValues,
  description: Partial<GangPolicyDefinition>,
  defaults: ParameterValues = {},
): GangPolicyDefinition {
  return {
    ...base,
    rules: base.rules.map((rule) => {
      if (typeof rule === "string" || rule.when === undefined) return rule;
      const { when } = rule;
      return { ...rule, when: (parameters: ParameterValues) => when({ ...parameters, ...fixed }) };
    }),
    parameters: base.parameters
      .filter(({ name }) => !(name in fixed))
      .map(
        (parameter) =>
          ({ ...parameter, default: defaults[parameter.name] ?? parameter.default }) as ParameterSpec,
      ),
    guarantees: (parameters) => base.guarantees({ ...parameters, ...fixed }),
    make: (machine, jobs, parameters) => base.make(machine, jobs, { ...parameters, ...fixed }),
    ...description,
  };
}
