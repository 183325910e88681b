/** Generates the jobs of a model, but not more than a page can hold. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { ParameterSpec } from "@tutti/kernel/core/policy.ts";
import type { ModelDefinition } from "@tutti/kernel/workload/models/model.ts";
import { generateJobs, parseModel } from "@tutti/lab/experiments/jobs.ts";

/** Jobs with their schedules take about 150 bytes each in every worker. */
export const MAX_MODEL_JOBS = 2_000_000;

/** The parameters of a model as they are in a page: with fewer jobs than on the command line. */
export function parametersInPage({ parameters }: ModelDefinition): readonly ParameterSpec[] {
  return parameters.map((spec) =>
    spec.kind === "integer" && spec.name === "jobs"
      ? { ...spec, max: Math.min(spec.max, MAX_MODEL_JOBS) }
      : spec,
  );
}

/** @throws InputError if the text does not name a model, or the model makes too many jobs for a page */
export function generateModel(text: string, seed: number): Workload {
  const count = Number(parseModel(text)?.parameters.jobs ?? 0);
  if (count <= MAX_MODEL_JOBS) return generateJobs(text, seed);
  throw new InputError(
    `Cannot generate ${count} jobs in a page: expected from 1 to ${MAX_MODEL_JOBS} jobs; \`tutti compare\` on the command line can have more`,
  );
}
