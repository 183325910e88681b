/** Simulates any policy on an instance: the entry point of the simulator. */
import { InputError } from "../core/errors.ts";
import { type Instance, UNKNOWN } from "../core/jobs.ts";
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
 * @throws InputError if the policy cannot handle a feature of the machine, or one of the jobs
 * @throws RuleViolation if the policy makes a decision that the machine does not allow
 */
export function simulate(instance: Instance, choice: PolicyChoice, options: SimulationOptions): Schedule {
  const { definition, parameters } = choice;
  requireUsable(instance, choice);
  return definition.sharing === "space"
    ? simulatePool(instance, definition, parameters, options)
    : simulateRounds(instance, definition, parameters, options);
}

/**
 * Checks before a run what a policy cannot handle.
 * @throws InputError that names the feature of the machine, or the largest of the jobs
 */
export function requireUsable(instance: Instance, choice: PolicyChoice): void {
  if (instance.interruptions?.outages.length) requireFeature(choice, "outages");
  if (instance.resources?.length) requireFeature(choice, "resources");
  const { freezes = [], drains = [], withdrawals = [] } = instance.interruptions ?? {};
  const { capabilities, sharing } = choice.definition;
  if (freezes.length > 0 && sharing === "space" && !capabilities?.restore) {
    throw new InputError(
      `Cannot run policy "${choice.label}" here: jobs are paused and keep their processors, expected a policy with the capability "restore"`,
    );
  }
  if (drains.length + withdrawals.length > 0 && !capabilities?.withdraw) {
    throw new InputError(
      `Cannot run policy "${choice.label}" here: waiting jobs are held, changed or kept back by drains and windows, expected a policy with the capability "withdraw"`,
    );
  }
  if (instance.workload.limits !== undefined && !capabilities?.withdraw) {
    throw new InputError(
      `Cannot run policy "${choice.label}" here: limits keep waiting jobs back until there is room, expected a policy with the capability "withdraw"`,
    );
  }
  if (instance.priority !== undefined && !capabilities?.withdraw) {
    throw new InputError(
      `Cannot run policy "${choice.label}" here: jobs have priorities, so waiting jobs change places, expected a policy with the capability "withdraw"`,
    );
  }
  const check = choice.definition.jobCheck?.(choice.parameters);
  if (check === undefined) return;
  const { size, shape, estimateS } = instance;
  let count = 0;
  let largest = { row: UNKNOWN, reason: "" };
  for (let row = 0; row < instance.count; row++) {
    const reason = check({
      processors: size[row],
      processes: shape?.processes[row] ?? size[row],
      threads: shape?.threads[row] ?? 1,
      estimateS: estimateS[row],
      queue: shape?.queue[row] ?? UNKNOWN,
    });
    if (reason === undefined) continue;
    if (count === 0 || size[row] > size[largest.row]) largest = { row, reason };
    count++;
  }
  if (count === 0) return;
  const more = count === 1 ? "" : `; ${count} jobs cannot be scheduled, and this is the largest`;
  throw new InputError(
    `Cannot run policy "${choice.label}" here: job ${instance.id[largest.row]} ${largest.reason}${more}`,
  );
}

function requireFeature({ definition, parameters, label }: PolicyChoice, feature: Feature): void {
  if (definition.copesWith?.(parameters).includes(feature)) return;
  throw new InputError(
    `Cannot run policy "${label}" here: ${FEATURES[feature]}, expected a policy whose copesWith lists "${feature}"`,
  );
}
