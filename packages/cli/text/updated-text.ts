/** Says what a change of a job has done. */
import type { Job, UpdateBody } from "@tutti/protocol/schema.ts";
import { namedFieldText } from "@tutti/words/job-fields.ts";
import { outcomeText, stateText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";

/** The new values, with a comma before each. The name and the priority are in front of them. */
export function updatedText(job: Job, update: UpdateBody): string {
  const changed = (Object.keys(update) as (keyof UpdateBody)[]).filter(
    (field) => field !== "name" && field !== "priority",
  );
  return changed
    .map((field) => `, ${visibleLine(namedFieldText(field, job[field] ?? update[field]))}`)
    .join("");
}

/** The job as it is after a change: `job 7 (sim): ‖ held`. */
export function changeText(job: Job): string {
  return job.endedAtMs === undefined
    ? `job ${job.job} (${visibleLine(job.name)}): ${stateText(job.state)}${job.priority === 0 ? "" : `, priority ${job.priority}`}`
    : outcomeText(job);
}
