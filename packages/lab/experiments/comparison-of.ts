/**
 * Turns an experiment into cells, and the results of these cells into a comparison. Nothing here needs Node,
 * so a web page makes the same comparison as the command line.
 */
import type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
import { describeRules } from "@tutti/kernel/core/rules.ts";
import { verdictOf } from "@tutti/kernel/metrics/verdict.ts";
import { describeWindow } from "@tutti/kernel/metrics/window.ts";
import { isSlurmHistory } from "@tutti/kernel/workload/traces/sacct.ts";
import { SIZE_RULE } from "@tutti/kernel/workload/traces/swf.ts";
import type { Comparison } from "../results/comparison.ts";
import type { Cell, CellResult } from "./kinds.ts";
import type { SummaryCell } from "./summary.ts";

/**
 * What all runs share: a cell without its policy. `seed` is that of the first run; replication r has seed +
 * r.
 */
export type Experiment = Omit<SummaryCell, "policy" | "keep"> & Required<Pick<SummaryCell, "parameters">>;

/** The runs of an experiment: every policy on every seed. */
export interface RunList {
  readonly policies: readonly string[];
  /** Only for models. */
  readonly replications: number;
  /** Keep what a report draws of the rows of gang policies. */
  readonly recordMatrix?: boolean | undefined;
}

/** The cells in order of seed, then of policy. */
export function cellsOf(experiment: Experiment, options: RunList): Cell<"summary">[] {
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

interface Making extends Pick<Comparison, "command" | "made"> {
  readonly isModel: boolean;
}

/**
 * The comparison with everything that is needed to make it again.
 * @param instance the jobs of the first seed
 * @param runs results in the order of `cellsOf`
 */
export function comparisonOf(
  experiment: Experiment,
  { policies, replications, command, made, isModel }: RunList & Making,
  instance: Instance,
  runs: readonly CellResult<"summary">[],
): Comparison {
  const { seed } = experiment.source;
  // With scaled arrivals, the log does not say what would have happened.
  const isHistory = isSlurmHistory(instance.workload) && experiment.source.load === undefined;
  const isGang = runs.some(({ summary }) => summary.gang !== undefined);
  return {
    instance: isGang ? withSlotDiagnostic(instance, experiment.slotS) : instance,
    workloadHash: runs[0].workload.hash,
    seed: isModel ? seed : undefined,
    rules: rulesInWords(experiment, runs[0], isGang, instance.workload),
    made,
    command,
    policies: policies.map((_policy, p) => {
      const ofPolicy = runs.filter((_run, cell) => cell % policies.length === p);
      const { workload: _, repacking: __, ...first } = ofPolicy[0];
      return {
        ...first,
        schedule: first.schedule!,
        ...(isHistory && { verdict: verdictOf(instance, first.schedule!, first.summary.window) }),
        ...(replications === 1 ? { replications: undefined } : replicationsOf(ofPolicy, seed)),
      };
    }),
  };
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
  const { load } = experiment.source;
  if (load !== undefined)
    rules.push(`load=${load}: all gaps between submits are scaled by one factor, to this offered load`);
  if (workload.limits !== undefined)
    rules.push(
      "limits=workload: jobs wait for the limits on users, groups and queues that the workload states",
    );
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
