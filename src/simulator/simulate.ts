/** Simulates any policy on an instance: the entry point of the simulator. */
import { InputError } from "../core/errors.ts";
import type { Instance } from "../core/jobs.ts";
import { FEATURES, type Feature, type PolicyChoice } from "../core/policy.ts";
import type { Observer, Schedule } from "../core/schedule.ts";
import { simulatePool } from "./pool.ts";
import { simulateRounds } from "./rounds.ts";

interface SimulationOptions {
  /** Useful length of a slot in seconds; time sharing only. */
  readonly slotS: number;
  /** Time lost at each slot boundary while there is more than one row, in seconds; time sharing only. */
  readonly switchS: number;
  readonly observer?: Observer | undefined;
  /** Called now and then with the number of jobs that have arrived. */
  readonly progress?: ((arrived: number) => void) | undefined;
}

/**
 * Runs the instance under the policy.
 * @throws InputError if the machine has a feature that the policy cannot handle
 * @throws RuleViolation if the policy makes a decision that the machine does not allow
 */
export function simulate(instance: Instance, choice: PolicyChoice, options: SimulationOptions): Schedule {
  const { definition, parameters } = choice;
  if (instance.interruptions?.outages.length) requireFeature(choice, "outages");
  if (instance.resources?.length) requireFeature(choice, "resources");
  return definition.sharing === "space"
    ? simulatePool(instance, definition, parameters, options)
    : simulateRounds(instance, definition, parameters, options);
}

function requireFeature({ definition, parameters, label }: PolicyChoice, feature: Feature): void {
  if (definition.copesWith?.(parameters).includes(feature)) return;
  throw new InputError(
    `Cannot run policy "${label}" here: ${FEATURES[feature]}, expected a policy whose copesWith lists "${feature}"`,
  );
}
