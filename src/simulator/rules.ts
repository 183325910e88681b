/** Rules of the simulator that decide results as much as the policy's own. */
import { type PolicyChoice, type RulesInForce, rulesInForce } from "../core/policy.ts";

/**
 * What the simulator of time sharing does that no policy decides, one sentence each. Simulators of gangs differ most in these; every
 * result of a gang policy names them beside the policy's own rules.
 */
export const ROUNDS_RULES: readonly string[] = [
  "simulated rounds: a job's work is its run time rounded up to whole slots, at least one",
  "simulated rounds: jobs end, arrivals are noticed and decisions are taken at the beginnings of slots only; slots are counted from time 0, also while the machine is empty",
  "simulated rounds: while there is more than one row, the switch comes before the service of every slot, so a job ends with its last slot; a lone row pays no switch",
  "simulated rounds: a new row is last in the round; when a round has taken in as many rows as it began with, a further one has its first slot in the next round, so that no row waits without end",
];

/** The rules of a run; those of the simulator are inherited, too. */
export function rulesOf({ definition, parameters }: PolicyChoice): RulesInForce {
  const { own, inherited } = rulesInForce(definition.rules, parameters);
  return { own, inherited: definition.sharing === "time" ? [...inherited, ...ROUNDS_RULES] : inherited };
}
