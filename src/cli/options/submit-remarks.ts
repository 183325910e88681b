/** Says on standard error what a submit may mean differently from what its user expects. */
import type { SubmitJob } from "../../protocol/schema.ts";
import { visibleLine } from "../../words/visible.ts";
import { hint } from "../text/text.ts";

/**
 * The value of the user's environment wins over -c, which surprises those who have it in their profile. What
 * an outer job set is not inherited.
 */
export function reportThreads({ threads }: Pick<Partial<SubmitJob>, "threads">, { env }: SubmitJob): void {
  const { OMP_NUM_THREADS: inherited, TUTTI_JOB_ID: outer, TUTTI_THREADS: ofOuter = "1" } = env;
  if (threads === undefined || inherited === undefined || inherited === String(threads)) return;
  if (outer !== undefined && inherited === ofOuter) return;
  hint(
    `tutti: OMP_NUM_THREADS is ${visibleLine(inherited)} in the job's environment, although -c is ${threads}; --env all,OMP_NUM_THREADS=${threads} changes it for this job`,
  );
}
