/**
 * Tests whether a policy for several sites conforms: it runs seeded workloads a second time and with another
 * future, and compares them with the naive simulation. By the paper's rule, processors report remaining times
 * exactly, so whether the policy uses run times is tested only if they report predictions.
 */

import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { Decisions, type Looked } from "@tutti/kernel/policies/decisions-for-tests.ts";
import { expect } from "vitest";
import type { SitesInstance, SitesObserver, SitesPolicyDefinition } from "./contract.ts";
import { requireSameAsNaive } from "./naive.ts";
import { type RemainingRule, simulateSites } from "./simulate.ts";
import { generateSites, withPredictionError } from "./workload.ts";

/**
 * The paper's system under high load, and sites of other sizes and speeds with critical gangs. Every gang
 * fits on some site.
 */
export const SITES_WORKLOADS: readonly { readonly name: string; readonly instance: SitesInstance }[] = [
  {
    name: "two equal sites",
    instance: drawn({
      sites: [
        [16, 1],
        [16, 1],
      ],
      localEveryS: [0.08, 0.08],
      largest: 13,
      criticalShare: 0,
    }),
  },
  {
    name: "three unlike sites",
    instance: drawn({
      sites: [
        [8, 1.25],
        [4, 0.5],
        [3, 1],
      ],
      localEveryS: [0.16, 0.8, 0.5],
      largest: 8,
      criticalShare: 0.3,
    }),
  },
];
const CUTS = 3;

/** Fails if a rule is broken, or if a decision depends on what the policy cannot know. */
export function checkSitesPolicy(choice: PolicyChoice<SitesPolicyDefinition>): Looked {
  const looked = { jobs: 0, comparedAgain: 0, comparedArrivals: 0, comparedRunTimes: 0 };
  for (const { name, instance } of SITES_WORKLOADS) {
    for (const remaining of ["exact", "predicted"] as const) {
      const where = `${choice.label} on ${name}, remaining times ${remaining}`;
      const schedule = simulateSites(instance, choice.definition, choice.parameters, { remaining });
      expect(schedule.completed, `${where}: jobs ended`).toBe(instance.count);
      const decisions = decisionsOf(instance, choice, remaining);
      expect(decisionsOf(instance, choice, remaining).before(Infinity), where).toEqual(
        decisions.before(Infinity),
      );
      looked.jobs += instance.count;
      looked.comparedAgain += decisions.count;
      for (let cut = 1; cut <= CUTS; cut++) {
        const count = Math.floor((cut * instance.count) / (CUTS + 1));
        const atS = instance.submitS[count];
        const before = decisions.before(atS);
        const compare = (changed: SitesInstance, what: string) =>
          expect(decisionsOf(changed, choice, remaining).before(atS), `${where}: ${what}`).toEqual(before);
        compare(firstOf(instance, count), `without the arrivals from ${atS} s on`);
        looked.comparedArrivals += before.length;
        if (remaining === "exact") continue;
        compare(prolonged(instance, schedule.endS, atS), `with later ends from ${atS} s on`);
        looked.comparedRunTimes += before.length;
      }
      requireSameAsNaive(instance, choice.definition.guarantees(choice.parameters), schedule, remaining);
    }
  }
  return looked;
}

export function decisionsOf(
  instance: SitesInstance,
  { definition, parameters }: PolicyChoice<SitesPolicyDefinition>,
  remaining: RemainingRule,
): Decisions {
  const decisions = new Decisions();
  const observer: SitesObserver = {
    enqueued: (timeS, job, processor) => decisions.note(timeS, "queue", job, processor),
    claimed: (timeS, job, processor) => decisions.note(timeS, "claim", job, processor),
    started: (timeS, job, processor, rule) => decisions.note(timeS, "start", job, processor, rule),
  };
  simulateSites(instance, definition, parameters, { remaining, observer });
  return decisions;
}

/** The same problem without the jobs after the first ones. */
export function firstOf(instance: SitesInstance, count: number): SitesInstance {
  const { submitS, serviceS, predictedS, size, home, critical, drawn } = instance;
  return {
    ...instance,
    count,
    submitS: submitS.subarray(0, count),
    serviceS: serviceS.subarray(0, count),
    predictedS: predictedS.subarray(0, count),
    size: size.subarray(0, count),
    home: home.subarray(0, count),
    critical: critical.subarray(0, count),
    drawn: drawn.subarray(0, count),
  };
}

/** The same problem with longer service for all jobs that had not ended. */
export function prolonged(instance: SitesInstance, endS: Float64Array, atS: number): SitesInstance {
  return {
    ...instance,
    serviceS: instance.serviceS.map((serviceS, job) => (endS[job] > atS ? 2 * serviceS + 1 : serviceS)),
  };
}

function drawn(problem: {
  readonly sites: readonly (readonly [processors: number, speed: number])[];
  readonly localEveryS: readonly number[];
  readonly largest: number;
  readonly criticalShare: number;
}): SitesInstance {
  const jobs = generateSites({
    sites: problem.sites.map(([processors, speed]) => ({ processors, speed })),
    localEveryS: problem.localEveryS,
    gangEveryS: 2,
    gangSizes: Array.from({ length: problem.largest }, (_, i) => i + 1),
    serviceS: 1,
    splitOverhead: 0.1,
    criticalShare: problem.criticalShare,
    count: 500,
    seed: 2009,
    replication: 0,
  });
  return withPredictionError(jobs, 30);
}
