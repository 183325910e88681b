import type { Instance, JobsView } from "../core/jobs.ts";

/** The columns that a policy may see; the object holds no reference to the run times. */
export function policyView(instance: Instance): JobsView {
  return {
    count: instance.count,
    size: instance.size,
    submitS: instance.submitS,
    estimateS: instance.estimateS,
    shape: instance.shape,
    memoryKB: instance.memoryKB,
  };
}
