/** Which jobs a page keeps, so that a page that is open for weeks does not grow. */
import type { Job } from "@tutti/protocol/answers.ts";
import { isEnded } from "@tutti/protocol/states.ts";

/** Ended jobs that are kept, as many as the scheduler lists. */
const MAX_ENDED = 1000;

/** Keeps all jobs that have not ended, and those that ended last. */
export function forgetOldest(jobs: Map<number, Job>): void {
  const ended = [...jobs.values()].filter(({ state }) => isEnded(state));
  if (ended.length <= MAX_ENDED) return;
  ended.sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0) || a.job - b.job);
  for (const { job } of ended.slice(0, ended.length - MAX_ENDED)) jobs.delete(job);
}
