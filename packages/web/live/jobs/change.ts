/** Changes jobs: cancel, hold, release, requeue, pause, resume, priority. */
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { BatchAnswer } from "@tutti/protocol/answers.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import type { BatchBody } from "@tutti/protocol/requests.ts";
import { ask } from "../client.ts";

export type ChangeAction = BatchBody["action"];
/** What some actions need or may have. */
export type MoreOfChange = Pick<BatchBody, "priority" | "release">;
type Result = BatchAnswer["results"][number];

export const ACTIONS: readonly {
  readonly action: ChangeAction;
  readonly label: string;
  /** Ends processes of users, so it is confirmed for a single job, too. */
  readonly isDestructive?: true;
  /** Of two opposite actions, one job has only one button, which keeps the focus; default: the action. */
  readonly place?: string;
}[] = [
  { action: "hold", label: "Hold", place: "hold" },
  { action: "release", label: "Release", place: "hold" },
  { action: "pause", label: "Pause", place: "pause" },
  { action: "resume", label: "Resume", place: "pause" },
  { action: "priority", label: "Priority" },
  { action: "requeue", label: "Requeue", isDestructive: true },
  { action: "cancel", label: "Cancel", isDestructive: true },
];

/**
 * Changes each job independently of the others. The last jobs are cancelled first: running jobs are mostly
 * among the first ones, and if those ended first, others that should also be cancelled would start.
 * @throws RefusedError, TypeError if a request as a whole fails
 */
export async function changeJobs(
  action: ChangeAction,
  numbers: readonly number[],
  more: MoreOfChange = {},
): Promise<Result[]> {
  const order = [...numbers].sort((a, b) => (action === "cancel" ? b - a : a - b));
  const results: Result[] = [];
  for (let i = 0; i < order.length; i += MAX_JOBS_PER_BATCH) {
    const jobs = rangesText(rangesOf(order.slice(i, i + MAX_JOBS_PER_BATCH)));
    const body: BatchBody = { action, jobs, ...more };
    results.push(...(await ask<BatchAnswer>("/v1/batch", { method: "POST", body })).results);
  }
  return results;
}
