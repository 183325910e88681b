import type { Instance, JobsView } from "../core/jobs.ts";
import { VisibleJobs } from "./visible-jobs.ts";

/** Returns a job table in which all jobs have arrived, for machines without a clock. */
export function fullTable(instance: Instance): JobsView {
  const shown = new VisibleJobs(instance);
  for (let job = 0; job < instance.count; job++) shown.add();
  return shown.table;
}
