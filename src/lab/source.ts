/** Where jobs come from: a trace or a model, by one text. */
import { existsSync } from "node:fs";
import { InputError, ModelError } from "../core/errors.ts";
import type { JobColumns, TraceColumns, Workload } from "../core/jobs.ts";
import { parseParameters } from "../core/parameters.ts";
import type { ParameterValues } from "../core/policy.ts";
import { MODELS, type ModelDefinition } from "../workload/models.ts";
import { readTrace } from "./files.ts";

/** A model with its parameters filled in. */
export interface ModelChoice {
  readonly model: ModelDefinition;
  readonly parameters: ParameterValues;
}

/**
 * Reads `downey:jobs=1000:load=0.7`; undefined when the text names no model, or names a file.
 * @throws InputError for an unknown parameter or a value out of range
 */
export function chooseModel(text: string): ModelChoice | undefined {
  const [name, ...settings] = text.split(":");
  const model = MODELS.find((one) => one.name === name);
  if (model === undefined || existsSync(text)) return undefined;
  return { model, parameters: parseParameters(`model "${model.name}"`, model.parameters, settings) };
}

/**
 * The jobs of a trace or a model.
 * @param text path of a trace, name of a trace in TUTTI_TRACES, `-`, or a model with its parameters
 * @param seed for models; traces do not use it
 * @throws InputError when the source cannot be read or used
 */
export async function openSource(text: string, seed: number): Promise<Workload> {
  const choice = chooseModel(text);
  return choice === undefined ? readTrace(text) : generate(choice, seed);
}

/** @throws ModelError when the parameters contradict each other */
export function generate({ model, parameters }: ModelChoice, seed: number): Workload {
  try {
    return model.generate(parameters, seed);
  } catch (error) {
    if (error instanceof InputError) throw new ModelError(error.message, { cause: error });
    throw error;
  }
}

/** The first jobs in submit order. */
export function firstJobs(workload: Workload, count: number): Workload {
  if (count >= workload.count) return workload;
  const cut = <Columns extends JobColumns | TraceColumns>(columns: Columns): Columns =>
    Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, column.slice(0, count)]),
    ) as unknown as Columns;
  return {
    ...workload,
    name: `${workload.name} (first ${count} jobs)`,
    count,
    jobs: cut(workload.jobs),
    trace: workload.trace === undefined ? undefined : cut(workload.trace),
  };
}

/** The size of the machine: what the user says, else what the source says. */
export function machineSize(workload: Workload, processors: number | undefined): number {
  const size = processors ?? workload.processors;
  if (size === undefined) {
    throw new InputError(
      `Cannot tell the size of the machine: "${workload.name}" names none, expected --procs with a number of processors`,
    );
  }
  return size;
}
