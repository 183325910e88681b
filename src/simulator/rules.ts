/** Rules of the simulator that decide results as much as the policy's own. */
import type { PolicyDefinition } from "../core/policy.ts";

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

/** The policy's own rules, then those of the simulator. */
export function rulesOf({ sharing, rules }: PolicyDefinition): readonly string[] {
  return sharing === "time" ? [...rules, ...ROUNDS_RULES] : rules;
}
