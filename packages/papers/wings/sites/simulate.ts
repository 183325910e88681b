/**
 * Simulates sites in virtual time. This file decides the order of events and the end of the run; the machine
 * (machine.ts) keeps queues and processors, and contract.ts defines what a policy sees and does.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues, Policy } from "@tutti/kernel/core/policy.ts";
import type {
  SitesInstance,
  SitesJobsView,
  SitesObserver,
  SitesPolicyDefinition,
  SitesSchedule,
} from "./contract.ts";
import { SimulatedSites } from "./machine.ts";

interface SitesOptions {
  /**
   * The run stops after the instant at which this many jobs have ended; default: when nothing more can
   * happen.
   */
  readonly completions?: number;
  /**
   * How a processor reports the time until its job in service ends: exactly (default; "not hard to
   * calculate", section III.B.1), or by the job's prediction.
   */
  readonly remaining?: RemainingRule;
  readonly observer?: SitesObserver | undefined;
}

export type RemainingRule = "exact" | "predicted";

/** What the simulator of sites does without asking a scheduler, one sentence each. */
export const SITES_RULES: readonly string[] = [
  "simulated sites: a local job has one task and stays at the site where it arrives; a gang arrives at the grid scheduler, and all of its tasks start and end together on distinct processors",
  "simulated sites: each processor has its own queue, a job in service is never interrupted, and at most one gang waits at the head of a queue",
  "simulated sites: a gang runs at the pace of the slowest of its sites; on more than one site its service time grows by the overhead",
  "simulated sites: a processor reports how long its job in service still needs: exactly, or, with remaining=predicted, by the job's prediction",
];

/**
 * Runs the instance under the policy.
 * @throws RuleViolation if the policy decides something that the machine does not allow
 * @throws InputError if the sites or jobs are invalid
 */
export function simulateSites(
  instance: SitesInstance,
  definition: SitesPolicyDefinition,
  parameters: ParameterValues,
  options: SitesOptions = {},
): SitesSchedule {
  checkInstance(instance);
  const machine = new SimulatedSites(instance, options.remaining ?? "exact", options.observer);
  const policy = definition.make(machine, policyView(instance), parameters);
  runToEnd(instance, machine, policy, options.completions ?? Number.POSITIVE_INFINITY);
  return machine.schedule();
}

/** The event loop: for each instant, departures, arrivals, and one decision. */
function runToEnd(
  instance: SitesInstance,
  machine: SimulatedSites,
  policy: Policy,
  completions: number,
): void {
  const { count, submitS } = instance;
  const { ends } = machine;
  while (machine.completed < completions && (machine.arrived < count || ends.length > 0)) {
    const nextArrivalS = machine.arrived < count ? submitS[machine.arrived] : Number.POSITIVE_INFINITY;
    const nowS = Math.min(ends.nextTime(), nextArrivalS);
    machine.nowS = nowS;
    while (ends.length > 0 && ends.nextTime() === nowS) {
      const job = ends.pop();
      machine.finish(job);
      policy.depart(job);
    }
    const arrived: JobIndex[] = [];
    while (machine.arrived < count && submitS[machine.arrived] === nowS) {
      arrived.push(machine.arrived++);
    }
    policy.decide(arrived);
    machine.requireWholeGangs();
  }
}

/** The columns that a policy may see; the object holds no reference to the service times. */
function policyView(instance: SitesInstance): SitesJobsView {
  const { count, submitS, predictedS, size, home, critical, drawn } = instance;
  return { count, submitS, predictedS, size, home, critical, drawn };
}

function checkInstance(instance: SitesInstance): void {
  const { sites, count, submitS, serviceS, predictedS, size, home } = instance;
  if (sites.length === 0) throw new InputError("Cannot simulate 0 sites: expected 1 or more");
  for (const [i, { processors, speed }] of sites.entries()) {
    if (!(Number.isInteger(processors) && processors >= 1 && speed > 0 && speed < Number.POSITIVE_INFINITY)) {
      throw new InputError(
        `Cannot simulate site ${i} with ${processors} processors of speed ${speed}: expected 1 or more processors and a speed above 0`,
      );
    }
  }
  let previousS = 0;
  for (let job = 0; job < count; job++) {
    const isLocal = home[job] >= 0 && home[job] < sites.length && size[job] === 1;
    const isGang = home[job] === -1 && size[job] >= 1;
    const times = submitS[job] >= previousS && serviceS[job] >= 0 && predictedS[job] >= 0;
    if (!(times && (isLocal || isGang) && submitS[job] + serviceS[job] < Number.POSITIVE_INFINITY)) {
      throw new InputError(
        `Cannot simulate job row ${job} (submitted ${submitS[job]} s, service ${serviceS[job]} s, predicted ${predictedS[job]} s, ` +
          `${size[job]} tasks, home ${home[job]}): expected ascending submit times, times of 0 or more, ` +
          `and either one task and a site as home, or a gang with home −1`,
      );
    }
    previousS = submitS[job];
  }
}
