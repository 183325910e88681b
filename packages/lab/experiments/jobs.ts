/**
 * Prepares the jobs of a cell: names their source, and makes the cell's changes to them. No file is read
 * here.
 */
import { InputError, ModelError } from "@tutti/kernel/core/errors.ts";
import { forJobs } from "@tutti/kernel/core/interruptions.ts";
import type { JobColumns, ShapeColumns, TraceColumns, Workload } from "@tutti/kernel/core/jobs.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import type { ModelDefinition } from "@tutti/kernel/workload/models/model.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { scaleToLoad } from "@tutti/kernel/workload/scale.ts";
import { requireJobs } from "@tutti/kernel/workload/traces/swf-rules.ts";

/** Where jobs come from. The changes are made in the order of the members. */
export interface JobSource {
  /** A trace or a model, as on the command line. */
  readonly jobs: string;
  /** For models; traces do not use it. */
  readonly seed: number;
  /** For traces: where the size of a job is, if not where the format has it; see `parseSizeFrom`. */
  readonly sizeFrom?: string | undefined;
  /** Number of jobs taken from the start; undefined: all. */
  readonly limit?: number | undefined;
  /** Gaps between submits are scaled to this offered load. */
  readonly load?: number | undefined;
  /** Processors that the load refers to; undefined: those of the machine that the source names. */
  readonly loadOn?: number | undefined;
  /**
   * Sizes are rounded to the power of two nearest in ratio. All submits are stretched so that the work per
   * time stays the same.
   */
  readonly sizes?: "powers of two" | undefined;
  /** Submits are moved to the next whole second. */
  readonly submits?: "whole seconds" | undefined;
}

/** A model with its parameters filled in. */
export interface ModelChoice {
  readonly model: ModelDefinition;
  readonly parameters: ParameterValues;
}

/**
 * Reads `downey:jobs=1000:load=0.7`; undefined if the text does not name a model.
 * @throws InputError for an unknown parameter or a value out of range
 */
export function parseModel(text: string): ModelChoice | undefined {
  const [name, ...settings] = text.split(":");
  const model = MODELS.find((candidate) => candidate.name === name);
  if (model === undefined) return undefined;
  return { model, parameters: parseParameters(`model "${model.name}"`, model.parameters, settings) };
}

/** @throws ModelError if the parameters contradict each other */
export function generate({ model, parameters }: ModelChoice, seed: number): Workload {
  try {
    return model.generate(parameters, seed);
  } catch (error) {
    if (error instanceof InputError) throw new ModelError(error.message, { cause: error });
    throw error;
  }
}

/** The jobs of a model. @throws InputError if the text does not name a model */
export function generateJobs(text: string, seed: number): Workload {
  const choice = parseModel(text);
  if (choice !== undefined) return generate(choice, seed);
  throw new InputError(
    `Cannot find model "${text}": expected one of ${MODELS.map(({ name }) => name).join(", ")}`,
  );
}

/** Makes the changes. @throws InputError if no job remains */
export function applyJobChanges(
  opened: Workload,
  { limit, load, loadOn, sizes, submits }: JobSource,
): Workload {
  let workload = requireJobs(limit === undefined ? opened : firstJobs(opened, limit));
  if (load !== undefined) workload = scaleToLoad(workload, load, machineSize(workload, loadOn));
  if (sizes !== undefined) workload = withPowersOfTwo(workload);
  if (submits === undefined) return workload;
  return { ...workload, jobs: { ...workload.jobs, submitS: workload.jobs.submitS.map(Math.ceil) } };
}

/** The first jobs in submit order. */
function firstJobs(workload: Workload, count: number): Workload {
  if (count >= workload.count) return workload;
  const { jobs, trace, shape, demand, notes, interruptions } = workload;
  const cut = <Columns extends JobColumns | TraceColumns | ShapeColumns>(columns: Columns): Columns =>
    Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, column.slice(0, count)]),
    ) as unknown as Columns;
  return {
    ...workload,
    name: `${workload.name} (first ${count} jobs)`,
    count,
    jobs: cut(jobs),
    trace: trace && cut(trace),
    shape: shape && cut(shape),
    demand: demand?.map(({ kind, amount }) => ({ kind, amount: amount.slice(0, count) })),
    notes: notes?.slice(0, count),
    interruptions: interruptions && forJobs(interruptions, (row) => (row < count ? row : undefined)),
  };
}

function withPowersOfTwo(workload: Workload): Workload {
  const { runS, size: drawn, submitS } = workload.jobs;
  const size = drawn.map(powerOfTwo);
  const scale = work(size, runS) / work(drawn, runS);
  return { ...workload, jobs: { ...workload.jobs, size, submitS: submitS.map((timeS) => timeS * scale) } };
}

function powerOfTwo(size: number): number {
  const low = 1 << (31 - Math.clz32(size));
  return size >= low * Math.SQRT2 ? 2 * low : low;
}

function work(size: Int32Array, runS: Float64Array): number {
  return size.reduce((sum, processors, job) => sum + processors * runS[job], 0);
}

/** The size of the machine: the user's, or else that of the source. */
export function machineSize(workload: Workload, processors: number | undefined): number {
  const size = processors ?? workload.processors;
  if (size === undefined) {
    throw new InputError(
      `Cannot determine the size of the machine: "${workload.name}" does not name it, expected --processors with a number of processors; its largest job has ${workload.jobs.size.reduce((most, size) => Math.max(most, size), 0)}`,
    );
  }
  return size;
}
