/** Generates the jobs of a model, but not more than a page can hold. */
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { generateJobs, parseModel } from "../../lab/experiments/jobs.ts";

/** Jobs with their schedules take about 150 bytes each in every worker. */
export const MAX_MODEL_JOBS = 2_000_000;

/** @throws InputError if the text does not name a model, or the model makes too many jobs for a page */
export function generateModel(text: string, seed: number): Workload {
  const count = Number(parseModel(text)?.parameters.jobs ?? 0);
  if (count <= MAX_MODEL_JOBS) return generateJobs(text, seed);
  throw new InputError(
    `Cannot generate ${count} jobs in a page: expected at most ${MAX_MODEL_JOBS}; \`tutti compare\` on the command line has no such limit`,
  );
}
