/** Says on standard error what a submit may mean differently from what its user expects. */
import { dirname, resolve } from "node:path";
import { whyNotMade } from "@tutti/host/make-folders.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";
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

/** Says where the job cannot write, unless an earlier job may still make the folder. */
export function reportOutputs({ after, cwd, stdout, stderr }: SubmitJob): void {
  if (after !== undefined) return;
  for (const path of new Set([stdout, stderr])) {
    if (path === undefined || dirname(path).includes("%")) continue;
    const why = whyNotMade(resolve(cwd, path.includes("%") ? dirname(path) : path));
    if (why !== undefined)
      hint(`tutti: warning: the job will fail if it cannot write to "${visibleLine(path)}": ${why}`);
  }
}
