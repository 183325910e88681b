/**
 * Simulates gangs with phases in virtual time. This file decides the order of events and the end of the run;
 * the machine (machine.ts) keeps units and gangs, and contract.ts defines what a policy sees and does.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import type {
  PhasesInstance,
  PhasesObserver,
  PhasesPolicy,
  PhasesPolicyDefinition,
  PhasesSchedule,
} from "./contract.ts";
import { SimulatedPhases } from "./machine.ts";

/** What the simulator of phases does without asking a policy, one sentence each. */
export const PHASES_RULES: readonly string[] = [
  "simulated phases: an admitted gang is resident on nodes of each pool that it uses until it has left, and its turns run there on as many units of each node as it is resident with",
  "simulated phases: the units of resident gangs on a node are at most `resident` times the units of the node, rounded down",
  "simulated phases: where the policy leaves it open, a gang becomes resident in each pool on the node that can take most of its units, of these on the one with the least resident units, then on the first, and so on with the rest of its units",
  "simulated phases: a gang gets all units of a turn at once, and nobody takes them away; it yields them when its work is done, or, where its next turn is in another pool and the workload says so, some time after that one has begun",
  "simulated phases: the time until a gang wants its next turn, or leaves, counts from the end of the work of its turn",
  "simulated phases: after a yield, the units are busy for the time of a save, unless the same gang gets them back in the meantime",
  "simulated phases: a turn begins after the time of a restore if another gang has been on one of its units since, except for the first turn of a gang in a pool",
];

/**
 * Runs the instance under the policy.
 * @throws RuleViolation if the policy decides something that the machine does not allow
 * @throws InputError if the instance is invalid
 */
export function simulatePhases(
  instance: PhasesInstance,
  definition: PhasesPolicyDefinition,
  parameters: ParameterValues,
  observer?: PhasesObserver,
): PhasesSchedule {
  checkInstance(instance);
  const machine = new SimulatedPhases(
    instance,
    definition.guarantees(parameters).neverSaves === true,
    observer,
  );
  const policy = definition.make(machine, machine.gangs, parameters);
  runToEnd(instance, machine, policy, observer);
  return machine.schedule;
}

/** The event loop: for each instant, what happens by itself, arrivals, admissions, and decisions. */
function runToEnd(
  { submitMs, gangs }: PhasesInstance,
  machine: SimulatedPhases,
  policy: PhasesPolicy,
  observer: PhasesObserver | undefined,
): void {
  const { events, wanted, left, yielded, freed, schedule } = machine;
  let arrived = 0;
  for (;;) {
    const nextArrivalMs = arrived < gangs.length ? submitMs[arrived] : Number.POSITIVE_INFINITY;
    const nowMs = Math.min(events.nextTime(), nextArrivalMs);
    if (nowMs === Number.POSITIVE_INFINITY) return;
    machine.nowMs = nowMs;
    schedule.stopMs = nowMs;
    while (events.nextTime() === nowMs) machine.advance();
    for (const turn of ascending(yielded)) policy.yielded?.(turn);
    for (const turn of ascending(freed)) policy.freed?.(turn);
    for (const gang of ascending(left)) policy.left(gang);
    for (; arrived < gangs.length && submitMs[arrived] === nowMs; arrived++) {
      machine.arrive(arrived);
      policy.arrived(arrived);
    }
    policy.admit();
    for (const turn of ascending(wanted)) policy.wanted(turn);
    policy.decide();
    observer?.decided?.(nowMs);
  }
}

/** What was noted since the last time, which is then forgotten. */
function ascending(noted: number[]): number[] {
  return noted.splice(0).sort((a, b) => a - b);
}

const LARGEST_MS = 1e12;

function checkInstance({ pools, gangs, submitMs, firstTurn, turns, resident }: PhasesInstance): void {
  const refuse = (what: string, expected: string): never => {
    throw new InputError(`Cannot simulate ${what}: expected ${expected}`);
  };
  if (!(resident >= 1)) refuse(`${resident} resident gangs per node`, "1 or more");
  for (const { name, units, unitsPerNode } of pools) {
    if (!(Number.isInteger(units) && units >= 1)) refuse(`pool ${name} of ${units} units`, "1 or more");
    if (!(Number.isInteger(unitsPerNode) && unitsPerNode >= 1 && units % unitsPerNode === 0))
      refuse(`pool ${name} of ${units} units in nodes of ${unitsPerNode}`, "nodes of the same size");
  }
  let earlierMs = 0;
  for (const [gang, name] of gangs.entries()) {
    if (!(submitMs[gang] >= earlierMs && submitMs[gang] <= LARGEST_MS))
      refuse(`gang ${name}, submitted at ${submitMs[gang]} ms`, "ascending times of 0 or more");
    earlierMs = submitMs[gang];
    if (firstTurn[gang + 1] <= firstTurn[gang]) refuse(`gang ${name} without a turn`, "one or more");
    const unitsIn = new Map<number, number>();
    for (let turn = firstTurn[gang]; turn < firstTurn[gang + 1]; turn++) {
      const words = `turn ${turn - firstTurn[gang] + 1} of gang ${name}`;
      const pool = turns.pool[turn];
      const units = turns.units[turn];
      if (!(units >= 1 && units <= pools[pool].units))
        refuse(
          `${words} with ${units} units`,
          `1 to ${pools[pool].units}, all units of pool ${pools[pool].name}`,
        );
      const { holdMs, waitMs, saveMs, restoreMs, keepMs } = turns;
      for (const column of [holdMs, waitMs, saveMs, restoreMs])
        if (!(column[turn] >= 0 && column[turn] <= LARGEST_MS && Number.isInteger(column[turn])))
          refuse(`${words} with a time of ${column[turn]} ms`, "0 or more");
      if ((unitsIn.get(pool) ?? units) !== units)
        refuse(`${words} with ${units} units`, `${unitsIn.get(pool)}, as in its other turns in that pool`);
      unitsIn.set(pool, units);
      if (keepMs[turn] >= 0 && !(turn + 1 < firstTurn[gang + 1] && turns.pool[turn + 1] !== pool))
        refuse(`${words}, which keeps its units until the next one`, "a next one in another pool");
    }
  }
}
