/** Defines a workload model: a generator of jobs from parameters and a seed. */
import type { JobColumns, Workload } from "../../core/jobs.ts";
import { number, parameterSuffix } from "../../core/parameters.ts";
import type { ParameterSpec, ParameterValues } from "../../core/policy.ts";
import { estimateRule, withEstimates } from "../estimates/estimates.ts";
import { scaleToLoad } from "../scale.ts";

export interface ModelDefinition {
  /** As written on the command line: `downey:jobs=1000:load=0.7`. */
  readonly name: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** The exact rules, one sentence each. */
  readonly rules: readonly string[];
  /** Paper and section. */
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /**
   * Generates the jobs: the same parameters and seed give the same jobs to the last bit on every machine.
   * @param parameters complete and within the specs (see parseParameters)
   * @param seed an integer of at most 53 bits
   * @throws InputError if parameters contradict each other
   */
  generate(parameters: ParameterValues, seed: number): Workload;
}

/** Turns the jobs of a model into a workload, numbered from 1. */
export function workloadOf(
  { name, parameters: specs }: ModelDefinition,
  parameters: ParameterValues,
  seed: number,
  processors: number,
  jobs: Omit<JobColumns, "id">,
): Workload {
  const count = jobs.submitS.length;
  return {
    name: `${name}${parameterSuffix(specs, parameters)}, seed ${seed}`,
    count,
    jobs: { id: Int32Array.from({ length: count }, (_, row) => row + 1), ...jobs },
    processors,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
}

/** For models whose arrivals have a natural rate. */
export const LOAD_PARAMETER: ParameterSpec = number(
  "load",
  { min: 0, max: 100, default: 0 },
  "offered load, reached by scaling the submit times; 0: the submit times stay as the model draws them",
);

/** Scales the workload to the load of the parameters, which its name contains already. */
export function withRequestedLoad(workload: Workload, parameters: ParameterValues): Workload {
  const load = Number(parameters.load);
  if (load === 0) return workload;
  return { ...scaleToLoad(workload, load, workload.processors!), name: workload.name };
}

/** Gives the workload the estimates of the parameters, which its name contains already. */
export function withRequestedEstimates(
  workload: Workload,
  parameters: ParameterValues,
  seed: number,
): Workload {
  return { ...withEstimates(workload, estimateRule(parameters), seed), name: workload.name };
}
