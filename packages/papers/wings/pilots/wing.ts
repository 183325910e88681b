/** The model `pilots`: nodes are asked for because jobs wait, and go back when nothing uses them. */
import type { ParameterValues, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES, describeRules } from "@tutti/kernel/core/rules.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import type { Wing, WingFiles, WingRun } from "../wing.ts";
import { checkPilots } from "./checker.ts";
import type { PilotsPolicyDefinition, PilotsSchedule } from "./contract.ts";
import { explainPilots } from "./explain.ts";
import { measuresOf } from "./metrics.ts";
import { PILOTS_POLICIES } from "./policies.ts";
import { PILOTS_RULES, simulatePilots } from "./simulate.ts";
import { instanceOf, PILOTS_PARAMETERS } from "./workload.ts";

const WORKLOAD_RULES = [
  "workload: of a log, only times, sizes and estimates of its jobs count; estimates are limits",
  ...describeRules(DEFAULT_RULES),
  "node-hours asked for: nodes × time limit of all pilots; used: while they ran; idle: of nodes on which no job ran",
  "nodes held: node-hours used ÷ hours from the first submission until the last job has ended",
];

export const pilots: Wing<PilotsPolicyDefinition> = {
  name: "pilots",
  title: "Pilots that follow a queue",
  summary: "Jobs on nodes that a batch system gives for a while: what holding them costs, and what it saves.",
  machine: "jobs on pilots, which hold nodes of a batch system for a while",
  rules: [...WORKLOAD_RULES, ...PILOTS_RULES],
  source: "the pilots of `tutti serve --on slurm` (docs/slurm.md)",
  parameters: PILOTS_PARAMETERS,
  policies: PILOTS_POLICIES,
  simulate: simulateWing,
  explain: explainWing,
};

function simulateWing(
  parameters: ParameterValues,
  { definition, parameters: ofPolicy }: PolicyChoice<PilotsPolicyDefinition>,
  seed: number,
  isAudited: boolean,
  files?: WingFiles,
): WingRun {
  const instance = instanceOf(parameters, seed, files);
  const settings = definition.settings(ofPolicy, instance);
  const schedule = simulatePilots(instance, settings);
  const measures = measuresOf(instance, schedule);
  const { count, processors, submitS, runS, size, estimateS } = instance.jobs;
  return {
    jobs: count,
    processors,
    workloadHash: hashColumns(submitS, runS, size, estimateS),
    scheduleHash: hashOf(schedule),
    left: schedule.endS.filter(Number.isNaN).length,
    measures,
    checked: isAudited ? checkPilots(instance, settings, schedule, measures) : undefined,
  };
}

function hashOf({ pilots: records, startS, endS, pilotOf }: PilotsSchedule): string {
  const column = (of: (pilot: (typeof records)[number]) => number) => Float64Array.from(records, of);
  return hashColumns(
    ...[startS, endS, pilotOf],
    column(({ nodes }) => nodes),
    column(({ askedS }) => askedS),
    column(({ runsS }) => runsS),
    column(({ goneS }) => goneS),
  );
}

function explainWing(
  parameters: ParameterValues,
  { definition, parameters: ofPolicy, label }: PolicyChoice<PilotsPolicyDefinition>,
  seed: number,
  job: string,
  files?: WingFiles,
): readonly string[] {
  const instance = instanceOf(parameters, seed, files);
  const settings = definition.settings(ofPolicy, instance);
  return explainPilots(instance, settings, simulatePilots(instance, settings), job, label);
}
