/** Policies that tests break on purpose, small instances, and what the checker reports. */

import type { Instance, JobIndex, JobsView } from "@tutti/kernel/core/jobs.ts";
import type {
  GangMachine,
  Guarantees,
  Policy,
  PolicyChoice,
  PolicyDefinition,
  Pool,
} from "@tutti/kernel/core/policy.ts";
import { StartRule } from "@tutti/kernel/core/policy.ts";
import { instanceOf, type TestJob } from "@tutti/kernel/policies/instances-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { expect } from "vitest";
import { audit, auditLines } from "./audit.ts";
import { AUDIT_RULES, type Violation } from "./checker.ts";

export const SLOTS = { slotS: 1, switchS: 0 };
export const CLAIMS_ALL: Guarantees = { headNeverFits: true, workConserving: true, keepsPromises: true };
export const CLAIMS_NOTHING: Guarantees = {
  headNeverFits: false,
  workConserving: false,
  keepsPromises: false,
};

const DESCRIPTION = { name: "broken", title: "", summary: "", rules: [], source: "", parameters: [] };

/** A policy that keeps its queue in order of arrival and decides by the function given. */
export function spacePolicy(
  guarantees: Partial<Guarantees>,
  decide: (queue: JobIndex[], pool: Pool, jobs: JobsView) => void,
): PolicyChoice {
  const definition: PolicyDefinition = {
    ...DESCRIPTION,
    sharing: "space",
    guarantees: () => ({ ...CLAIMS_NOTHING, ...guarantees }),
    make: (pool, jobs): Policy => {
      const queue: JobIndex[] = [];
      return {
        depart: () => {},
        decide: (arrived) => {
          queue.push(...arrived);
          decide(queue, pool, jobs);
        },
      };
    },
  };
  return makeChoice(definition);
}

export function gangPolicy(
  decide: (queue: JobIndex[], machine: GangMachine, jobs: JobsView) => void,
): PolicyChoice {
  const definition: PolicyDefinition = {
    ...DESCRIPTION,
    sharing: "time",
    guarantees: () => CLAIMS_NOTHING,
    make: (machine, jobs): Policy => {
      const queue: JobIndex[] = [];
      return {
        depart: () => {},
        decide: (arrived) => {
          queue.push(...arrived);
          decide(queue, machine, jobs);
        },
      };
    },
  };
  return makeChoice(definition);
}

/** Starts a job of the queue. */
export function take(queue: JobIndex[], at: number, pool: Pool): void {
  const [job] = queue.splice(at, 1);
  pool.start(job, StartRule.other);
}

export function firstCome(queue: JobIndex[], pool: Pool, jobs: JobsView): void {
  while (queue.length > 0 && jobs.size[queue[0]] <= pool.free) take(queue, 0, pool);
}

export function anyFitting(queue: JobIndex[], pool: Pool, jobs: JobsView): void {
  for (let i = 0; i < queue.length; ) {
    if (jobs.size[queue[i]] <= pool.free) take(queue, i, pool);
    else i++;
  }
}

/** EASY in order of arrival, which backfills the jobs for which `mayPass` holds; the default is correct. */
export function easyLike(
  guarantees: Partial<Guarantees>,
  mayPass: (job: JobIndex, leftS: number, spare: number, jobs: JobsView) => boolean,
): PolicyChoice {
  const definition: PolicyDefinition = {
    ...DESCRIPTION,
    sharing: "space",
    guarantees: () => ({ ...CLAIMS_NOTHING, ...guarantees }),
    make: (pool, jobs): Policy => {
      const queue: JobIndex[] = [];
      let running: { job: JobIndex; endS: number }[] = [];
      const start = (at: number) => {
        running.push({ job: queue[at], endS: pool.nowS + jobs.estimateS[queue[at]] });
        take(queue, at, pool);
      };
      return {
        depart: (job) => {
          running = running.filter((started) => started.job !== job);
        },
        decide: (arrived) => {
          queue.push(...arrived);
          while (queue.length > 0 && jobs.size[queue[0]] <= pool.free) start(0);
          if (queue.length === 0) return;
          let free = pool.free;
          let shadowS = pool.nowS;
          for (const { job, endS } of running.sort((a, b) => a.endS - b.endS)) {
            if (free >= jobs.size[queue[0]] && endS > shadowS) break;
            free += jobs.size[job];
            shadowS = endS;
          }
          let spare = free - jobs.size[queue[0]];
          pool.promise(queue[0], shadowS);
          for (let i = 1; i < queue.length; ) {
            const job = queue[i];
            const leftS = shadowS - pool.nowS;
            if (jobs.size[job] > pool.free || !mayPass(job, leftS, spare, jobs)) i++;
            else {
              if (jobs.estimateS[job] > leftS) spare -= jobs.size[job];
              start(i);
            }
          }
        },
      };
    },
  };
  return makeChoice(definition);
}

export function violation(instance: Instance, choice: PolicyChoice): Violation {
  const result = audit(instance, choice, SLOTS);
  if (result.ok) throw new Error("the checker found nothing");
  expect(AUDIT_RULES).toHaveProperty(result.violation.rule);
  expect(auditLines(choice.label, result)[0]).toContain(`"${result.violation.rule}"`);
  return result.violation;
}

/** Ids 11, 12, 13 …; times in seconds. */
export function jobs(
  processors: number,
  ...lines: readonly (readonly [submitS: number, runS: number, size: number, estimateS?: number])[]
) {
  const made = lines.map(
    ([submitS, runS, size, estimateS], i): TestJob => ({
      submitS,
      runS,
      size,
      estimateS: estimateS ?? runS,
      id: 11 + i,
    }),
  );
  return instanceOf(processors, made);
}
