/** Lists the rules of the simulator. They affect results as much as the policy's own rules do. */
import { type PolicyChoice, type RulesInForce, rulesInForce } from "../core/policy.ts";

/**
 * What the simulator of time sharing does independently of the policy, one sentence each. Gang simulators
 * differ most in these rules, so every result of a gang policy names them next to the policy's own.
 */
export const ROUNDS_RULES: readonly string[] = [
  "simulated rounds: a job's work is its run time rounded up to whole slots, at least one",
  "simulated rounds: jobs end, arrivals are noticed and decisions are made only when a slot begins",
  "simulated rounds: slots are counted from time 0, even while the machine is empty",
  "simulated rounds: with more than one row, every slot begins with a switch, so a job ends with its last slot",
  "simulated rounds: while there is only one row, there are no switches",
  "simulated rounds: a new row gets the last place in the round",
  "simulated rounds: a round takes in at most as many new rows as it began with; further rows get their first slot in the next round, so no row waits forever",
];

/** The rules of a run. Those of the simulator count as inherited. */
export function rulesOf({ definition, parameters }: PolicyChoice): RulesInForce {
  const { own, inherited } = rulesInForce(definition.rules, parameters);
  return { own, inherited: definition.sharing === "time" ? [...inherited, ...ROUNDS_RULES] : inherited };
}
