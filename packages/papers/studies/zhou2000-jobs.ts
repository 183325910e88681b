/** Makes the sets of jobs of zhou2000's experiments, and computes the means that its tables show. */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { applyJobChanges, generateJobs } from "@tutti/lab/experiments/jobs.ts";
import { cells, type Place } from "../zhou2000/cells.ts";

/** The jobs of the requested cells of the page, with each cell's policy. */
export function* zhou2000Jobs(
  isWanted: (place: Place) => boolean,
): Generator<{ readonly place: Place; readonly policy: string; readonly instance: Instance }> {
  for (const { place, cell } of cells(2000)) {
    if (!isWanted(place)) continue;
    const { source, policy } = cell;
    const jobs = applyJobChanges(generateJobs(source.jobs, source.seed), source);
    yield { place, policy, instance: prepare(jobs, jobs.processors as number, DEFAULT_RULES) };
  }
}

/** t_ta, t_sa, t_ma and t_la. */
export function turnarounds({ count, submitS, runS }: Instance, endS: ArrayLike<number>): number[] {
  const sums = [0, 0, 0, 0];
  const jobs = [0, 0, 0, 0];
  for (let job = 0; job < count; job++) {
    for (const group of [0, runS[job] <= 12 ? 1 : runS[job] <= 60 ? 2 : 3]) {
      sums[group] += endS[job] - submitS[job];
      jobs[group]++;
    }
  }
  return sums.map((sum, group) => sum / jobs[group]);
}
