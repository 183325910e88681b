/** Lets the jobs of an instance change during a simulation. */
import type { JobChange } from "../core/interruptions.ts";
import type { Instance, JobIndex } from "../core/jobs.ts";

/** Whether jobs may get other sizes than the instance says. */
function hasChanges({ molding, interruptions }: Instance): boolean {
  return molding !== undefined || interruptions?.withdrawals?.some(({ change }) => change) === true;
}

/** The instance, with columns of its own if its jobs may change. */
export function withOwnColumns(instance: Instance): Instance {
  if (!hasChanges(instance)) return instance;
  const { size, runS, estimateS, demand, priority } = instance;
  return {
    ...instance,
    size: size.slice(),
    runS: runS.slice(),
    estimateS: estimateS.slice(),
    demand: demand?.map((column) => column.slice()),
    priority: priority?.slice(),
  };
}

/** Changes a job that waits, except for its size, which its machine changes. */
export function changeJob(
  { estimateS, resources, demand, priority }: Instance,
  job: JobIndex,
  change: JobChange,
): void {
  if (change.estimateS !== undefined) estimateS[job] = change.estimateS;
  if (change.priority !== undefined) priority![job] = change.priority;
  const { use } = change;
  if (use === undefined) return;
  for (const [k, { name }] of (resources ?? []).entries()) {
    demand![k][job] = Object.hasOwn(use, name) ? use[name] : 0;
  }
}
