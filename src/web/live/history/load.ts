/** Loads the jobs that ended last. */
import type { Job, JobsAnswer } from "../../../protocol/answers.ts";
import { ENDED_STATES } from "../../../protocol/states.ts";
import { ask } from "../client.ts";
import { jobs } from "../store.ts";

/** Numbers of jobs, the newest ones, among which the history looks. */
export const MAX_HISTORY = 20_000;

/** @param onPart called with all jobs so far, and the share of the numbers that has been searched */
export async function loadHistory(
  signal: AbortSignal,
  onPart: (jobs: readonly Job[], share: number) => void,
): Promise<void> {
  const last = Math.max(0, ...jobs.keys());
  const first = Math.max(1, last - MAX_HISTORY + 1);
  const found: Job[] = [];
  if (last === 0) onPart(found, 1);
  for (let after: number | undefined = last === 0 ? undefined : first - 1; after !== undefined; ) {
    const query: string = `numbers=${first}-${last}&states=${ENDED_STATES.join(",")}&after=${after}`;
    const page: JobsAnswer = await ask<JobsAnswer>(`/v1/jobs?${query}`, { signal });
    found.push(...page.jobs);
    after = page.next;
    onPart([...found], after === undefined ? 1 : (after - first) / (last - first + 1));
  }
}
