/**
 * Runs an experiment: several policies on the same jobs and machine, under the same rules. If the jobs come
 * from a model, the experiment can be repeated with other seeds. It is a list of cells in order of policy,
 * then of seed.
 */

import { provenance } from "@tutti/host/version.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { requireUsable } from "@tutti/kernel/simulator/simulate.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import type { Comparison } from "../results/comparison.ts";
import { cellsOf, comparisonOf, type Experiment, type RunList } from "./comparison-of.ts";
import { type OpenedJobs, openJobs, prepareJobs } from "./inputs.ts";
import { type CellsOptions, runCells, WITH_FILES } from "./run-cells.ts";
import { chooseModel } from "./source.ts";

export interface ExperimentOptions extends CellsOptions, RunList {
  /** The command that reproduces the result, for the report. */
  readonly command?: string | undefined;
}

/**
 * The jobs of the first seed, for `runExperiment`.
 * @param given jobs to use instead of those that the source names
 * @throws InputError if the source cannot be used, or cannot be used with several seeds
 */
export async function openExperiment(
  { source }: Experiment,
  replications: number,
  given?: Workload,
): Promise<OpenedJobs> {
  if (replications > 1 && chooseModel(source.jobs) === undefined) {
    throw new InputError(
      `Cannot replicate "${source.jobs}" ${replications} times: a trace is the same every time, expected a model`,
    );
  }
  return openJobs(source, given === undefined ? WITH_FILES : { open: () => given });
}

/**
 * Runs every policy on every seed. The result has everything that is needed to reproduce it.
 * @throws InputError for input that cannot be used, RuleViolation if a policy breaks a rule
 */
export async function runExperiment(experiment: Experiment, options: ExperimentOptions): Promise<Comparison> {
  const { replications } = options;
  const opened = options.opened ?? (await openExperiment(experiment, replications));
  const { workload } = opened;
  const instance = prepareJobs(workload, experiment.processors, experiment.rules);
  await requireUsablePolicies(experiment, { ...options, opened });
  const runs = await runCells(cellsOf(experiment, options), { ...options, opened });
  const isModel = chooseModel(experiment.source.jobs) !== undefined;
  const made = { command: options.command, made: provenance(), isModel };
  return comparisonOf(experiment, { ...options, ...made }, instance, runs);
}

/**
 * Checks all policies on the jobs of all seeds before the first run, except users' own, whose code runs only
 * in their runs.
 * @throws InputError for the first policy that cannot schedule the jobs
 */
export async function requireUsablePolicies(
  { source, processors, rules }: Experiment,
  {
    policies,
    replications,
    opened,
  }: Pick<ExperimentOptions, "policies" | "replications"> & { readonly opened: OpenedJobs },
): Promise<void> {
  const first = prepareJobs(opened.workload, processors, rules);
  const registered = policies.filter((policy) => !isPolicyFile(policy.split(":")[0]));
  const choices = registered.map((policy) => choosePolicy(policy));
  for (const choice of choices) requireUsable(first, choice);
  const choosy = choices.filter(({ definition }) => definition.jobCheck !== undefined);
  for (let r = 1; choosy.length > 0 && r < replications; r++) {
    const { workload } = await openJobs({ ...source, seed: source.seed + r }, WITH_FILES);
    const instance = prepareJobs(workload, processors, rules);
    for (const choice of choosy) requireUsable(instance, choice);
  }
}
