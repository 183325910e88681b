/** The model `phases`: gangs that take turns on shared units by consent. */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { file } from "@tutti/kernel/core/parameters.ts";
import {
  NONE,
  type ParameterSpec,
  type ParameterValues,
  type PolicyChoice,
} from "@tutti/kernel/core/policy.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import type { Wing, WingFiles, WingRun } from "../wing.ts";
import { PhasesChecker } from "./checker.ts";
import type { PhasesInstance, PhasesPolicyDefinition } from "./contract.ts";
import { gangNamed, PhasesExplainer } from "./explain.ts";
import { readPhases } from "./file.ts";
import { summarisePhases } from "./metrics.ts";
import { MODEL_PARAMETERS, measuresOf, memoryOf, modelInstance, nodesOf } from "./model.ts";
import { exclusive } from "./policies/exclusive.ts";
import { PHASES_POLICIES } from "./policies/registry.ts";
import { PHASES_RULES, simulatePhases } from "./simulate.ts";

/** Parameters that a file takes the place of. */
const OF_MODEL = ["sizes", "hold", "wait", "spread", "rounds", "gangs", "interarrival"];

const FILE: readonly ParameterSpec[] = [
  file(
    "file",
    "turns of your own instead of sizes, hold, wait, spread, rounds, gangs and interarrival: a line each, as CSV with a heading or as JSON Lines; columns gang and hold, and if there are any wait, units, submit, pool, save and restore, all times in seconds",
  ),
  file("columns", "file=: a file with a line COLUMN=NAME for each of these that has another name in yours"),
];

const WORKLOAD_RULES = [
  "workload: a gang has `rounds` turns; after each it does something else for a while, also after the last one",
  "rounds per hour: all turns ÷ time from the first submission until the last gang has left; ÷ exclusive use: the same divided by that of phases-exclusive for the same gangs",
  "pace: time that a gang takes with units of its own ÷ time from its admission until it has left; fairness: Jain's index of the paces",
];

export const phases: Wing<PhasesPolicyDefinition> = {
  name: "phases",
  title: "Gangs with phases",
  summary:
    "Gangs that hold shared units for a while, give them back by themselves, and want them again later.",
  machine: "turns of whole gangs on shared units, which end when the gang yields",
  rules: [...WORKLOAD_RULES, ...PHASES_RULES],
  source: "gangs with phases, after llm-d's rl-time-slicing (2026) and Weave (OSDI 2026)",
  parameters: [...MODEL_PARAMETERS, ...FILE],
  policies: PHASES_POLICIES,
  simulate: simulateWing,
  explain: explainWing,
};

function explainWing(
  parameters: ParameterValues,
  { definition, parameters: ofPolicy, label }: PolicyChoice<PhasesPolicyDefinition>,
  seed: number,
  job: string,
  files?: WingFiles,
): readonly string[] {
  const instance = instanceOf(parameters, seed, files);
  const explainer = new PhasesExplainer(instance, gangNamed(instance, job));
  return explainer.lines(simulatePhases(instance, definition, ofPolicy, explainer), label);
}

function simulateWing(
  parameters: ParameterValues,
  { definition, parameters: ofPolicy }: PolicyChoice<PhasesPolicyDefinition>,
  seed: number,
  isAudited: boolean,
  files?: WingFiles,
): WingRun {
  const instance = instanceOf(parameters, seed, files);
  const checker = isAudited ? new PhasesChecker(instance, definition.guarantees(ofPolicy)) : undefined;
  const schedule = simulatePhases(instance, definition, ofPolicy, checker);
  const numbers = summarisePhases(instance, schedule);
  const { submitMs, turns } = instance;
  return {
    jobs: instance.gangs.length,
    processors: instance.pools.reduce((sum, { units }) => sum + units, 0),
    workloadHash: hashColumns(
      submitMs,
      turns.units,
      turns.holdMs,
      turns.waitMs,
      turns.saveMs,
      turns.restoreMs,
    ),
    scheduleHash: hashColumns(schedule.gotMs, schedule.yieldedMs, schedule.leftMs),
    left: schedule.leftMs.filter(Number.isNaN).length,
    measures: measuresOf(numbers, definition === exclusive ? numbers : ofExclusiveUse(instance)),
    checked: checker === undefined ? undefined : `${checker.ended} turns to their end`,
  };
}

/** What everything else is compared with. */
function ofExclusiveUse(instance: PhasesInstance) {
  const { parameters } = makeChoice(exclusive);
  return summarisePhases(instance, simulatePhases(instance, exclusive, parameters));
}

/** The gangs that the parameters describe. */
export function instanceOf(parameters: ParameterValues, seed: number, files: WingFiles = {}): PhasesInstance {
  const [file, columns] = [parameters.file, parameters.columns].map(String);
  if (file === NONE && columns !== NONE)
    throw new ModelError(
      `Cannot use columns=${columns} without file=: expected a file whose columns it names`,
    );
  if (file === NONE) return modelInstance(parameters, seed);
  const changed = MODEL_PARAMETERS.filter(({ name, default: usual }) => parameters[name] !== usual);
  const set = changed.find(({ name }) => OF_MODEL.includes(name));
  if (set !== undefined)
    throw new ModelError(
      `Cannot use ${set.name}=${parameters[set.name]} with file=: it is for the model, and the file has turns of its own`,
    );
  return readPhases(file, files[file], {
    columns: columns === NONE ? undefined : [columns, files[columns]],
    ...nodesOf(parameters),
    ...memoryOf(parameters),
    changed: changed.map(({ name }) => `${name}=${parameters[name]}`),
  });
}
