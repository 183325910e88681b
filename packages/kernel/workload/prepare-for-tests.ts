/** Checks what holds for every prepared instance. */
import { assert } from "../core/errors.ts";
import type { Instance } from "../core/jobs.ts";

/**
 * Checks an instance against its workload and its rules, job by job. @throws Error at the first broken
 * invariant
 */
export function auditInstance(instance: Instance): void {
  const { workload, processors, rules, count, workloadRow } = instance;
  for (const column of [instance.id, instance.submitS, instance.runS, instance.size, instance.estimateS]) {
    assert(column.length === count, "every column has one value per job");
  }
  for (let job = 0; job < count; job++) {
    const row = workloadRow === undefined ? job : workloadRow[job];
    const size = workload.jobs.size[row];
    const runS = workload.jobs.runS[row];
    const given = workload.jobs.estimateS[row];
    const estimateS =
      given >= 0 ? given : rules.missingEstimate === "run" ? runS : rules.missingEstimate.seconds;
    assert(
      job === 0 || row > (workloadRow === undefined ? job - 1 : workloadRow[job - 1]),
      "rows keep their order",
    );
    assert(instance.id[job] === workload.jobs.id[row], "a job keeps its number");
    assert(instance.submitS[job] === workload.jobs.submitS[row], "a job keeps its submit time");
    assert(instance.size[job] === Math.min(size, processors), "a job keeps its size or is clipped");
    assert(size <= processors || rules.oversize === "clip", "only clipped jobs are larger than the machine");
    const raise = rules.overrun === "raise";
    assert(instance.runS[job] === (raise ? runS : Math.min(runS, estimateS)), "run time by the overrun rule");
    assert(
      instance.estimateS[job] === (raise ? Math.max(runS, estimateS) : estimateS),
      "estimate by the overrun rule",
    );
  }
}
