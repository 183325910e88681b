/**
 * Simulates pilots in virtual time. This file decides the order of events; machine.ts keeps pilots and jobs,
 * and contract.ts says what happens at one instant.
 */
import type { PilotSettings, PilotsInstance, PilotsSchedule } from "./contract.ts";
import { SimulatedPilots } from "./machine.ts";

/** What the simulator of pilots does without asking a policy, one sentence each. */
export const PILOTS_RULES: readonly string[] = [
  "simulated pilots: a pilot that is asked for waits for `wait` seconds and until as many nodes are free, in the order of asking; then it runs and is billed, and `start` seconds later jobs can have its nodes",
  "simulated pilots: a job runs on one pilot; it may start there if the pilot has as many processors and if it ends by its limit `stop` seconds before the limit of the pilot",
  "simulated pilots: each pilot has a queue of its own under the policy; a waiting job is in the queue of every pilot on which it may start, and the first pilot that starts it takes it out of the others",
  "simulated pilots: pilots decide in the order in which they were asked for, again and again until none of them has news",
  "simulated pilots: a job gets the smallest free stretch of processors that is large enough, else the lowest free ones; a node is idle while no job is on it",
  "simulated pilots: a job that no pilot may hold, by its size or its limit, is refused when it arrives",
  "simulated pilots: when the last job has ended, all pilots go back",
];

/**
 * Runs the jobs on pilots with these settings.
 * @throws RuleViolation if a policy makes a decision that is not allowed
 */
export function simulatePilots(instance: PilotsInstance, settings: PilotSettings): PilotsSchedule {
  const pilots = new SimulatedPilots(instance, settings);
  while (pilots.advance()) {
    pilots.endJobs();
    pilots.begin();
    pilots.arrive();
    pilots.withdrawLate();
    pilots.decide();
    pilots.plan();
  }
  return pilots.schedule();
}
