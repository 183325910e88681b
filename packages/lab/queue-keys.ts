/**
 * Computes the queue orders that policies share (parameter `order`) for the checkers of policies. It is
 * written from the description of the orders and shares no code with the policies.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";

/** Key of a waiting job: the smallest is first, and among equal keys the job that was submitted first. */
export type QueueKey = (instance: Instance, job: JobIndex, nowS: number) => number;

const NO_KEY: QueueKey = () => 0;

const KEYS: Readonly<Record<string, QueueKey>> = {
  arrival: NO_KEY,
  shortest: (instance, job) => instance.estimateS[job],
  longest: (instance, job) => -instance.estimateS[job],
  smallest: (instance, job) => instance.size[job],
  largest: (instance, job) => -instance.size[job],
  wfp: (instance, job, nowS) => {
    const ratio = (nowS - instance.submitS[job]) / Math.max(instance.estimateS[job], 1);
    return -instance.size[job] * ratio * ratio * ratio;
  },
};

/**
 * Whether the policy's queue order is one of these; without a parameter `order` it is the order of arrival.
 */
export function knowsOrder(parameters: ParameterValues): boolean {
  return parameters.order === undefined || parameters.order in KEYS;
}

/** Key of the policy's queue order; order of arrival if the order is unknown. */
export function queueKey(parameters: ParameterValues): QueueKey {
  return KEYS[parameters.order ?? "arrival"] ?? NO_KEY;
}
