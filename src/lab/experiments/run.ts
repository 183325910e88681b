/**
 * Runs an experiment: several policies on the same jobs and machine, under the same rules. If the jobs come
 * from a model, the experiment can be repeated with other seeds. It is a list of cells in order of policy,
 * then of seed.
 */
import { InputError } from "../../core/errors.ts";
import type { Instance, Workload } from "../../core/jobs.ts";
import { describeRules } from "../../core/rules.ts";
import { describeWindow } from "../../metrics/window.ts";
import { isPolicyFile } from "../../own-policies/own-policy.ts";
import { choosePolicy } from "../../policies/parse-policy.ts";
import type { Comparison } from "../../results/comparison.ts";
import { requireUsable } from "../../simulator/simulate.ts";
import { SIZE_RULE } from "../../workload/traces/swf.ts";
import { chooseModel } from "../files/source.ts";
import type { Cell, CellResult } from "./kinds.ts";
import { provenance } from "./provenance.ts";
import { type CellsOptions, runCells, WITH_FILES } from "./run-cells.ts";
import { type OpenedJobs, openJobs, prepareJobs } from "./runner.ts";
import type { SummaryCell } from "./summary.ts";

/**
 * What all runs share: a cell without its policy. `seed` is that of the first run; replication r has seed +
 * r.
 */
export type Experiment = Omit<SummaryCell, "policy" | "keep"> & Required<Pick<SummaryCell, "parameters">>;

export interface ExperimentOptions extends CellsOptions {
  readonly policies: readonly string[];
  /** Only for models. */
  readonly replications: number;
  /** The command that reproduces the result, for the report. */
  readonly command?: string;
  /** Keep what a report draws of the rows of gang policies. */
  readonly recordMatrix?: boolean;
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
  const { replications, policies } = options;
  const { jobs, seed } = experiment.source;
  const opened = options.opened ?? (await openExperiment(experiment, replications));
  const { workload } = opened;
  const instance = prepareJobs(workload, experiment.processors, experiment.rules);
  await requireUsablePolicies(experiment, { ...options, opened });
  const runs = await runCells(cellsOf(experiment, options), { ...options, opened });
  const isGang = runs.some(({ summary }) => summary.gang !== undefined);
  return {
    instance: isGang ? withSlotDiagnostic(instance, experiment.slotS) : instance,
    workloadHash: runs[0].workload.hash,
    seed: chooseModel(jobs) === undefined ? undefined : seed,
    rules: rulesInWords(experiment, runs[0], isGang, workload),
    made: provenance(),
    command: options.command,
    policies: policies.map((_policy, p) => {
      const ofPolicy = runs.filter((_run, cell) => cell % policies.length === p);
      const { workload: _, repacking: __, ...first } = ofPolicy[0];
      return {
        ...first,
        schedule: first.schedule!,
        ...(replications === 1 ? { replications: undefined } : replicationsOf(ofPolicy, seed)),
      };
    }),
  };
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

function cellsOf(experiment: Experiment, options: ExperimentOptions): Cell<"summary">[] {
  const { replications, policies, recordMatrix = false } = options;
  const { source } = experiment;
  const keep = ["schedule", ...(recordMatrix ? ["matrix" as const] : [])] as const;
  return Array.from({ length: replications }, (_, r) =>
    policies.map((policy) => ({
      kind: "summary" as const,
      ...experiment,
      source: { ...source, seed: source.seed + r },
      policy,
      ...(r === 0 && { keep }),
    })),
  ).flat();
}

function replicationsOf(runs: readonly CellResult<"summary">[], firstSeed: number) {
  return {
    replications: runs.map(({ summary }) => summary),
    replicationHashes: runs.map(({ workload, scheduleHash }, r) => ({
      seed: firstSeed + r,
      name: workload.name,
      workload: workload.hash,
      schedule: scheduleHash,
    })),
  };
}

function rulesInWords(
  experiment: Experiment,
  { summary }: CellResult<"summary">,
  isGang: boolean,
  workload: Workload,
): string[] {
  const rules = describeRules(experiment.rules);
  if (workload.trace !== undefined) rules.push(workload.sizeRule ?? SIZE_RULE);
  rules.push(describeWindow(summary.window));
  rules.push(
    `bound=${experiment.parameters.boundS}: the bounded slowdown counts a run time below this many seconds as this many seconds`,
  );
  if (isGang) {
    rules.push(
      `slot=${experiment.slotS} switch=${experiment.switchS}: length of a time-sharing slot, and of the switch between two slots, in seconds`,
    );
  }
  return rules;
}

/**
 * Adds a diagnostic if most jobs are shorter than a slot: then the rounding of their work decides the result.
 */
function withSlotDiagnostic(instance: Instance, slotS: number): Instance {
  const isShort = (runS: number) => runS < slotS;
  const count = instance.runS.reduce((sum, runS) => sum + (isShort(runS) ? 1 : 0), 0);
  if (2 * count <= instance.count) return instance;
  const share = Math.round((100 * count) / instance.count);
  const message = `${share} % of the jobs are shorter than one slot of ${slotS} s, and time sharing gives each of them a whole slot; a shorter --slot may suit these jobs better`;
  const job = instance.id[instance.runS.findIndex(isShort)];
  const example = { line: undefined, job, field: "run time", value: undefined };
  const diagnostic = {
    code: "shorter-than-slot",
    action: "kept",
    message,
    count,
    examples: [example],
  } as const;
  return { ...instance, diagnostics: [...instance.diagnostics, diagnostic] };
}
