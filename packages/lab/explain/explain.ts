/**
 * Explains why a job started when it did. It runs the simulation once more and watches this job: which jobs
 * ran and waited when it arrived, which job held a reservation, which jobs passed it and by which rule, and
 * what its wait consisted of.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { knowsOrder } from "../queue-keys.ts";
import type { Explanation } from "../results/explanation.ts";
import { GangWatch } from "./gangs.ts";
import { SpaceWatch } from "./space.ts";
import { type JobWatch, namedJob, orNull } from "./watch.ts";

interface ExplainOptions {
  /** Useful length of a slot in seconds; time sharing only. */
  readonly slotS: number;
  /** Seconds lost at each slot boundary while there is more than one row; time sharing only. */
  readonly switchS: number;
}

/**
 * Explains the start of one job. Costs one simulation.
 * @param jobId number of the job in its source
 * @throws InputError if there is no such job, or if jobs are stopped or run on several sizes
 */
export function explain(
  instance: Instance,
  choice: PolicyChoice,
  jobId: number,
  options: ExplainOptions,
): Explanation {
  const job = findJob(instance, jobId);
  if (instance.interruptions !== undefined || instance.molding !== undefined) {
    throw new InputError(
      `Cannot explain job ${jobId}: in this run, jobs can be stopped or can run on different numbers of processors; expected a run without either`,
    );
  }
  if (instance.workload.limits !== undefined) {
    throw new InputError(
      `Cannot explain job ${jobId}: in this run, limits on users, groups and queues keep jobs from the policy; expected a workload without limits`,
    );
  }
  if (choice.definition.sharing === "space" && !knowsOrder(choice.parameters)) {
    throw new InputError(
      `Cannot explain job ${jobId} in the order ${choice.parameters.order}: expected another queue order`,
    );
  }
  const watch: JobWatch =
    choice.definition.sharing === "space"
      ? new SpaceWatch(instance, choice, job)
      : new GangWatch(instance, job, options.slotS);
  const schedule = simulate(instance, choice, {
    slotS: options.slotS,
    switchS: options.switchS,
    observer: watch,
  });
  return {
    policy: choice.label,
    job: {
      ...namedJob(instance, job),
      submitS: instance.submitS[job],
      estimateS: instance.estimateS[job],
      runS: instance.runS[job],
      startS: orNull(schedule.startS[job]),
      endS: orNull(schedule.endS[job]),
    },
    processors: instance.processors,
    rule: watch.rule ?? null,
    facts: watch.facts(schedule),
  };
}

function findJob(instance: Instance, jobId: number): JobIndex {
  const job = instance.id.indexOf(jobId);
  if (job !== NO_JOB) return job;
  const { workload, count, id } = instance;
  if (workload.jobs.id.indexOf(jobId) >= 0) {
    throw new InputError(
      `Cannot explain job ${jobId}: it needs more than the ${instance.processors} processors of the machine and was left out, expected a job that was simulated`,
    );
  }
  const known =
    count === 0
      ? "it has no jobs"
      : `expected a number as in the source, such as ${id[0]} or ${id[count - 1]}`;
  throw new InputError(`Cannot explain job ${jobId}: there is no such job in ${workload.name}, ${known}`);
}
