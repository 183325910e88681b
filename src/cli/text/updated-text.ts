/** Says what a change of a job has done. */
import { tasksText } from "../../protocol/job-size.ts";
import { useText } from "../../protocol/resources.ts";
import type { Job, UpdateBody } from "../../protocol/schema.ts";
import { plural } from "../../report/text/format.ts";
import { outcomeText, stateText } from "../../words/jobs.ts";
import { bytesText, clockText, limitText } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";

/** The new values, with a comma before each. The name and the priority are in front of them. */
export function updatedText(job: Job, update: UpdateBody): string {
  const { limitMs, memoryBytes, use, beginAtMs, retries = 0, retryOn, retryDelayMs } = job;
  const values: Readonly<Record<keyof UpdateBody, string | undefined>> = {
    name: undefined,
    priority: undefined,
    queue: `queue ${visibleLine(job.queue)}`,
    tasks: tasksText(job),
    threads: update.tasks === undefined ? tasksText(job) : undefined,
    limitMs: limitMs === undefined ? undefined : `limit ${limitText(limitMs)}`,
    memoryBytes: memoryBytes === undefined ? undefined : `memory ${bytesText(memoryBytes)}`,
    use: use === undefined ? undefined : `uses ${useText(use)}`,
    beginAtMs: beginAtMs === undefined ? undefined : `begins no earlier than ${clockText(beginAtMs)}`,
    retries: `at most ${plural(retries, "restart")}`,
    retryOn: retryOn === undefined ? undefined : `retried on ${retryOn.join(", ")}`,
    retryDelayMs: retryDelayMs === undefined ? undefined : `first retry after ${limitText(retryDelayMs)}`,
  };
  const changed = (Object.keys(update) as (keyof UpdateBody)[]).flatMap((field) => values[field] ?? []);
  return changed.map((text) => `, ${text}`).join("");
}

/** The job as it is after a change: `job 7 (sim): ‖ held`. */
export function changeText(job: Job): string {
  return job.endedAtMs === undefined
    ? `job ${job.job} (${visibleLine(job.name)}): ${stateText(job.state)}${job.priority === 0 ? "" : `, priority ${job.priority}`}`
    : outcomeText(job);
}
