/**
 * An experiment: some policies over the same jobs on the same machine under the same rules, repeated with other seeds
 * where the jobs come from a model. A run is a function of what stands in its Experiment and its cell, of nothing else.
 */
import { InputError, RuleViolation } from "../core/errors.ts";
import type { Instance, Workload } from "../core/jobs.ts";
import { describeRules, type Rules } from "../core/rules.ts";
import type { Schedule } from "../core/schedule.ts";
import type { MetricParameters } from "../metrics/registry.ts";
import { summarise } from "../metrics/summary.ts";
import { describeWindow, type WindowOptions } from "../metrics/window.ts";
import type { ComparedPolicy, Comparison } from "../report/comparison.ts";
import { rulesOf } from "../simulator/rules.ts";
import { simulate } from "../simulator/simulate.ts";
import { hashColumns, hashWorkload } from "../workload/hash.ts";
import { prepare } from "../workload/prepare.ts";
import { SIZE_RULE } from "../workload/swf.ts";
import { requireJobs } from "../workload/swf-rules.ts";
import { PolicyError, shown } from "./guarded-policy.ts";
import { MatrixRecorder } from "./matrix-recorder.ts";
import { isFile, loadPolicy } from "./own-policy.ts";
import { provenance } from "./provenance.ts";
import { chooseModel, firstJobs, machineSize, openSource } from "./source.ts";
import { runCells, type WorkerOptions } from "./workers.ts";

/** What all runs of an experiment share. */
export interface Experiment {
  /** A trace or a model, as `openSource` takes it. */
  readonly source: string;
  /** Use the first so many jobs only. */
  readonly limit: number | undefined;
  /** Size of the machine; undefined takes the one that the source names. */
  readonly processors: number | undefined;
  readonly rules: Rules;
  readonly window: WindowOptions;
  readonly metricParameters: MetricParameters;
  /** Time sharing only. */
  readonly slotS: number;
  readonly switchS: number;
}

export interface ExperimentOptions extends WorkerOptions {
  readonly policies: readonly string[];
  /** First seed; replication r has seed + r. */
  readonly seed: number;
  /** Models only. */
  readonly replications: number;
  /** The command that makes the same result again, for the report. */
  readonly command?: string;
  /** Keep what a report draws of the rows of gang policies. */
  readonly recordMatrix?: boolean;
  /** Called with the jobs made ready, before the first run. */
  onInstance?(instance: Instance): Promise<void>;
  /** Called during long simulations in this thread with the jobs that have arrived. */
  onJobs?(arrived: number, of: number): void;
}

/** Gang policies and their machine keep books of every processor. */
export const MOST_GANG_PROCESSORS = 2 ** 24;

interface PoliciesShared {
  readonly experiment: Experiment;
  /** The jobs of the first seed. */
  readonly workload: Workload;
  readonly firstSeed: number;
  readonly recordMatrix: boolean;
  readonly onJobs?: ((arrived: number, of: number) => void) | undefined;
}

interface PoliciesCell {
  readonly policy: string;
  readonly seed: number;
}

/** One policy on the jobs of one seed. */
type PolicyRun = Omit<ComparedPolicy, "schedule" | "replications" | "replicationHashes"> & {
  /** Of further seeds than the first, whose jobs are those of the comparison. */
  readonly workload: { readonly name: string; readonly hash: string } | undefined;
  /** Of the first seed only. */
  readonly schedule: Schedule | undefined;
};

/**
 * Runs every policy on every seed. The result holds what is needed to make it again.
 * @throws InputError for input that cannot be used, RuleViolation when a policy breaks a rule
 */
export async function runExperiment(experiment: Experiment, options: ExperimentOptions): Promise<Comparison> {
  const { seed, replications, policies } = options;
  const isModel = chooseModel(experiment.source) !== undefined;
  if (replications > 1 && !isModel) {
    throw new InputError(
      `Cannot replicate "${experiment.source}" ${replications} times: a trace is the same every time, expected a model`,
    );
  }
  const workload = await openJobs(experiment, seed);
  const instance = prepareJobs(experiment, workload);
  await options.onInstance?.(instance);
  const cells = Array.from({ length: replications }, (_, r) =>
    policies.map((policy) => ({ policy, seed: seed + r })),
  ).flat();
  const inThisThread = options.workers === 1 || cells.length === 1;
  const onJobs = inThisThread ? options.onJobs : undefined;
  const { recordMatrix = false } = options;
  const shared = { experiment, workload, firstSeed: seed, recordMatrix, onJobs };
  const runs = await runCells("policies", shared, cells, options);
  const workloadHash = hashWorkload(workload);
  return {
    instance: isGang(runs) ? withSlotDiagnostic(instance, experiment.slotS) : instance,
    workloadHash,
    seed: isModel ? seed : undefined,
    rules: rulesInWords(experiment, runs, workload),
    made: provenance(),
    command: options.command,
    policies: policies.map((_, p) => {
      const ofPolicy = runs.filter((_run, cell) => cell % policies.length === p);
      const { workload: _first, ...first } = ofPolicy[0]!;
      if (replications === 1) return { ...first, schedule: first.schedule!, replications: undefined };
      return {
        ...first,
        schedule: first.schedule!,
        replications: ofPolicy.map(({ summary }) => summary),
        replicationHashes: ofPolicy.map((run, r) => ({
          seed: seed + r,
          name: run.workload?.name ?? workload.name,
          workload: run.workload?.hash ?? workloadHash,
          schedule: run.scheduleHash,
        })),
      };
    }),
  };
}

/** The task of the worker pool: one policy on one seed. */
export function policiesTask(shared: PoliciesShared): (cell: PoliciesCell) => Promise<PolicyRun> {
  let seed = shared.firstSeed;
  let instance = prepareJobs(shared.experiment, shared.workload);
  return async (cell) => {
    if (cell.seed !== seed) {
      instance = prepareJobs(shared.experiment, await openJobs(shared.experiment, cell.seed));
      seed = cell.seed;
    }
    return runPolicy(instance, cell, shared);
  };
}

async function runPolicy(instance: Instance, cell: PoliciesCell, shared: PoliciesShared): Promise<PolicyRun> {
  const { experiment, onJobs } = shared;
  const choice = await loadPolicy(cell.policy);
  if (choice.definition.sharing === "time" && instance.processors > MOST_GANG_PROCESSORS) {
    throw new InputError(
      `Cannot use policy "${choice.label}" on ${instance.processors} processors: time sharing keeps books of every processor, expected at most ${MOST_GANG_PROCESSORS}`,
    );
  }
  const isFirst = cell.seed === shared.firstSeed;
  const isTime = choice.definition.sharing === "time";
  const isDrawn = shared.recordMatrix && isFirst && isTime;
  const recorder = isDrawn ? new MatrixRecorder(instance) : undefined;
  let schedule: Schedule;
  try {
    schedule = simulate(instance, choice, {
      slotS: experiment.slotS,
      switchS: experiment.switchS,
      observer: recorder,
      progress: onJobs === undefined ? undefined : (arrived) => onJobs(arrived, instance.count),
    });
  } catch (error) {
    throw policyFailure(cell.policy, error);
  }
  const { window, metricParameters: parameters } = experiment;
  const { own, inherited } = rulesOf(choice);
  return {
    label: choice.label,
    title: choice.definition.title,
    rules: [...own, ...inherited],
    summary: summarise(instance, schedule, { window, parameters }),
    workload: isFirst ? undefined : { name: instance.workload.name, hash: hashWorkload(instance.workload) },
    scheduleHash: hashColumns(schedule.startS, schedule.endS),
    schedule: isFirst ? schedule : undefined,
    matrix: recorder?.record(),
  };
}

/** What a policy of the user's own threw is told as its failure, not as ours. */
export function policyFailure(policy: string, error: unknown): unknown {
  const [file = ""] = policy.split(":");
  if (
    !isFile(file) ||
    error instanceof RuleViolation ||
    error instanceof InputError ||
    error instanceof PolicyError
  ) {
    return error;
  }
  const name = file.slice(file.lastIndexOf("/") + 1);
  const stack = error instanceof Error ? String(error.stack) : "";
  const place = stack.split("\n").find((line) => line.includes(name)) ?? "";
  const where = /([^/(\s]+:\d+:\d+)\)?$/.exec(place)?.[1];
  return new PolicyError(
    `Cannot go on with policy "${file}": it failed with ${shown(error)}${where === undefined ? "" : ` at ${where}`}`,
    { cause: error },
  );
}

async function openJobs(experiment: Experiment, seed: number): Promise<Workload> {
  const workload = await openSource(experiment.source, seed);
  return requireJobs(experiment.limit === undefined ? workload : firstJobs(workload, experiment.limit));
}

function prepareJobs(experiment: Experiment, workload: Workload): Instance {
  const instance = prepare(workload, machineSize(workload, experiment.processors), experiment.rules);
  if (instance.count > 0) return instance;
  throw new InputError(
    `Cannot use the jobs of "${workload.name}": all ${workload.count} are larger than the machine of ${instance.processors} processors, expected a larger --procs, or --oversize clip`,
  );
}

function rulesInWords(experiment: Experiment, runs: readonly PolicyRun[], workload: Workload): string[] {
  const rules = describeRules(experiment.rules);
  if (workload.trace !== undefined) rules.push(SIZE_RULE);
  const first = runs[0];
  if (first !== undefined) rules.push(describeWindow(first.summary.window));
  rules.push(
    `bound=${experiment.metricParameters.boundS}: the bounded slowdown takes shorter run times as so many seconds`,
  );
  if (isGang(runs)) {
    rules.push(
      `slot=${experiment.slotS} switch=${experiment.switchS}: a slot of time sharing runs so many seconds, a change of slot costs so many more`,
    );
  }
  return rules;
}

function isGang(runs: readonly PolicyRun[]): boolean {
  return runs.some(({ summary }) => summary.gang !== undefined);
}

/** Says so when most jobs are shorter than a slot: then the rounding of their work decides the result. */
function withSlotDiagnostic(instance: Instance, slotS: number): Instance {
  const isShort = (runS: number) => runS < slotS;
  const count = instance.runS.reduce((sum, runS) => sum + (isShort(runS) ? 1 : 0), 0);
  if (2 * count <= instance.count) return instance;
  const share = Math.round((100 * count) / instance.count);
  const message = `${share} % of the jobs are shorter than one slot of ${slotS} s, and time sharing gives each a whole one; a shorter --slot may suit these jobs`;
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
