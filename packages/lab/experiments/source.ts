/** Opens a source of jobs, which one text names: a trace or a model. */
import { existsSync } from "node:fs";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { readTrace } from "../files/read-trace.ts";
import { generate, type ModelChoice, parseModel } from "./jobs.ts";

/**
 * Reads `downey:jobs=1000:load=0.7`; undefined if the text does not name a model, or names a file.
 * @throws InputError for an unknown parameter or a value out of range
 */
export function chooseModel(text: string): ModelChoice | undefined {
  return existsSync(text) ? undefined : parseModel(text);
}

/**
 * The jobs of a trace or a model.
 * @param text path of a trace, name of a trace in TUTTI_TRACES, `-`, or a model with its parameters
 * @param seed for models; traces ignore it
 * @param sizeFrom for traces: where the size of a job is, see `parseSizeFrom`
 * @throws InputError if the source cannot be read or used
 */
export async function openSource(text: string, seed: number, sizeFrom?: string): Promise<Workload> {
  const choice = chooseModel(text);
  return choice === undefined ? readTrace(text, sizeFrom) : generate(choice, seed);
}
